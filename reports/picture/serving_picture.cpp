#include "reports/picture/serving_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "reports/picture/picture.hpp"
#include "reports/picture/time_text.hpp"
#include "reports/serving_names.hpp"
#include "sim/metrics/replica_memory.hpp"

namespace orrery {
namespace {

Activity activity_of(const ServedIteration& iteration) {
  return static_cast<Activity>(static_cast<std::size_t>(Activity::prefill) +
                               static_cast<std::size_t>(kind_of(iteration)));
}

/// Where the window cuts into it, the rest.
void add_iteration(const ServedIteration& of, const StageSpan& span, TimeWindow window, StageRow& row) {
  const Picoseconds start = std::max(span.start_ps, window.from_ps);
  const Picoseconds finish = std::min(span.finish_ps, window.to_ps);
  if (start >= finish) return;
  DrawnPass& pass = row.passes.emplace_back();
  pass.spans.push_back({activity_of(of), start, finish});
}

/// The stages of the first replicas, kMostStages rows at most.
std::vector<StageRow> replica_rows(const ServingRecord& record, const std::vector<std::uint32_t>& wanted,
                                   TimeWindow window) {
  const std::vector<std::uint32_t> stages = drawn_stages(wanted, record.stages);
  const auto room = std::max<std::size_t>(1, kMostStages / stages.size());
  const auto replicas = static_cast<std::uint32_t>(std::min<std::size_t>(record.replicas, room));
  std::vector<StageRow> rows;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> places;
  for (std::uint32_t replica = 0; replica < replicas; ++replica) {
    for (const std::uint32_t stage : stages) {
      places[{replica, stage}] = rows.size();
      StageRow& row = rows.emplace_back();
      row.stage = static_cast<std::uint32_t>(rows.size() - 1);
      row.name = fmt::format("replica {}", replica);
      if (record.prefill_replicas > 0) row.note = replica < record.prefill_replicas ? "prefill" : "decode";
      if (record.stages > 1) row.note += fmt::format("{}stage {}", row.note.empty() ? "" : ", ", stage);
    }
  }
  for (std::size_t i = 0; i < record.iterations.size(); ++i) {
    const ServedIteration& of = record.iterations[i];
    if (of.replica >= replicas) continue;
    for (const std::uint32_t stage : stages)
      add_iteration(of, record.spans_of(i)[stage], window, rows[places[{of.replica, stage}]]);
  }
  return rows;
}

/// Names on one line, where a terminal shows them.
std::vector<StageRow> named_rows(std::vector<StageRow> rows) {
  for (StageRow& row : rows)
    if (!row.note.empty()) row.name += " " + row.note;
  return rows;
}

void add_memory(const ServingRecord& record, std::size_t stages, std::vector<StageRow>& rows) {
  const std::vector<MemoryTimeline> memory = replica_memory(record);
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row].memory = memory[row / stages];
}

}  // namespace

void write_serving_picture(const ServingRecord& record, const Report& report, const PictureOptions& options,
                           const Sink& sink) {
  require_picture_width(options);
  DrawnRun drawn;
  drawn.makespan_ps = record.duration_ps;
  drawn.window = drawn_window(options.from_ps, options.to_ps, record.duration_ps);
  drawn.rows = replica_rows(record, options.stages, drawn.window);
  const std::size_t stages = drawn_stages(options.stages, record.stages).size();
  if (options.memory) add_memory(record, stages, drawn.rows);
  drawn.name = report.name;
  drawn.whole = fmt::format("{} requests in {}", record.requests.size(), time_text(record.duration_ps));
  const std::size_t shown = drawn.rows.size() / stages;
  drawn.subtitle = shown < record.replicas ? fmt::format("{} of {} replicas", shown, record.replicas)
                   : record.replicas == 1  ? std::string("its replica")
                                           : fmt::format("{} replicas", record.replicas);
  if (record.left_out > 0)
    drawn.subtitle += fmt::format(", recorded up to {}", time_text(record.recorded_until_ps));
  drawn.explained = "Each row shows the iterations of a pipeline stage of a replica.";
  drawn.waiting = "waiting (requests, other stages, the host)";
  drawn.memory_limit = record.most_usable_bytes();
  drawn.has_memory = options.memory;
  write_drawn_run(drawn, options.width, sink);
}

std::string draw_serving_schedule(const ServingRecord& record, const CharacterOptions& options) {
  const TimeWindow window = drawn_window(options.from_ps, options.to_ps, record.duration_ps);
  return draw_rows(named_rows(replica_rows(record, options.stages, window)), window, record.duration_ps,
                   options);
}

std::string draw_serving_memory(const ServingRecord& record, const CharacterOptions& options) {
  const TimeWindow window = drawn_window(options.from_ps, options.to_ps, record.duration_ps);
  std::vector<StageRow> rows = replica_rows(record, {0}, window);
  add_memory(record, 1, rows);
  for (StageRow& row : rows) row.note.clear();
  return draw_memory_of(rows, window, record.duration_ps, record.most_usable_bytes(), options);
}

}  // namespace orrery
