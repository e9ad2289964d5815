// Writes the explorer's memory accounting of an experiment: as its CSV, as JSON and for a terminal. Every
// writer has the same columns; those named gb hold GiB, as the explorer has them, and ours behind them say
// gib.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/explorer_memory.hpp"
#include "orrery/write.hpp"

namespace orrery {

struct ExplorerAnswer {
  const Experiment& experiment;
  ExplorerMemory memory;
  Bytes gpu_memory = 0;  ///< of the smallest GPU; 0: unknown

  [[nodiscard]] bool feasible() const {
    return gpu_memory == 0 || memory.total_bytes() <= static_cast<double>(gpu_memory);
  }
};

/// A header line and one row, memory to two decimals.
void write_explorer_csv(const ExplorerAnswer& answer, const Sink& sink);
/// An object with the columns as keys, pretty-printed when `indent` >= 0. Ends with a newline.
void write_explorer_json(const ExplorerAnswer& answer, int indent, const Sink& sink);
/// A few lines of at most 80 columns.
void write_explorer_summary(const ExplorerAnswer& answer, const Sink& sink);

}  // namespace orrery
