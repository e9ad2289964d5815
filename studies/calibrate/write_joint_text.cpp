#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "orrery/write.hpp"
#include "studies/calibrate/joint_fit.hpp"

namespace orrery {
namespace {

/// Errors of some rows, before and after.
struct Errors {
  std::size_t rows = 0;
  double base = 0, base_bias = 0, fitted = 0, bias = 0;

  void add(double before, double after) {
    ++rows;
    base += std::abs(before - 1);
    base_bias += before - 1;
    fitted += std::abs(after - 1);
    bias += after - 1;
  }
};

void write_constants(const JointProblem& problem, const JointFit& fit, const Sink& sink) {
  sink(fmt::format("{:<24}  {:<40}  {:<6}  {:>10}  {:>10}  {:>8}\n", "calibration", "constant", "unit",
                   "base", "fitted", "+-"));
  for (std::size_t j = 0; j < fit.values.size(); ++j) {
    const FitVariable& v = problem.fit.variables[j];
    sink(fmt::format("{:<24}  {:<40}  {:<6}  {:>10.5g}  {:>10.5g}  {:>6.1f} %\n", v.base, v.constant.key,
                     v.constant.unit, v.base_value, fit.values[j], 100 * fit.standard_errors[j]));
  }
}

std::string name_of(const FitVariable& v) { return fmt::format("{}: {}", v.base, v.constant.key); }

/// Which values of the catalog the fit could not start at.
void write_starts(const JointProblem& problem, const Sink& sink) {
  for (const FitVariable& v : problem.fit.variables) {
    if (v.base_value >= v.bounds.low && v.base_value <= v.bounds.high) continue;
    sink(fmt::format(
        "warning: {} is {:.5g}, allowed {:.5g} to {:.5g}: the fit starts at the nearer bound, and "
        "errors of the base are with it\n",
        name_of(v), v.base_value, v.bounds.low, v.bounds.high));
  }
}

void write_leaning(const JointProblem& problem, const JointFit& fit, const Sink& sink) {
  for (const Leaning& pair : fit.leaning) {
    sink(fmt::format(
        "warning: {} and {} lean on each other, correlation {:+.2f}: these rows know both together\n",
        name_of(problem.fit.variables[pair.one]), name_of(problem.fit.variables[pair.other]),
        pair.correlation));
  }
}

void write_errors(const char* of, const std::map<std::string, Errors>& errors, const Sink& sink) {
  sink(fmt::format("\n{:<24}  {:>5}  {:>9}  {:>9}  {:>9}  {:>9}\n", of, "rows", "base", "bias", "fitted",
                   "bias"));
  for (const auto& entry : errors) {
    const Errors& e = entry.second;
    const auto percent = [&](double sum) { return 100 * sum / static_cast<double>(e.rows); };
    sink(fmt::format("{:<24}  {:>5}  {:>7.1f} %  {:>+7.1f} %  {:>7.1f} %  {:>+7.1f} %\n", entry.first, e.rows,
                     percent(e.base), percent(e.base_bias), percent(e.fitted), percent(e.bias)));
  }
}

}  // namespace

void write_joint_text(const JointProblem& problem, const JointFit& fit, const Sink& sink) {
  write_constants(problem, fit, sink);
  write_starts(problem, sink);
  write_leaning(problem, fit, sink);
  std::map<std::string, Errors> stacks, tables;
  for (std::size_t i = 0; i < fit.ratios.size(); ++i) {
    const FitRow& row = problem.fit.rows[i];
    for (Errors* of : {&stacks[row.experiment.stack], &stacks["all"], &tables[row.table]})
      of->add(row.time_ratio(fit.base_ratios[i]), row.time_ratio(fit.ratios[i]));
  }
  write_errors("stack", stacks, sink);
  write_errors("table", tables, sink);
  sink(fmt::format("\n{} rows, {} constants, {} rounds: loss {:.5g}, before {:.5g}\n", fit.ratios.size(),
                   fit.values.size(), fit.rounds, fit.loss, fit.base_loss));
}

}  // namespace orrery
