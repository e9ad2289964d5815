// One experiment from end to end, with everything it passes through: programs, prices, tasks,
// timeline, report. The only place that knows all rooms; `simulate()` and the command line use it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/graph/channels.hpp"
#include "sim/graph/expanded_graph.hpp"
#include "sim/graph/price_list.hpp"
#include "sim/io/menus.hpp"
#include "sim/report/build_report.hpp"

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

/// The same without its report. `count` may change how often calls are made, before their bytes are counted.
using CountCalls = std::function<void(const Workload&, Channels&)>;
[[nodiscard]] Run run_to_timeline(const Experiment& experiment, const CountCalls& count = {});

/// Fills in Run::report: of `experiment`, from what its run came to.
void report_on(const Experiment& experiment, const Totals& totals, Run& run);

/// What an experiment can name, from the tables of all rooms.
[[nodiscard]] Menus menus();

}  // namespace orrery
