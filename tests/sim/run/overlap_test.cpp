// Checks where communication is hidden behind compute, and how the result reports it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "orrery/simulate.hpp"
#include "orrery/write.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

std::string overlapped(const std::string& cluster, int tensor, const std::string& plan = "") {
  return fmt::format(
      R"({{"model": {{"kind": "transformer", "layers": 4, "hidden": 4096, "heads": 32, "vocab": 32000,
      "seq_length": 2048}}, "cluster": {}, "plan": {{"tensor_parallel": {}, "sequence_parallel": true{}}}}})",
      cluster, tensor, plan);
}

const char* const kPcie =
    R"({"gpu": "l4", "gpus_per_node": 8, "node": {"kind": "pcie", "link_gb_per_s": 16}})";

bool says(const Report& report, const std::string& words) {
  return std::ranges::any_of(report.assumptions, [&](const std::string& sentence) {
    return sentence.find(words) != std::string::npos;
  });
}

nlohmann::json plan_of(const Report& report) {
  std::string text;
  write_json(report, ResultSelection(), 2, [&](std::string_view part) { text += part; });
  return nlohmann::json::parse(text)["plan"];
}

std::string summary_of(const Report& report) {
  std::string text;
  write_summary(report, {false, 160}, [&](std::string_view part) { text += part; });
  return text;
}

}  // namespace

TEST_CASE("products hide tensor traffic where NVLinks join the ranks of a group, and nowhere else") {
  const auto chunks = [](const std::string& cluster, int tensor, const std::string& plan = "") {
    return read(overlapped(cluster, tensor, plan)).plan.overlap_tensor_chunks;
  };
  CHECK(chunks(R"("dgx-h100")", 8));
  CHECK(chunks(R"({"base": "dgx-h100", "nodes": 2})", 8));
  CHECK_FALSE(chunks(R"({"base": "dgx-h100", "nodes": 2})", 16));
  CHECK(chunks(R"({"base": "gb200-nvl72", "nodes": 4})", 16));  // four trays of one domain
  CHECK_FALSE(chunks(kPcie, 8));
  CHECK_FALSE(chunks(R"("mi300x")", 8));
  CHECK_FALSE(chunks(R"("dgx-h100")", 8, R"(, "overlap_tensor_parallel": false)"));
  CHECK_FALSE(chunks(R"("dgx-h100")", 1));
  // Ranks of a tensor group lie on different nodes.
  CHECK_FALSE(chunks(R"({"base": "dgx-h100", "nodes": 2})", 2, R"(, "rank_order": "dp-tp-cp-ep-pp")"));
  // Users who measured the overlap elsewhere set the key.
  CHECK(chunks(kPcie, 8, R"(, "overlap_tensor_chunks": true)"));
  CHECK_THROWS_WITH_AS(
      (void)read(overlapped(R"("dgx-h100")", 8,
                            R"(, "overlap_tensor_parallel": false, "overlap_tensor_chunks": true)")),
      doctest::Contains("does nothing without overlap_tensor_parallel"), InputError);
}

TEST_CASE("traffic that is not hidden takes its time, and the result says so") {
  const Report near = simulate(read(overlapped(R"("dgx-h100")", 8)));
  CHECK(near.tensor_overlap > 0.5);
  CHECK(says(near, "are hidden behind products (software.tensor_overlap)"));
  const Report pcie = simulate(read(overlapped(kPcie, 8)));
  CHECK(pcie.tensor_overlap == 0);
  CHECK(says(pcie, "are not hidden behind products"));
  const Report claimed = simulate(read(overlapped(kPcie, 8, R"(, "overlap_tensor_chunks": true)")));
  CHECK(claimed.makespan_ps < pcie.makespan_ps);
}

TEST_CASE("the plan of a result has every overlap and default in force") {
  const Experiment e =
      read(overlapped(R"({"base": "dgx-h100", "nodes": 2})", 4,
                      R"(, "pipeline_parallel": 2, "zero_stage": 1, "global_batch_size": 8)"));
  const Report report = simulate(e);
  const nlohmann::json plan = plan_of(report);
  CHECK(plan["overlap_tensor_parallel"] == true);
  CHECK(plan["overlap_tensor_chunks"] == true);
  CHECK(plan["tensor_overlap"] == e.software.tensor_overlap);
  CHECK(plan["overlap_gradient_reduce"] == false);
  CHECK(plan["overlap_parameter_gather"] == true);
  CHECK(plan["overlap_pipeline_parallel"] == true);
  CHECK(plan["communication_interference"] == e.cluster.gpu.communication_interference);
  CHECK(plan["scatter_gather"] == true);
  CHECK(plan["bucket_mb"] == 80);
  CHECK(plan["zero_group_size"] == 2);
  CHECK(plan["gradient_bytes"] == e.software.gradient_bytes);
  CHECK(plan["collectives"]["all-gather"] == "auto");
  CHECK_FALSE(plan.contains("overlap_context_parallel"));
  CHECK_FALSE(plan.contains("dispatcher"));
  const std::string text = summary_of(report);
  CHECK(
      text.find(fmt::format("beside compute: tensor traffic of input gradients, {:.3g} % of the gathers and "
                            "scatters of tensor ranks, parameter gathers, messages between stages",
                            100 * report.tensor_overlap)) != std::string::npos);
  CHECK(text.find("stack nemo-2024: gradients of 2 bytes, buckets of 80 MB") != std::string::npos);
}

TEST_CASE("a stack's own interference replaces the GPU's") {
  const Experiment own = read(overlapped(R"("dgx-h100")", 8));
  CHECK(own.software.communication_interference == -1);
  const Report slowed = simulate(own);
  CHECK(slowed.communication_interference == own.cluster.gpu.communication_interference);
  const Report free =
      simulate(read(overlapped(R"("dgx-h100")", 8), {"software.communication_interference=0"}));
  CHECK(free.communication_interference == 0);
  CHECK(free.makespan_ps < slowed.makespan_ps);
}
