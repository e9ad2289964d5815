// Declares one writer per output format: those of orrery/write.hpp, and that of traces from the simulator's
// records of a run.
#pragma once

#include <functional>
#include <string>

#include "orrery/rank_grid.hpp"
#include "orrery/serving_record.hpp"
#include "orrery/write.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

/// Writes a trace in options.format, streamed; memory does not grow with its length. A folded run can be
/// written for any rank: its times are those of its class, its groups and peers its own. Slices carry layer,
/// microbatch, step (of several) and group. Up to 20,000 operations they also carry chunk, ranks and bytes,
/// and the counters show every step; longer traces sample the counters, to stay below 150 bytes a span.
/// Throws InputError for a rank that does not exist; an unknown step gives a trace without slices.
TraceInfo write_trace(const RunView& run, const RankGrid& grid, const TraceOptions& options,
                      const Sink& sink);

/// Writes a trace of requests that were served: a process per replica with a thread per stage and counters of
/// its KV cache and its requests, and one in which requests lie on as many lanes as are needed.
/// TraceOptions::ranks, steps and level do not matter; if there are more spans than max_spans, later
/// iterations or requests are left out. TraceInfo::ranks counts replicas.
TraceInfo write_serving_trace(const ServingRecord& record, const TraceOptions& options, const Sink& sink);

/// Makes the file of that name of the text that a function gives to its sink.
using FileMaker = std::function<void(const std::string& name, const std::function<void(const Sink&)>& write)>;
/// A file for each rank, rank0.json.gz and so on, in the dialect of PyTorch's profiler: all operations, one
/// kernel each, whatever options.level. TraceInfo::spans counts kernels and copies.
TraceInfo write_kineto(const RunView& run, const RankGrid& grid, const TraceOptions& options,
                       const FileMaker& make_file);
/// A file for each rank, chakra.0.et and so on, as execution traces of MLCommons Chakra, and comm_groups.json
/// with the communicators: all ranks unless options.ranks names some. TraceInfo::spans counts nodes.
/// @throws InputError if there are more nodes than files may have
TraceInfo write_chakra(const RunView& run, const RankGrid& grid, const TraceOptions& options,
                       const FileMaker& make_file);

}  // namespace orrery
