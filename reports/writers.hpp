// One writer per output format: those of orrery/write.hpp, and that of traces from what the simulator keeps
// of a run.
#pragma once

#include "orrery/rank_grid.hpp"
#include "orrery/write.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

/// Chrome Trace Event JSON, streamed in order of time; memory does not grow with its length. pid is
/// rank + 10, tid is Stream + 1, the category is the phase, times are whole ns printed as us. A folded
/// run can be written for any rank: its times are those of its class, its groups and peers its own.
/// Slices carry layer, microbatch, step (of several) and group. Up to 20,000 spans they also carry
/// chunk, ranks and bytes, and the counters show every step; longer traces sample the counters, to
/// stay below 150 bytes a span. Throws InputError for a rank that does not exist; an unknown step
/// gives a trace without slices.
TraceInfo write_trace(const RunView& run, const RankGrid& grid, const TraceOptions& options,
                      const Sink& sink);

}  // namespace orrery
