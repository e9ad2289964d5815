#include "reports/difference_causes.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace orrery {
namespace {

/// One GPU: `compute` of products, 10 of permutation, `host` of host.
Report step(Int128 products, Int128 permutation, Int128 host) {
  Report report;
  report.gpus = 1;
  report.breakdown.compute_ps = products + permutation;
  report.breakdown.host_ps = host;
  report.kernels_ps.emplace();
  (*report.kernels_ps)[static_cast<std::size_t>(KernelClass::dense_products)] = products;
  (*report.kernels_ps)[static_cast<std::size_t>(KernelClass::permutation)] = permutation;
  report.makespan_ps = static_cast<Picoseconds>(products + permutation + host);
  return report;
}

TEST_CASE("the largest cause comes first, and shares add up") {
  // 100 + 10 + 10 = 120 against 98 + 40 + 22 = 160: +30 of +40 in permutation, +12 in host, -2 in products.
  Report slow = step(98, 40, 22);
  slow.software.row_slice_issue_us = 1;
  const StepDifference difference = step_difference(step(100, 10, 10), slow);
  const std::vector<Cause> causes = causes_of(difference);
  REQUIRE(causes.size() == 3);
  CHECK(causes[0].name == "unfused permutation");
  CHECK(causes[0].more_ps == 30);
  CHECK(causes[2].more_ps == -2);
  CHECK(
      cause_sentence(difference) ==
      "75 % of the difference in unfused permutation, 30 % in host issue, slices of unfused permutation with "
      "it, -5 % in dense products");
}

TEST_CASE("a faster run has its causes in the direction of its gain") {
  // 120 against 96: -20 in products, -4 in host.
  const StepDifference difference = step_difference(step(100, 10, 10), step(80, 10, 6));
  CHECK(cause_sentence(difference) == "83 % of the difference in dense products, 17 % in host issue");
  CHECK(cause_sentence(step_difference(step(1, 1, 1), step(1, 1, 1))) == "");
}

TEST_CASE("rounded kernels still add up to compute, and all to the step") {
  // Three GPUs share 10 + 10 + 11 = 31: 10.33 a GPU; 3.33, 3.33 and 3.67 are 3, 3 and 4.
  Report first = step(10, 10, 11);
  first.gpus = 3;
  first.makespan_ps = 10;
  const StepParts parts = step_parts(first);
  CHECK(parts.breakdown.front().value == 6);
  std::int64_t kernels = 0;
  for (const StepTerm& term : parts.kernels) kernels += term.value;
  CHECK(kernels == 6);
  std::int64_t all = 0;
  for (const StepTerm& term : parts.breakdown) all += term.value;
  CHECK(all == 10);
}

}  // namespace
}  // namespace orrery
