// Writes the page of a run (`orrery simulate --html`): its figures, timelines, memory, network and
// experiment.
#pragma once

#include <cstdint>
#include <string>

#include "orrery/rank_grid.hpp"
#include "orrery/report.hpp"
#include "orrery/write.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

struct RunPageInput {
  const Report& report;
  std::string resolved;               ///< the experiment as `simulate --resolved` prints it; "": not known
  const RunView* run = nullptr;       ///< null where the run has no one timeline of all ranks
  const RankGrid* grid = nullptr;     ///< of the run
  std::uint64_t max_spans = 300'000;  ///< fewer ranks are shown rather than more spans: 12 MB of page
};

void write_run_page(const RunPageInput& input, const Sink& sink);

}  // namespace orrery
