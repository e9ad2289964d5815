#include "reports/step_difference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace orrery {
namespace {

Int128& exposed(Report& report, Dimension dimension) {
  return report.breakdown.exposed_ps[static_cast<std::size_t>(dimension)];
}

/// A step of 10 ps on 3 GPUs: 30 ps in all, of which a third computes, waits for tensor groups and for
/// nothing.
Report thirds() {
  Report report;
  report.gpus = 3;
  report.makespan_ps = 10;
  report.breakdown.compute_ps = 10;
  exposed(report, Dimension::tensor) = 10;
  report.breakdown.bubble_ps = 10;
  report.critical_path.compute_ps = 6;
  report.critical_path.wait_ps = 4;
  StageMemory small;
  small.parameters = 5;
  StageMemory large;
  large.parameters = 4;
  large.workspace.loss = 3;
  report.stage_memory = {small, large};
  return report;
}

/// Two steps of 7.5 ps on 2 GPUs: 30 ps in all.
Report halves() {
  Report report;
  report.gpus = 2;
  report.steps = 2;
  report.makespan_ps = 15;
  report.breakdown.compute_ps = 29;
  report.breakdown.host_ps = 1;
  report.critical_path.compute_ps = 15;
  StageMemory stage;
  stage.gradients = 2;
  report.stage_memory = {stage};
  return report;
}

std::int64_t sum_of(const DifferenceTerms& terms, std::int64_t DifferenceTerm::*side) {
  return std::accumulate(terms.begin(), terms.end(), std::int64_t{0},
                         [side](std::int64_t sum, const DifferenceTerm& term) { return sum + term.*side; });
}

std::optional<DifferenceTerm> term_of(const DifferenceTerms& terms, std::string_view name) {
  const auto found = std::ranges::find(terms, name, &DifferenceTerm::name);
  return found == terms.end() ? std::nullopt : std::optional(*found);
}

TEST_CASE("terms of a difference add up to it, however means are rounded") {
  const StepDifference why = step_difference(thirds(), halves());
  CHECK(why.first_ps == 10);
  CHECK(why.second_ps == 8);  // 15 / 2, half up
  // First: 10/3 each, 3 + 3 + 3 and the one that is left to the first of equal remainders. Second: 29/4
  // = 7.25 and 1/4, together 8: the one that is left goes to the first again.
  CHECK(term_of(why.breakdown, "compute")->first == 4);
  CHECK(term_of(why.breakdown, "exposed_tensor")->first == 3);
  CHECK(term_of(why.breakdown, "bubble")->first == 3);
  CHECK(term_of(why.breakdown, "compute")->second == 8);
  CHECK(term_of(why.breakdown, "host") == std::nullopt);  // 0 in both, rounded
  CHECK(sum_of(why.breakdown, &DifferenceTerm::first) == 10);
  CHECK(sum_of(why.breakdown, &DifferenceTerm::second) == 8);
  CHECK(sum_of(why.critical_path, &DifferenceTerm::first) == 10);
  CHECK(sum_of(why.critical_path, &DifferenceTerm::second) == 8);  // 7.5, half up
  CHECK(why.breakdown.front().name == "compute");                  // +4, the largest
}

TEST_CASE("memory is compared at the stage that holds most") {
  const StepDifference why = step_difference(thirds(), halves());
  CHECK(why.first_peak == 7);
  CHECK(why.second_peak == 2);
  CHECK(term_of(why.memory, "parameters")->difference() == -4);
  CHECK(term_of(why.memory, "gradients")->difference() == 2);
  CHECK(term_of(why.memory, "loss")->difference() == -3);
  CHECK(why.memory.size() == 3);
}

TEST_CASE("a run without a step in common has no critical path to compare") {
  Report asynchronous = halves();
  asynchronous.asynchrony.emplace();
  CHECK(step_difference(thirds(), asynchronous).critical_path.empty());
  CHECK_FALSE(step_difference(thirds(), asynchronous).breakdown.empty());
  Report untimed = halves();
  untimed.makespan_ps = 0;
  CHECK(step_difference(thirds(), untimed).breakdown.empty());
}

TEST_CASE("printed terms add up to the printed difference") {
  // 0.4 + 0.4 + 0.4 units are 1.2: 1 in all, which the first term has.
  const DifferenceTerms terms{{"a", 0, 4}, {"b", 0, 4}, {"c", 0, 4}};
  const DifferenceTerms tenths = in_units(terms, 10);
  CHECK(tenths[0].second == 1);
  CHECK(tenths[1].second == 0);
  CHECK(tenths[2].second == 0);
  CHECK(difference_in_units(terms, 10) == 1);
  const std::string table = difference_table({{"compute", 0, 2'500'000}, {"bubble", 900'000, 0}},
                                             kThousandthOfMillisecond, {"term", "first", "this", "more"});
  CHECK(table ==
        "  term     first   this    more\n"
        "  compute  0.000  0.003  +0.003\n"
        "  bubble   0.001  0.000  -0.001\n");
  CHECK(difference_table({{"a", 1, 2}}, kThousandthOfMillisecond, {"", "", "", ""}).empty());
}

}  // namespace
}  // namespace orrery
