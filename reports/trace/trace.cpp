// The formats of traces by their names.
#include <fmt/format.h>

#include <limits>

#include "orrery/error.hpp"
#include "orrery/file_ending.hpp"
#include "reports/trace/chakra.hpp"
#include "reports/trace/chrome.hpp"
#include "reports/trace/kineto.hpp"
#include "reports/trace/perfetto.hpp"
#include "reports/trace/run_source.hpp"
#include "reports/trace/serving_source.hpp"
#include "reports/trace/speedscope.hpp"

namespace orrery {

TraceFormat trace_format(std::string_view path) {
  if (has_ending(path, ".gz")) path.remove_suffix(3);
  if (has_ending(path, ".speedscope.json")) return TraceFormat::speedscope;
  if (has_ending(path, ".pftrace")) return TraceFormat::perfetto;
  return TraceFormat::chrome;
}

namespace {

TraceInfo write_source(TraceSource& source, const TraceOptions& options, const Sink& sink) {
  switch (options.format) {
    case TraceFormat::speedscope:
      return write_speedscope(source, options.metadata_json, sink);
    case TraceFormat::perfetto:
      return write_perfetto_trace(source, options.metadata_json, sink);
    case TraceFormat::chrome:
      break;
  }
  return write_chrome_trace(source, options.metadata_json, sink);
}

}  // namespace

TraceInfo write_trace(const RunView& run, const RankGrid& grid, const TraceOptions& options,
                      const Sink& sink) {
  const TracePlan plan = plan_trace(run, grid, options);
  RunTrace source(plan, grid);
  return write_source(source, options, sink);
}

TraceInfo write_serving_trace(const ServingRecord& record, const TraceOptions& options, const Sink& sink) {
  ServingTrace source(record, options.max_spans);
  TraceInfo info = write_source(source, options, sink);
  info.ranks = record.replicas;
  info.left_out = source.left_out();
  return info;
}

TraceInfo write_kineto(const RunView& run, const RankGrid& grid, const TraceOptions& options,
                       const FileMaker& make_file) {
  TraceOptions of_operations = options;
  of_operations.level = TraceLevel::operation;
  const TracePlan plan = plan_trace(run, grid, of_operations);
  TraceInfo info;
  info.ranks = plan.ranks.size();
  for (const std::uint32_t rank : plan.ranks) {
    make_file("rank" + std::to_string(rank) + ".json.gz", [&](const Sink& sink) {
      info.spans += write_kineto_rank(plan, rank, options.metadata_json, sink);
    });
  }
  return info;
}

TraceInfo write_chakra(const RunView& run, const RankGrid& grid, const TraceOptions& options,
                       const FileMaker& make_file) {
  TraceOptions of_operations = options;
  of_operations.level = TraceLevel::operation;
  of_operations.max_spans = std::numeric_limits<std::uint64_t>::max();
  const TracePlan plan = plan_trace(run, grid, of_operations);
  if (plan.operations > kMostChakraNodes)
    throw InputError({Diagnostic{
        "command line", 0, 0, "",
        fmt::format("--chakra: found {} operations of {} ranks, allowed up to {}: fewer --trace-ranks "
                    "or --trace-steps",
                    plan.operations, plan.ranks.size(), kMostChakraNodes)}});
  TraceInfo info;
  info.ranks = plan.ranks.size();
  for (const std::uint32_t rank : plan.ranks)
    make_file(fmt::format("chakra.{}.et", rank),
              [&](const Sink& sink) { info.spans += write_chakra_rank(plan, rank, sink); });
  make_file("comm_groups.json", [&](const Sink& sink) { write_chakra_groups(plan, sink); });
  return info;
}

}  // namespace orrery
