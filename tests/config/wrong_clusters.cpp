// Checks the values that cluster.regions and cluster.groups refuse.
#include <doctest/doctest.h>

#include <string>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::diagnostics;

TEST_CASE("regions are checked") {
  const auto with = [](const std::string& regions, const std::string& more = "") {
    return diagnostics(R"({"model": "tiny", "cluster": {"base": "box", "regions": )" + regions + more + "}}");
  };
  const std::string sites = R"({"sites": [{"name": "east", "nodes": 2}, {"name": "west"}], )";
  CHECK(
      with(sites + R"("links": [{"from": "east", "to": "wets", "up_gbps": 1}]})")
          .ends_with("/cluster/regions/links/0/to: found \"wets\", allowed the name of a site; did you mean "
                     "\"west\"?"));
  CHECK(with(sites + R"("links": [{"from": "east", "to": "east", "up_gbps": 1}]})")
            .ends_with("/cluster/regions/links/0/to: found \"east\", allowed another site than from"));
  CHECK(with(sites + R"("links": [{"from": "east", "to": "west"}]})")
            .find("/cluster/regions/links/0/up_gbps: missing; a link between sites needs it") !=
        std::string::npos);
  CHECK(with(sites + R"("links": [{"from": "east", "to": "west", "up_gbps": 1, "loss": 0.6}]})")
            .ends_with("/cluster/regions/links/0/loss: found 0.6, allowed a number from 0 to 0.5"));
  CHECK(with(sites + R"("links": []})", R"(, "nodes": 4)")
            .ends_with("/cluster/regions/sites: found 3 nodes at all sites, allowed nodes 4"));
  CHECK(with(R"({"sites": [{"name": "east"}, {"name": "east"}]})")
            .ends_with("/cluster/regions/sites/1/name: found site \"east\" twice"));
  CHECK(with(R"({"sites": []})").ends_with("/cluster/regions/sites: found [], allowed at least one site"));
  CHECK(with(R"({"links": []})").ends_with("/cluster/regions/sites: missing; regions need it"));
}

TEST_CASE("groups of a mixed cluster are checked") {
  const auto with = [](const std::string& cluster) {
    return diagnostics(R"({"model": "tiny", "cluster": )" + cluster + "}");
  };
  CHECK(
      with(R"({"base": "box", "groups": []})") ==
      "e.json:1:56: /cluster/groups: found [], allowed a list of objects with nodes and gpu: nodes in order "
      "whose GPUs differ");
  CHECK(
      with(R"({"base": "box", "groups": [{"nodes": 1, "gpu": "fasd"}]})")
          .ends_with("/cluster/groups/0/gpu: found \"fasd\", allowed an object or a catalog gpu (fast, old, "
                     "tuned, untuned); did you mean \"fast\"?"));
  CHECK(with(R"({"base": "box", "groups": [{"gpu": "fast"}]})")
            .find("/cluster/groups/0/nodes: missing; a group needs it") != std::string::npos);
  CHECK(with(R"({"base": "box", "nodes": 3, "groups": [{"nodes": 1}, {"nodes": 1, "gpu": "old"}]})")
            .ends_with("/cluster/groups: found 2 nodes in all groups, allowed nodes 3"));
  CHECK(with(R"({"base": "box", "groups": [{"nodes": 1, "gpus": "old"}]})")
            .ends_with("/cluster/groups/0/gpus: found unknown key \"gpus\", allowed nodes, gpu; did you mean "
                       "\"gpu\"?"));
  // bf16 is the default where all have it: the old GPU has not.
  CHECK(
      diagnostics(
          R"({"model": "tiny", "cluster": {"base": "box", "groups": [{"nodes": 1}, {"nodes": 1, "gpu": "old"}]},
                     "plan": {"precision": "bf16"}})")
          .ends_with("/plan/precision: found \"bf16\", allowed fp32, fp16: the precisions for which every "
                     "gpu of the "
                     "cluster has a peak"));
}
