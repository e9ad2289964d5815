#include <doctest/doctest.h>

#include "tests/config/support.hpp"

using namespace orrery;
using io_test::diagnostics;
using io_test::plan_problems;

namespace {

constexpr const char* kTiny = R"({"model": "tiny", "cluster": "box"})";

std::string checked(const std::vector<std::string>& overrides) {
  try {
    check_overrides(overrides, io_test::catalog(), io_test::menus());
    return "";
  } catch (const InputError& error) {
    std::string out;
    for (const Diagnostic& diagnostic : error.diagnostics())
      out += (out.empty() ? "" : "\n") + diagnostic.text();
    return out;
  }
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("null takes a key out of the document, and only a key there can be") {
  const std::string text =
      R"({"model": "tiny", "cluster": "box", "plan": {"tensor_parallel": 2, "data_parallel": 4}})";
  CHECK(has(diagnostics(text, {"plan.tensor_parallel=4"}), "/plan/data_parallel: found tensor_parallel 4"));
  const Experiment e = io_test::read(text, {"plan.data_parallel=null", "plan.tensor_parallel=4"});
  CHECK(e.plan.data_parallel == 2);
  CHECK(io_test::read(kTiny, {"plan.data_parallel=null"}).plan.data_parallel == 8);
  CHECK(io_test::read(kTiny, {"plan.zero_stage=1", "plan=~"}).plan.zero_stage == 0);
  CHECK(diagnostics(kTiny, {"plan.data_paralel=null"}) ==
        "command line: found \"plan.data_paralel\", which null cannot unset: allowed a key of an experiment; "
        "did you mean \"plan.data_parallel\"?");
  CHECK(has(diagnostics(kTiny, {"model=null"}), "command line: /model: missing"));
}

TEST_CASE("values of overrides that cannot be read say which bracket is open") {
  CHECK(diagnostics(kTiny, {"plan=["}) == "command line: the value \"[\" cannot be read: a '[' is left open");
  CHECK(diagnostics(kTiny, {"plan={a: [1}"}) ==
        "command line: the value \"{a: [1}\" cannot be read: a '}' closes nothing");
  CHECK(diagnostics(kTiny, {"plan={a: \"b}"}) ==
        "command line: the value \"{a: \"b}\" cannot be read: a quote is left open");
  CHECK(diagnostics(kTiny, {"plan={name: ']'}"}).find("cannot be read") == std::string::npos);
}

TEST_CASE("an entry of a list that is not there is a mistake of the command line") {
  CHECK(diagnostics(kTiny, {"plan.stage_layers.5=1"}) ==
        "command line: /plan/stage_layers: found index \"5\" of a list that the experiment does not give, "
        "allowed the whole list, such as [1, 2]");
  CHECK(diagnostics(R"({"model": "tiny", "cluster": "box", "plan": {"stage_layers": [8]}})",
                    {"plan.stage_layers.5=1"}) ==
        "command line: /plan/stage_layers: found index \"5\", allowed 0 to 0");
  // A value belongs to the command line, too, if setting a part of it created it.
  CHECK(has(diagnostics(kTiny, {"simulation.steps.first=1"}),
            "command line: /simulation/steps: found an object"));
}

TEST_CASE("a key without its path is told where it belongs") {
  CHECK(has(diagnostics(kTiny, {"tensor_parallel=4"}), "did you mean \"plan.tensor_parallel\"?"));
  CHECK(
      has(plan_problems(R"({"layers": 4})"), "did you mean \"model.layers\" or \"plan.recompute.layers\"?"));
  CHECK(has(plan_problems(R"({"nic_gbps": 4})"), "did you mean \"cluster.fabric.nic_gbps\"?"));
}

TEST_CASE("counts are read as people write them") {
  const auto tokens = [](const std::string& value) {
    return io_test::read(kTiny, {"training.tokens=" + value}).training.tokens;
  };
  CHECK(tokens("15T") == 15'000'000'000'000);
  CHECK(tokens("300B") == 300'000'000'000);
  CHECK(tokens("4M") == 4'000'000);
  CHECK(tokens("1.1k") == 1100);
  CHECK(tokens("2K") == 2000);
  CHECK(io_test::read(R"({"model": "tiny", "cluster": "box", "training": {"tokens": "15T"}})")
            .training.tokens == 15'000'000'000'000);
  for (const char* wrong : {"15t", "T", "-4M", "1.23456k", "4MM", "1e3M", "infM", "4 M", "10000T", "0.0001k"})
    CHECK(has(diagnostics(kTiny, {std::string("training.tokens=") + wrong}), "/training/tokens: found \""));
  CHECK(has(diagnostics(kTiny, {"plan.bucket_mb=4k"}),
            "/plan/bucket_mb: found \"4k\""));  // a quantity with a unit
}

TEST_CASE("what is wrong with overrides whatever they override is known beforehand") {
  CHECK(checked({"plan.micro_batch=1"}) ==
        diagnostics(R"({"model": "tiny", "cluster": "box"})", {"plan.micro_batch=1"}));
  CHECK(has(checked({"plan.tensor_parallel=0"}), "command line: /plan/tensor_parallel: found 0"));
  CHECK(has(checked({"model=tinny"}), "command line: /model: found \"tinny\""));
  CHECK(has(checked({"model.base=tinny"}), "did you mean \"tiny\"?"));
  CHECK(has(checked({"cluster.gpu.memory=8"}), "command line: /cluster/gpu/memory"));
  CHECK(has(checked({"cluster.node=rign"}), "did you mean \"ring\"?"));
  CHECK(has(checked({"cluster.fabric.kind=swich"}), "did you mean \"switch\"?"));
  CHECK(has(checked({"stack=nemo"}), "command line: /stack"));
  CHECK(has(checked({"plan"}), "allowed KEY=VALUE"));
  CHECK(has(checked({"plan.collectives.all-reduce=nvls"}), "does not model yet"));
  // These depend on the line.
  CHECK(checked({"model.layers=7", "cluster.nodes=3", "plan.data_parallel=5", "model.widths=[8,8]",
                 "cluster.node.link_gb_per_s=5", "cluster.gpu.base=fast", "plan.stage_layers=null",
                 "data_parallel_sync.servers=7", "software.step_overhead_ms=1", "name=x", "id=4"}) == "");
}
