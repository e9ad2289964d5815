#include "studies/calibrate/fit_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <set>

#include "config/schema/overrides.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "studies/calibrate/calibration_file.hpp"
#include "studies/calibrate/memory_rows.hpp"

namespace orrery {
namespace {

constexpr double kWidth = 20;         ///< scales are searched from value / kWidth to value * kWidth
constexpr double kLeastDecade = 4;    ///< positive bounds further apart than this are searched by logarithm
constexpr double kRangeShare = 0.05;  ///< least scale of a linear variable, of its range
/// The figures that follow from the step time; a row is fitted to the first one it has.
constexpr std::array<std::string_view, 7> kFigures{
    "step_time_s", "samples_per_s", "tokens_per_s", "model_tflops_per_gpu", "hardware_tflops_per_gpu", "mfu",
    "hfu"};
/// Figures of requests, each with a time of its own: a row is fitted to all that it has.
constexpr std::array<std::string_view, 3> kLatencies{"ttft_s", "tpot_s", "end_to_end_s"};
constexpr std::array<std::string_view, 3> kServedRates{"output_tokens_per_s", "requests_per_s",
                                                       "tokens_per_s_per_gpu"};

[[noreturn]] void refuse_fit(std::string message) {
  throw InputError({Diagnostic{kCommandLine, 0, 0, "", std::move(message)}});
}

bool is_share(const Constant& constant) { return constant.minimum >= 0 && constant.maximum <= 1; }

class ProblemMaker {
 public:
  ProblemMaker(const FitRequest& request, const TableContext& context)
      : request_(request), context_(context) {}

  FitProblem make() {
    check_bases();
    for (const std::string& key : request_.keys) add_variables(constant_named(key));
    check_kind();
    for (const auto& [key, bounds] : request_.bounds) check_is_fitted(key);
    read_rows();
    check_takers();
    return std::move(problem_);
  }

 private:
  void check_bases() {
    if (request_.bases.empty()) refuse_fit("--base is missing: the calibration to start from");
    if (request_.keys.empty()) refuse_fit("--fit is missing: the constants to fit");
    const auto known = context_.catalog.names(CatalogKind::calibration);
    for (const std::string& base : request_.bases) {
      if (context_.catalog.contains(CatalogKind::calibration, base)) continue;
      refuse_fit(fmt::format("found calibration {}, allowed {}{}", quote(base), joined(views(known)),
                             hint(base, views(known))));
    }
    check_once(request_.bases, "--base");
    check_once(request_.keys, "--fit");
    problem_.bases = request_.bases;
  }

  static void check_once(const std::vector<std::string>& names, const char* option) {
    std::set<std::string> seen;
    for (const std::string& name : names) {
      if (!seen.insert(name).second) refuse_fit(fmt::format("{}: found {} twice", option, quote(name)));
    }
  }

  /// Constants of memory are fitted to memory, all others to times.
  void check_kind() {
    const auto of_memory = std::ranges::count_if(request_.keys, is_memory_constant);
    problem_.of_memory = of_memory > 0;
    if (of_memory == 0 || of_memory == std::ssize(request_.keys)) return;
    refuse_fit(fmt::format("--fit: found {} beside constants of times, allowed in a fit of their own",
                           *std::ranges::find_if(request_.keys, is_memory_constant)));
  }

  void check_is_fitted(const std::string& key) {
    if (std::ranges::find(request_.keys, key) != request_.keys.end()) return;
    refuse_fit(fmt::format("--bounds: found {}, which is not fitted{}", quote(key),
                           hint(key, views(request_.keys))));
  }

  void add_variables(const Constant& constant) {
    const std::size_t before = problem_.variables.size();
    for (const std::string& base : request_.bases) {
      if (context_.catalog.part_of_calibration(base) != constant.part) continue;
      const CalibratedValue value = calibrated_value(context_.catalog, base, constant);
      FitVariable variable{base, constant, value.value, {}, false};
      set_bounds(variable, value);
      problem_.variables.push_back(std::move(variable));
    }
    if (problem_.variables.size() == before) {
      refuse_fit(fmt::format("--fit: {} belongs to calibrations of part {}, and no --base is one",
                             constant.key, constant.part));
    }
  }

  void set_bounds(FitVariable& variable, const CalibratedValue& value) {
    const Constant& constant = variable.constant;
    variable.bounds = default_bounds(constant, value.value);
    if (value.minimum) variable.bounds.low = *value.minimum;
    if (value.maximum) variable.bounds.high = *value.maximum;
    if (const auto given = request_.bounds.find(constant.key); given != request_.bounds.end())
      variable.bounds = given->second;
    Bounds& b = variable.bounds;
    if (!(b.low >= constant.minimum && b.high <= constant.maximum)) {
      const PhysicalInterval* physical = physical_interval(constant.key);
      refuse_fit(fmt::format("bounds of {}: found {} to {}, allowed {} to {}{}", constant.key, b.low, b.high,
                             constant.minimum, constant.maximum,
                             physical != nullptr ? fmt::format(" ({})", physical->meaning) : ""));
    }
    if (!(b.low < b.high)) {
      refuse_fit(fmt::format("{} of {} is {} and leaves no room to search: give --bounds {}=LOW:HIGH",
                             constant.key, variable.base, value.value, constant.key));
    }
    variable.logarithmic = !is_share(constant) && b.low > 0 && b.high / b.low > kLeastDecade;
  }

  static Bounds default_bounds(const Constant& constant, double value) {
    if (is_share(constant)) return {constant.minimum, constant.maximum};
    return {std::max(constant.minimum, value / kWidth), std::min(constant.maximum, value * kWidth)};
  }

  void read_rows() {
    for (const TableText& table : request_.tables)
      read_table([&](const TableContext& context) {
        return read_measured_table(table.text, table.source, context);
      });
    for (const MeasuredRun& run : request_.runs)
      read_table([&](const TableContext& context) { return read_measured_run(run, context); });
  }

  /// Reads a table in a context.
  using ReadTable = std::function<MeasuredTable(const TableContext&)>;

  void read_table(const ReadTable& read) {
    const MeasuredTable table = read(context_);
    std::vector<FitRow> rows;
    for (const MeasuredRow& row : table.rows) rows.push_back(row_without_figure(table.name, row));
    for (const std::string& base : request_.bases) mark_takers(read, table, base, rows);
    const std::size_t before = problem_.rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (std::ranges::find(rows[i].takes, true) == rows[i].takes.end()) continue;
      std::ranges::move(
          problem_.of_memory ? memory_rows(rows[i], table.rows[i]) : timed_rows(rows[i], table.rows[i]),
          std::back_inserter(problem_.rows));
    }
    if (problem_.rows.size() > before) problem_.tables.push_back(table.name);
  }

  [[nodiscard]] FitRow row_without_figure(const std::string& table, const MeasuredRow& row) const {
    return {
        table, row.name, row.experiment, row.model_key, "", 0, std::vector<bool>(problem_.variables.size())};
  }

  /// Reads the table again with all fitted constants of `base` slightly changed: the rows that see it.
  void mark_takers(const ReadTable& read, const MeasuredTable& table, const std::string& base,
                   std::vector<FitRow>& rows) {
    std::map<std::string, double> changed;
    for (const FitVariable& v : problem_.variables) {
      if (v.base == base) changed[std::string(v.constant.name)] = nudged(v);
    }
    TableContext probe = context_;
    probe.catalog = with_constants(context_.catalog, base, changed);
    const MeasuredTable other = read(probe);
    for (std::size_t j = 0; j < problem_.variables.size(); ++j) {
      const FitVariable& v = problem_.variables[j];
      if (v.base != base) continue;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].takes[j] =
            v.constant.get(table.rows[i].experiment) != v.constant.get(other.rows[i].experiment);
      }
    }
  }

  static double nudged(const FitVariable& v) {
    const double value = v.base_value;
    return std::nextafter(value, value < v.constant.maximum ? v.constant.maximum : v.constant.minimum);
  }

  void check_takers() {
    for (std::size_t j = 0; j < problem_.variables.size(); ++j) {
      const FitVariable& v = problem_.variables[j];
      if (std::ranges::any_of(problem_.rows, [&](const FitRow& row) { return row.takes[j]; })) continue;
      refuse_fit(fmt::format("no row with a measured {} takes {} from calibration {}",
                             problem_.of_memory ? "peak of memory" : "step time", v.constant.key,
                             quote(v.base)));
    }
  }

  const FitRequest& request_;
  const TableContext& context_;
  FitProblem problem_;
};

}  // namespace

double FitVariable::value_at(double place) const {
  const double p = std::clamp(place, 0.0, 1.0);
  if (!logarithmic) return std::lerp(bounds.low, bounds.high, p);
  return std::clamp(bounds.low * std::pow(bounds.high / bounds.low, p), bounds.low, bounds.high);
}

double FitVariable::place_of(double value) const {
  const double v = std::clamp(value, bounds.low, bounds.high);
  if (!logarithmic) return (v - bounds.low) / (bounds.high - bounds.low);
  return std::log(v / bounds.low) / std::log(bounds.high / bounds.low);
}

double FitVariable::scale(double value) const {
  if (logarithmic) return value;
  return std::max(std::abs(value), kRangeShare * (bounds.high - bounds.low));
}

bool FitRow::is_of(const std::string& base, const std::vector<FitVariable>& variables) const {
  for (std::size_t j = 0; j < variables.size(); ++j) {
    if (takes[j] && variables[j].base == base) return true;
  }
  return false;
}

bool FitRow::is_rate() const {
  return figure != "step_time_s" && !figure.starts_with("memory.") &&
         std::ranges::find(kLatencies, figure) == kLatencies.end();
}

std::vector<FitRow> timed_rows(const FitRow& row, const MeasuredRow& measured) {
  std::vector<FitRow> rows;
  if (!measured.skipped_because.empty() || measured.kept_back) return rows;
  const auto add = [&](std::string_view figure) {
    const auto found = std::ranges::find(measured.measured, figure, &Measurement::key);
    if (found == measured.measured.end()) return false;
    rows.push_back(row);
    rows.back().figure = figure;
    rows.back().measured = found->value;
    return true;
  };
  if (measured.experiment.inference) {
    for (const std::string_view figure : kLatencies) add(figure);
    for (const std::string_view figure : kServedRates) add(figure);
  } else {
    std::ranges::find_if(kFigures, add);
  }
  return rows;
}

FitProblem make_fit_problem(const FitRequest& request, const TableContext& context) {
  return ProblemMaker(request, context).make();
}

}  // namespace orrery
