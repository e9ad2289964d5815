// One experiment from end to end, with everything it passes through: programs, prices, tasks,
// timeline, report. The only place that knows all rooms; `simulate()` and the command line use it.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/channels.hpp"
#include "sim/metrics/build_report.hpp"
#include "sim/run/runner.hpp"
#include "sim/tasks/expanded_graph.hpp"
#include "workloads/programs/lower.hpp"

namespace orrery {

struct Run {
  Workload workload;
  std::unique_ptr<Topology> topology;
  PriceList prices;
  ExpandedGraph expanded;
  Timeline timeline;
  RunLayout layout;
  Report report;

  [[nodiscard]] RunView view() const;
};

/// @throws as simulate().
[[nodiscard]] Run run(const Experiment& experiment);

/// The figures of `experiment` that the view has, from what its run came to.
[[nodiscard]] Report report_on(const Experiment& experiment, const Totals& totals, const RunView& view);

/// Of what stages hold alone: its makespan is 0. With its origin or without.
[[nodiscard]] Report memory_report(const Experiment& experiment, const Workload& outlined,
                                   const Figures& figures = {});

/// Runs every experiment from its beginning.
class FreshRunner : public Runner {
 public:
  const Workload& outline(const Experiment& experiment) override;
  void write(std::int64_t micro_batches) override;
  const Periods& periods() override;
  const std::optional<WholeAndPart>& run(std::int64_t more, const Figures& figures) override;
  [[nodiscard]] RunView view() const override;
  /// What run() made.
  [[nodiscard]] Run& made() { return run_; }

 private:
  const Experiment* experiment_ = nullptr;
  std::optional<SyncLayout> layout_;
  Outline outlined_;
  Experiment written_;  ///< with the micro-batches of its programs
  Run run_;
  Channels channels_;
  std::optional<Periods> periods_;
  Figures figures_;
  std::optional<WholeAndPart> taken_;
};

}  // namespace orrery
