#include "planner/methods/objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "reports/result/result_key.hpp"

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

constexpr std::array<std::string_view, 15> kOtherGoods{"utilization.gpu_mean",
                                                       "utilization.gpu_min",
                                                       "memory.usable_gb",
                                                       "requests_per_s",
                                                       "output_tokens_per_s",
                                                       "output_tokens_per_s_per_gpu",
                                                       "tokens_per_s_per_gpu",
                                                       "goodput_requests_per_s",
                                                       "serving.good_requests",
                                                       "max_requests_per_s",
                                                       "max_requests_per_s_per_gpu",
                                                       "max_requests_per_usd",
                                                       "run.goodput",
                                                       "run.mfu",
                                                       "run.effective_training_time_ratio"};

[[noreturn]] void refuse_figure(std::string_view option, const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", fmt::format("{}: {}", option, message)}});
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

Objective::Objective(std::string_view text, std::string_view option) {
  const bool turned = text.starts_with("min:") || text.starts_with("max:");
  key_ = ResultSelection::key_of(text.substr(turned ? 4 : 0));
  most_ = turned ? text.starts_with("max:") : more_is_better(key_);
  const std::vector<std::string_view> known = ResultSelection::names();
  if (std::ranges::find(known, key_) == known.end())
    refuse_figure(option,
                  fmt::format("found {}, allowed a number of the result, such as step_time_s or mfu{}",
                              quote(key_), hint(key_, known)));
  selection_ = ResultSelection(std::vector<std::string>{key_});
  if (!is_figure(selection_))
    refuse_figure(
        option, fmt::format("found {}, which is no number of the result, allowed such as step_time_s or mfu",
                            quote(key_)));
  const auto timed = std::ranges::find(kTimed, key_, &TimedKey::key);
  follows_time_ = timed != kTimed.end() && timed->grows != most_;
}

std::optional<double> Objective::value(const Report& report) const {
  const ResultJson found = selection_.keys().front()->value(report);
  if (found.is_boolean()) return found.get<bool>() ? 1 : 0;
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

double Objective::cost(const Report& report) const {
  const std::optional<double> found = value(report);
  if (!found) return std::numeric_limits<double>::infinity();
  return most_ ? -*found : *found;
}

namespace {

/// The two sides of KEY=VALUE.
std::pair<std::string_view, double> sides_of(std::string_view text) {
  const std::size_t sign = text.find('=');
  double value = 0;
  if (sign != std::string_view::npos) {
    const std::string_view digits = text.substr(sign + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && end == digits.data() + digits.size() && std::isfinite(value))
      return {text.substr(0, sign), value};
  }
  refuse_figure("--limit", fmt::format("found {}, allowed KEY=VALUE, such as ttft_s_p99=0.5", quote(text)));
}

}  // namespace

Limit::Limit(std::string_view text)
    : figure_(sides_of(text).first, "--limit"), value_(sides_of(text).second) {}

bool Limit::kept_by(const Report& report) const {
  const std::optional<double> found = figure_.value(report);
  return found && (figure_.most() ? *found >= value_ : *found <= value_);
}

std::string Limit::text() const {
  return fmt::format("{} {} {:.6g}", figure_.key(), figure_.most() ? ">=" : "<=", value_);
}

}  // namespace orrery
