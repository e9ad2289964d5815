// Lists the keys of weeks of training, a row each.
#include <cmath>

#include "reports/result/result_key.hpp"

namespace orrery {

namespace {

using Weeks = LongRunFigures;

/// A figure of a run that ends; null of one that never does.
template <auto figure>
ResultJson of_weeks(const Report& report) {
  if (!report.long_run) return absent();
  const double value = (*report.long_run).*figure;
  return report.long_run->ends && std::isfinite(value) ? ResultJson(value) : ResultJson();
}

/// Returns null also where 0 stands for unknown.
template <auto figure>
ResultJson known_of_weeks(const Report& report) {
  return report.long_run && (*report.long_run).*figure == 0 ? ResultJson() : of_weeks<figure>(report);
}

constexpr ResultKey::Needs kWeeks = ResultKey::Needs::long_run;

const ResultKey kLongRunKeys[] = {
    {"run.ends", [](const Report& r) { return r.long_run ? ResultJson(r.long_run->ends) : absent(); },
     kWeeks},
    {"run.goodput", of_weeks<&Weeks::goodput>, kWeeks},
    {"run.effective_training_time_ratio", of_weeks<&Weeks::effective_training_time_ratio>, kWeeks},
    {"run.days", of_weeks<&Weeks::days>, kWeeks},
    {"run.days_p10", of_weeks<&Weeks::days_p10>, kWeeks},
    {"run.days_p50", of_weeks<&Weeks::days_p50>, kWeeks},
    {"run.days_p90", of_weeks<&Weeks::days_p90>, kWeeks},
    {"run.interruptions", of_weeks<&Weeks::interruptions>, kWeeks},
    {"run.mfu", of_weeks<&Weeks::mfu>, kWeeks},
    {"run.cost_usd", known_of_weeks<&Weeks::cost_usd>, kWeeks},
    {"run.energy_kwh", known_of_weeks<&Weeks::energy_kwh>, kWeeks},
    {"run.checkpoint_interval_steps",
     [](const Report& r) {
       return r.long_run ? ResultJson(r.long_run->checkpoint_interval_steps) : absent();
     },
     kWeeks},
    {"run.checkpoint_interval_s",
     [](const Report& r) { return r.long_run ? ResultJson(r.long_run->checkpoint_interval_s) : absent(); },
     kWeeks},
};

}  // namespace

std::span<const ResultKey> long_run_keys() { return kLongRunKeys; }

}  // namespace orrery
