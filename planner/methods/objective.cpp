#include "planner/methods/objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "config/schema/wording.hpp"
#include "orrery/error.hpp"
#include "reports/result_key.hpp"

namespace orrery {
namespace {

/// Figures of a step that depend on how long it takes, and else on nothing that a run finds out.
struct TimedKey {
  std::string_view key;
  bool grows = false;  ///< with the time
};
constexpr std::array<TimedKey, 10> kTimed{{{"step_time_s", true},
                                           {"training_days", true},
                                           {"energy_kwh", true},
                                           {"cost_usd", true},
                                           {"samples_per_s", false},
                                           {"tokens_per_s", false},
                                           {"model_tflops_per_gpu", false},
                                           {"hardware_tflops_per_gpu", false},
                                           {"mfu", false},
                                           {"hfu", false}}};

constexpr std::array<std::string_view, 3> kOtherGoods{"utilization.gpu_mean", "utilization.gpu_min",
                                                      "memory.usable_gb"};

[[noreturn]] void refuse_objective(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", "--objective: " + message}});
}

bool is_figure(const ResultSelection& selection) {
  if (selection.keys().size() != 1 || selection.keys().front()->is_list) return false;
  const ResultJson value = selection.keys().front()->value(Report{});
  return value.is_number() || value.is_null() || value.is_discarded();
}

}  // namespace

bool more_is_better(std::string_view key) {
  const auto timed = std::ranges::find(kTimed, key, &TimedKey::key);
  return timed != kTimed.end() ? !timed->grows : std::ranges::find(kOtherGoods, key) != kOtherGoods.end();
}

Objective::Objective(std::string_view text) {
  const bool turned = text.starts_with("min:") || text.starts_with("max:");
  key_ = text.substr(turned ? 4 : 0);
  most_ = turned ? text.starts_with("max:") : more_is_better(key_);
  const std::vector<std::string_view> known = ResultSelection::names();
  if (std::ranges::find(known, key_) == known.end())
    refuse_objective(fmt::format("found {}, allowed a number of the result, such as step_time_s or mfu{}",
                                 quote(key_), hint(key_, known)));
  selection_ = ResultSelection(std::vector<std::string>{key_});
  if (!is_figure(selection_))
    refuse_objective(fmt::format(
        "found {}, which is no number of the result, allowed such as step_time_s or mfu", quote(key_)));
  const auto timed = std::ranges::find(kTimed, key_, &TimedKey::key);
  follows_time_ = timed != kTimed.end() && timed->grows != most_;
}

std::optional<double> Objective::value(const Report& report) const {
  const std::vector<ResultFigure> figures = result_figures(report, selection_);
  return figures.empty() ? std::nullopt : figures.front().value;
}

double Objective::cost(const Report& report) const {
  const std::optional<double> found = value(report);
  if (!found) return std::numeric_limits<double>::infinity();
  return most_ ? -*found : *found;
}

}  // namespace orrery
