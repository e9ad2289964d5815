#include <fmt/format.h>

#include <algorithm>

#include "orrery/write.hpp"
#include "studies/calibrate/fit_errors.hpp"

namespace orrery {
namespace {

/// Standard errors above this are no figures any more.
constexpr double kMostShown = 10;

std::string percent(double ratio) { return fmt::format("{:.1f} %", 100 * ratio); }

std::string standard_error(const FittedConstant& constant) {
  if (constant.standard_error > kMostShown) return "> 1000 %";
  return fmt::format("{:.2g} %", 100 * constant.standard_error);
}

std::string label(const FittedConstant& constant, const Fit& fit) {
  const bool several = fit.problem.bases.size() > 1;
  return (several ? constant.variable.base + ": " : "") + constant.variable.constant.key;
}

void write_constants(const Fit& fit, const Sink& sink) {
  std::size_t width = 8;
  for (const FittedConstant& c : fit.constants) width = std::max(width, label(c, fit).size());
  sink(fmt::format("{:<{}}  {:<8}  {:>10}  {:>10}  {:>9}  identifiable\n", "constant", width, "unit", "base",
                   "fitted", "+-"));
  for (const FittedConstant& c : fit.constants) {
    sink(fmt::format("{:<{}}  {:<8}  {:>10.5g}  {:>10.5g}  {:>9}  {}\n", label(c, fit), width,
                     c.variable.constant.unit, c.variable.base_value, c.value, standard_error(c),
                     c.identifiable ? "yes" : "no"));
  }
}

/// Why `constant` is not to be relied upon.
std::string doubt(const FittedConstant& constant, const Fit& fit) {
  const double tenth = 100 * constant.largest_effect;
  return fmt::format(
      "warning: {} is not identifiable from these rows: a change by 10 % moves no row by more than "
      "{:.2g} %, standard error {}\n",
      label(constant, fit), tenth, standard_error(constant));
}

void write_leaning(const Fit& fit, const Sink& sink) {
  for (const Leaning& pair : fit.leaning) {
    sink(fmt::format(
        "warning: {} and {} lean on each other, correlation {:+.2f}: these rows know both together\n",
        label(fit.constants[pair.one], fit), label(fit.constants[pair.other], fit), pair.correlation));
  }
}

void write_edges(const Fit& fit, const Sink& sink) {
  for (const FittedConstant& c : fit.constants) {
    const double place = c.variable.place_of(c.value);
    if (place > 0.001 && place < 0.999) continue;
    sink(fmt::format("warning: {} is at the edge of its bounds, {:.5g} to {:.5g}\n", label(c, fit),
                     c.variable.bounds.low, c.variable.bounds.high));
  }
}

std::string columns(const ErrorSummary& s) {
  return fmt::format("  {:>8}  {:>8}  {:>8}", percent(s.mean), percent(s.worst),
                     fmt::format("{:+.1f} %", 100 * s.bias));
}

void write_error_row(const std::string& name, std::size_t width, const FitErrors& errors, const Sink& sink) {
  sink(fmt::format("{:<{}}  {:>5}{}{}{}\n", name, width, errors.rows, columns(errors.base),
                   columns(errors.fitted), errors.held_out ? columns(*errors.held_out) : ""));
}

void write_errors(const Fit& fit, const Sink& sink) {
  std::size_t width = 5;
  for (const std::string& table : fit.problem.tables) width = std::max(width, table.size());
  const std::string figures = fmt::format("  {:>8}  {:>8}  {:>8}", "mean", "worst", "bias");
  const bool held_out = fit.options.folds > 0;
  sink(fmt::format("\n{:<{}}  {:>5}  {:<28}  {:<28}{}\n", "errors", width, "", "base", "fitted",
                   held_out ? "  held out" : ""));
  sink(fmt::format("{:<{}}  {:>5}{}{}{}\n", "table", width, "rows", figures, figures,
                   held_out ? figures : ""));
  for (const std::string& table : fit.problem.tables) {
    const auto in_table = [&](const FitRow& row) { return row.table == table; };
    write_error_row(table, width, fit_errors(fit, in_table), sink);
  }
  write_error_row("all", width, fit_errors(fit, [](const FitRow&) { return true; }), sink);
}

}  // namespace

void write_fit_text(const Fit& fit, const Sink& sink) {
  write_constants(fit, sink);
  for (const FittedConstant& c : fit.constants) {
    if (!c.identifiable) sink(doubt(c, fit));
  }
  write_leaning(fit, sink);
  write_edges(fit, sink);
  write_errors(fit, sink);
  sink(fmt::format("\nloss {:.5g}, of the base {:.5g}; {} evaluations\n", fit.loss, fit.base_loss,
                   fit.evaluations));
}

}  // namespace orrery
