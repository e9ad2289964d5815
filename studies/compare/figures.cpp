#include "studies/compare/figures.hpp"

#include <algorithm>

#include "reports/writers.hpp"

namespace orrery {
namespace {

template <class T, class Get>
std::optional<double> get(const T* from, Get figure) {
  return from != nullptr ? std::optional<double>(figure(*from)) : std::nullopt;
}

template <class T>
const T* pointer(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

}  // namespace

std::vector<NamedFigure> own_figures(const ComparedRow& row) {
  const auto of_report = [&row](double (ComparedRow::*figure)() const) {
    return row.report && !row.serves() ? std::optional((row.*figure)()) : std::nullopt;
  };
  using Steps = TargetSummary::Steps;
  const Steps* steps = row.target ? pointer(row.target->steps) : nullptr;
  const PracticeTime* practice = row.target ? pointer(row.target->practice) : nullptr;
  const auto workers = static_cast<double>(row.sync.workers);
  return {{"workers", workers > 0 ? std::optional(workers) : std::nullopt},
          {"communication_s", of_report(&ComparedRow::communication_s)},
          {"data_bytes_per_gpu", of_report(&ComparedRow::data_bytes)},
          {"step_time_ratio", row.ratios ? row.ratios->step_time : std::nullopt},
          {"speed_up", row.ratios ? row.ratios->speed_up : std::nullopt},
          {"scaling_efficiency", row.ratios ? row.ratios->scaling_efficiency : std::nullopt},
          {"spectral_gap", row.target ? row.target->gap : std::nullopt},
          {"iterations", get(steps, [](const Steps& s) { return s.iterations; })},
          {"transient_iterations", get(steps, [](const Steps& s) { return s.transient; })},
          {"time_to_target_s", get(steps, [&](const Steps&) { return row.target->time_s; })},
          {"time_in_practice_least_s", get(practice, [](const PracticeTime& p) { return p.least_s; })},
          {"time_in_practice_most_s", get(practice, [](const PracticeTime& p) { return p.most_s; })}};
}

std::vector<NamedFigure> all_figures(const ComparedRow& row) {
  std::vector<NamedFigure> figures = own_figures(row);
  if (!row.report) return figures;
  for (const ResultFigure& figure : result_figures(*row.report, {})) {
    if (!figure.key.starts_with("stats.")) figures.push_back({figure.key, figure.value});
  }
  return figures;
}

}  // namespace orrery
