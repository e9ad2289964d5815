// Tests predictions on rows that a fit has not seen, for the results of validation and for the ranges that
// calibrations state.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "studies/calibrate/joint_fit.hpp"
#include "studies/validate/validate.hpp"

namespace orrery {

/// Holds, by row, the predictions for rows of a joint problem by fits that had not seen them.
struct LeftOutRows {
  LeftOut by = LeftOut::stack;
  std::vector<std::string> groups;  ///< "" where a row was not left out
  std::vector<double> ratios;       ///< predicted over measured step time

  /// Measured over predicted step time less one.
  [[nodiscard]] double deviation(std::size_t row) const { return 1 / ratios[row] - 1; }
};

/// Runs leave_out() for each grouping and returns the groups, all as step times.
[[nodiscard]] std::vector<LeftOutRows> left_out_rows(const JointProblem& problem,
                                                     const std::vector<LeftOut>& by, unsigned threads,
                                                     const JointProgress& progress = {});

/// The range that a row left out would have been given: deciles over the rows of the other groups; with
/// LeftOut::model over the rows of other models on the same stack where there are enough of them.
[[nodiscard]] std::optional<Deciles> range_of(const JointProblem& problem, const LeftOutRows& rows,
                                              std::size_t row);

/// The names of the tables that calibrations of software say they were fitted to.
[[nodiscard]] std::set<std::string> fitted_tables(const Catalog& catalog);

/// Adds the figures of the rows left out to `results`.
void add_left_out(const JointProblem& problem, const std::vector<LeftOutRows>& rows,
                  std::vector<TableResult>& results);

/// Sets TableResult::fitted of the tables that calibrations name as fitted to.
void mark_fitted(const Catalog& catalog, std::vector<TableResult>& results);

/// Errors of one group that was left out.
struct LeftOutGroup {
  std::string group;
  ErrorStatistics errors;
};

/// Returns the errors by group; those of all rows come last, as "all".
[[nodiscard]] std::vector<LeftOutGroup> left_out_groups(const JointProblem& problem, const LeftOutRows& rows);

struct LeftOutSummary {
  LeftOut by = LeftOut::stack;
  std::vector<LeftOutGroup> groups;
};

/// A table for each way of leaving out, for a terminal.
void write_left_out_text(const std::vector<LeftOutSummary>& summaries,
                         const std::function<void(std::string_view)>& sink);

/// Returns `texts` of calibrations with the domain of each that has rows, and the ranges: of its own rows
/// with other models left out, and in those that inherit from none the ranges of stacks, GPUs and links left
/// out.
[[nodiscard]] std::map<std::string, std::string> with_ranges(std::map<std::string, std::string> texts,
                                                             const JointProblem& problem,
                                                             const std::vector<LeftOutRows>& rows);

}  // namespace orrery
