#include "reports/picture/stage_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "orrery/error.hpp"
#include "reports/picture/time_text.hpp"
#include "sim/metrics/memory_moment.hpp"
#include "sim/metrics/passes.hpp"

namespace orrery {
namespace {

bool is_communication(Activity activity) {
  return activity >= Activity::tensor && activity <= Activity::offload;
}

/// Makes the row of one rank.
class RowMaker {
 public:
  RowMaker(const RunView& run, std::uint32_t rank, TimeWindow window)
      : run_(run),
        rank_(rank),
        window_(window),
        class_(run.expanded.representatives.class_of_rank[rank]),
        program_(run.expanded.program[class_]) {}

  [[nodiscard]] std::uint32_t program() const { return program_; }

  void add_passes(StageRow& row) const {
    const auto& stream = run_.layout.programs[program_].streams[std::size_t(Stream::compute)];
    auto op = stream.begin();
    for (const PassSpan& pass : passes_of(run_, rank_)) {
      DrawnPass drawn{pass.phase, pass.micro_batch, pass.chunk, {}};
      for (; op != stream.end() && *op <= pass.last_op; ++op) add_span(*op, drawn.spans);
      row.chunks = std::max(row.chunks, pass.chunk + 1);
      if (!drawn.spans.empty()) row.passes.push_back(std::move(drawn));
    }
  }

  void add_lanes(StageRow& row) const {
    const StreamOps& streams = run_.layout.programs[program_].streams;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      if (s == std::size_t(Stream::compute) || s == std::size_t(Stream::host)) continue;
      for (const std::uint32_t op : streams[s]) {
        const Activity activity = activity_of(op);
        if (is_communication(activity)) add_span(op, row.lanes[std::size_t(activity)]);
      }
    }
    for (auto& lane : row.lanes) unite(lane);
  }

 private:
  [[nodiscard]] Activity activity_of(std::uint32_t op) const {
    return orrery::activity_of(run_.workload, run_.workload.programs[program_].ops[op]);
  }

  /// The part of the operation that lies in the window; goes on with the last span where it is of the same
  /// kind and begins as that one ends.
  void add_span(std::uint32_t op, std::vector<ActivitySpan>& spans) const {
    const std::uint32_t task = run_.expanded.task(class_, op);
    const Picoseconds start = std::max(run_.timeline.start_ps[task], window_.from_ps);
    const Picoseconds finish = std::min(run_.timeline.finish_ps[task], window_.to_ps);
    if (start >= finish) return;
    const Activity activity = activity_of(op);
    if (!spans.empty() && spans.back().activity == activity && spans.back().finish_ps == start) {
      spans.back().finish_ps = finish;
    } else {
      spans.push_back({activity, start, finish});
    }
  }

  /// Spans of several streams as times in which any of them runs.
  static void unite(std::vector<ActivitySpan>& lane) {
    std::ranges::sort(lane, {}, [](const ActivitySpan& span) { return span.start_ps; });
    std::vector<ActivitySpan> united;
    for (const ActivitySpan& span : lane) {
      if (!united.empty() && span.start_ps <= united.back().finish_ps) {
        united.back().finish_ps = std::max(united.back().finish_ps, span.finish_ps);
      } else {
        united.push_back(span);
      }
    }
    lane = std::move(united);
  }

  const RunView& run_;
  std::uint32_t rank_;
  TimeWindow window_;
  std::uint32_t class_;
  std::uint32_t program_;
};

[[noreturn]] void refuse(const std::string& message) { throw InputError("", message); }

}  // namespace

Picoseconds StageRow::busy_ps() const {
  Picoseconds busy = 0;
  for (const DrawnPass& pass : passes) {
    for (const ActivitySpan& span : pass.spans) busy += span.length_ps();
  }
  return busy;
}

std::vector<std::uint32_t> drawn_stages(std::span<const std::uint32_t> wanted, std::uint32_t stages) {
  std::vector<std::uint32_t> drawn(wanted.begin(), wanted.end());
  std::ranges::sort(drawn);
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  if (!drawn.empty() && drawn.back() >= stages)
    refuse(fmt::format("picture: found stage {}, allowed are stages from 0 to {}", drawn.back(), stages - 1));
  if (!drawn.empty()) return drawn;
  const std::uint32_t count = std::min(stages, kMostStages);
  for (std::uint32_t i = 0; i < count; ++i)
    drawn.push_back(count == stages ? i : i * (stages - 1) / (count - 1));
  return drawn;
}

TimeWindow drawn_window(Picoseconds from_ps, Picoseconds to_ps, Picoseconds makespan_ps) {
  const TimeWindow window{from_ps, to_ps == 0 ? makespan_ps : to_ps};
  if (from_ps >= makespan_ps)
    refuse(fmt::format("picture: found a beginning at {}, allowed are times before the end of the run at {}",
                       time_text(from_ps), time_text(makespan_ps)));
  if (window.to_ps <= from_ps)
    refuse(fmt::format("picture: found an end at {}, allowed are times behind the beginning at {}",
                       time_text(window.to_ps), time_text(from_ps)));
  return window;
}

std::vector<StageRow> stage_rows(const RunView& run, const RankGrid& grid,
                                 std::span<const std::uint32_t> stages, TimeWindow window, bool with_memory) {
  const std::vector<MemoryTimeline> memory =
      with_memory ? memory_over_time(run) : std::vector<MemoryTimeline>{};
  std::vector<StageRow> rows;
  for (const std::uint32_t stage : stages) {
    StageRow& row = rows.emplace_back();
    row.stage = stage;
    row.rank = grid.rank({{Axis::pipeline, stage}});
    row.name = fmt::format("stage {}", stage);
    row.note = fmt::format("rank {}", row.rank);
    const RowMaker maker(run, row.rank, window);
    maker.add_passes(row);
    maker.add_lanes(row);
    if (with_memory) row.memory = memory[maker.program()];
  }
  return rows;
}

}  // namespace orrery
