// Experiments side by side: every experiment in every variation, simulated, and set against the first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "orrery/report.hpp"
#include "planner/space/condition.hpp"
#include "planner/space/space_key.hpp"
#include "reports/step_difference.hpp"
#include "studies/compare/solve.hpp"

namespace orrery {

/// Limit on the rows of a comparison.
inline constexpr std::size_t kMostComparedRows = 10'000;

struct ExperimentText {
  std::string source;  ///< the file's name, as it stands in error messages
  std::string text;
};

struct ComparisonRequest {
  std::vector<ExperimentText> experiments;  ///< at least one
  std::vector<std::string> overrides;       ///< KEY=VALUE for every row, before the varied keys
  std::vector<SpaceKey> variations;         ///< applied to every experiment
  std::vector<Condition> conditions;        ///< that the rows of every experiment satisfy
  Catalog catalog;
  Menus menus;
  std::optional<Solve> solve = {};  ///< in every row, the value of a key for which a figure has a value
  bool why = false;                 ///< attribute differences from the first row term by term
};

/// Says in words how the replicas of a row are synchronised.
struct SyncSummary {
  std::string method;
  std::string topology;      ///< of a gossip graph; of a global average the algorithm of its all-reduce
  std::int64_t workers = 0;  ///< n: replicas, or nodes where those are the workers
  std::string wire;          ///< precision of their messages, or "compressed"; "" if there are none
  bool compressed = false;
  bool models = false;    ///< models travel, not gradients
  bool overlaps = false;  ///< while other work goes on
  bool in_step = true;    ///< workers keep step with each other
};

/// Compares with the first row that could be simulated. The latter two are missing if one of the rows counts
/// tokens and the other samples without tokens, such as images.
struct Ratios {
  std::optional<double> step_time;           ///< none for serving runs
  std::optional<double> speed_up;            ///< of tokens per second, or samples where a sample is one
  std::optional<double> scaling_efficiency;  ///< of the same per GPU
};

/// Holds the time to a target by published runs: the steps of all-reduce's bound, times those that the method
/// needed over all-reduce's for the same accuracy, times the step time.
struct PracticeTime {
  double least_s = 0;
  double most_s = 0;  ///< infinite where a run did not get there
};

/// Holds the prediction of convergence rates from the literature for a row with `accuracy`.
struct TargetSummary {
  struct Steps {
    double iterations = 0;  ///< until the target is reached; infinite where it never is
    double transient = 0;   ///< until the speed-up with the number of workers is linear
    bool linear_speed_up = false;
  };
  std::optional<double> gap;             ///< of the gossip graph, per step; none for other methods
  std::optional<Steps> steps;            ///< none where the literature gives no guarantee
  double time_s = 0;                     ///< iterations times step time
  std::optional<PracticeTime> practice;  ///< by published runs; none where there is none like it
  std::string published_runs;            ///< about the nearest of them; "" where there are none
  std::string unpublished;               ///< names the row where it has no such time
  std::string no_steps;  ///< why the literature has no rate of the method; "" where it has one
  double noise = 0;      ///< the assumption of the bounds: noise of the gradient of a replica, or of a sample
  bool noise_of_sample = false;
  double heterogeneity = 0;
};

struct ComparedRow {
  std::string name;                 ///< the experiment's; the file's where it could not be read
  std::vector<std::string> varied;  ///< one value per variation; "" where the key does nothing
  SyncSummary sync;
  std::optional<Report> report;       ///< none where the variant contradicts itself
  std::vector<std::string> reasons;   ///< why it is not feasible
  std::vector<std::string> left_out;  ///< effects that its figures leave out, in sentences
  std::string solved;                 ///< the value of Comparison::solve's key that was found; "" without
  std::optional<Ratios> ratios;       ///< none without a report

  std::optional<TargetSummary> target;  ///< of an experiment with an accuracy to reach

  [[nodiscard]] bool feasible() const { return reasons.empty(); }
  [[nodiscard]] bool serves() const { return report && report->serving; }
  /// Returns true if the row has times. A step that does not fit into memory is simulated all the same, but
  /// such a replica serves no requests.
  [[nodiscard]] bool is_timed() const {
    return report && (!report->serving || report->serving->duration_ps > 0);
  }
  /// Exposed communication of data parallelism in seconds per GPU and step, mean over GPUs. The row has a
  /// report.
  [[nodiscard]] double communication_s() const;
  /// Bytes that a GPU sends per step for data parallelism; the row has a report.
  [[nodiscard]] double data_bytes() const;
};

struct Comparison {
  std::vector<std::string> keys;  ///< the varied keys
  bool several = false;           ///< more than one experiment
  std::optional<Solve> solve;     ///< the value found in every row
  bool why = false;               ///< differences from the first row are attributed term by term
  std::vector<ComparedRow> rows;  ///< by experiment, then by combination, the last key fastest

  /// Returns true if all rows serve requests instead of running steps.
  [[nodiscard]] bool serves() const { return std::ranges::any_of(rows, &ComparedRow::serves); }
  /// The first row with a report and times, which the others are set against; none where no row has one.
  [[nodiscard]] std::optional<std::size_t> reference() const;
  /// Returns the difference of a row with a report from the reference(); nullopt for the reference itself and
  /// for rows without a report.
  [[nodiscard]] std::optional<StepDifference> difference(std::size_t row) const;
  /// The feasible row that reaches its target first by its bound; none where no row has one.
  [[nodiscard]] std::optional<std::size_t> sweet_spot() const;
  /// The feasible row that surely reaches it first by published runs; none where no row has a longest time.
  [[nodiscard]] std::optional<std::size_t> practical_spot() const;
};

/// Called as rows are done, one call at a time.
using ComparisonProgress = std::function<void(std::size_t done, std::size_t total)>;

/// With `solve` a row is the experiment with the value that was found; a row without one has the reason.
/// Simulates every row on `threads` threads; the result depends neither on their number nor on their order.
/// Where a varied key does nothing beside the other values (a period of all-reduce), it is left out, and of
/// the rows that are alike then only the first is kept. A variant that contradicts itself, asks for what is
/// not modelled or does not fit into memory is a row with its reasons. @throws InputError with what is wrong
/// in all variants of an experiment, with everything where nothing can be simulated, and for more than
/// kMostComparedRows rows.
[[nodiscard]] Comparison compare(const ComparisonRequest& request, unsigned threads,
                                 const ComparisonProgress& progress = {});

}  // namespace orrery
