// Comparisons of experiments that serve requests.
#include <doctest/doctest.h>

#include <numeric>
#include <string>

#include "orrery/error.hpp"
#include "studies/compare/compare.hpp"
#include "studies/compare/writers.hpp"
#include "tests/studies/compare/small_comparisons.hpp"

namespace orrery {
namespace {

constexpr const char* kServing = R"({"name": "served", "model": "llama3.1-8b", "cluster": "dgx-h100",
  "inference": {"prompt_tokens": 500, "output_tokens": 20, "batch_size": 4, "max_model_len": 1024}})";

ComparisonRequest serving_request(const std::vector<std::string>& variations) {
  ComparisonRequest wanted = comparison_test::request(variations);
  wanted.experiments = {{"served.json", kServing}};
  return wanted;
}

TEST_CASE("rows that serve are told by latencies and rates, and why they differ by GPU time per token") {
  ComparisonRequest wanted = serving_request({"plan.tensor_parallel=1,2,8"});
  wanted.why = true;
  const Comparison comparison = compare(wanted, 1);
  REQUIRE(comparison.serves());
  REQUIRE(comparison.rows.size() == 3);
  const auto& first = *comparison.rows[0].report;
  const auto& last = *comparison.rows[2].report;
  const double ratio = last.serving->tokens_per_s() / first.serving->tokens_per_s();
  CHECK(comparison.rows[2].ratios->speed_up.value() == doctest::Approx(ratio));
  CHECK_FALSE(comparison.rows[2].ratios->step_time);
  const std::string text = comparison_test::text_of(comparison);
  for (const char* word : {"TTFT p99", "TPOT", "tokens/GPU", "Why the GPU time per output token of"})
    CHECK(text.find(word) != std::string::npos);
  CHECK(text.find("nan") == std::string::npos);
}

TEST_CASE("terms of GPU time per output token add up to the inverse of the throughput") {
  const Comparison comparison = compare(serving_request({"plan.tensor_parallel=1,4"}), 1);
  const StepDifference difference = comparison.difference(1).value();
  const Report& report = *comparison.rows[1].report;
  const double per_token = static_cast<double>(report.gpus) / report.serving->output_tokens_per_s();
  CHECK(to_seconds(difference.second_ps) == doctest::Approx(per_token));
  std::int64_t sum = 0;
  for (const DifferenceTerm& term : difference.breakdown) sum += term.difference();
  CHECK(sum == difference.step_time_ps());
}

TEST_CASE("what does not fit has no times beside rows that do") {
  const Comparison comparison =
      compare(serving_request({"cluster.gpu.memory_gb=8,80", "plan.tensor_parallel=1"}), 1);
  CHECK_FALSE(comparison.rows[0].feasible());
  CHECK_FALSE(comparison.rows[0].ratios);
  CHECK(comparison.reference() == 1);
}

TEST_CASE("requests beside steps are refused by name") {
  ComparisonRequest wanted = serving_request({});
  wanted.experiments.push_back({"trained.json", R"({"model": "llama3.1-8b", "cluster": "dgx-h100"})"});
  try {
    static_cast<void>(compare(wanted, 1));
    FAIL("not refused");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().text() ==
          "served.json: /inference: found requests to serve beside steps of training, allowed one of them in "
          "all rows");
  }
}

}  // namespace
}  // namespace orrery
