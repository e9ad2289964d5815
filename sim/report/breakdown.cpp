#include "sim/report/breakdown.hpp"

#include <algorithm>
#include <limits>

#include "sim/report/stream_ops.hpp"

namespace orrery {
namespace {

constexpr std::size_t kDimensions = kDimensionCount;
constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();

/// Which of several communications in flight a wait belongs to; lower wins.
constexpr std::array<std::uint8_t, kDimensions> kPriority{0, 4, 1, 2, 3};  // by Dimension
constexpr std::array<std::uint8_t, kDimensions> kDimensionOf{0, 2, 3, 4, 1};

constexpr std::uint32_t kNoHost = 0xffffffff;

/// What the sweep needs to know of a program, shared by its classes.
struct ProgramView {
  const Program* program = nullptr;
  StreamOps streams;
  std::vector<std::uint8_t> priority;  // per op; of communication
  std::vector<std::uint32_t> host;     // per op: the host operation before it, or kNoHost
};

ProgramView view_program(const Workload& workload, const Program& program) {
  ProgramView view{&program, stream_ops(program, workload.streams), {}, {}};
  std::uint32_t host = kNoHost;
  view.priority.reserve(program.ops.size());
  for (const Op& op : program.ops) {
    view.host.push_back(host);
    if (op.stream == Stream::host) host = static_cast<std::uint32_t>(view.host.size() - 1);
    const bool communicates = op.kind == Op::Kind::communicate;
    view.priority.push_back(
        communicates ? kPriority[static_cast<std::size_t>(workload.messages[op.work].dimension)] : 0);
  }
  return view;
}

struct Interval {
  Picoseconds start = 0;
  Picoseconds finish = 0;
  Picoseconds lag = 0;  ///< of compute: least time after the host operation before it
};

/// Steps through the intervals of one communication stream.
class StreamCursor {
 public:
  StreamCursor(const std::vector<std::uint32_t>& ops, const Interval* times,
               const std::vector<std::uint8_t>& priority)
      : next_(ops.data()), end_(next_ + ops.size()), times_(times), priority_(priority.data()) {
    load();
  }

  /// Makes the first interval that ends after `time` the current one.
  void advance(Picoseconds time) {
    while (now_.finish <= time) load();
  }
  [[nodiscard]] const Interval& now() const { return now_; }
  [[nodiscard]] std::uint8_t priority() const { return current_; }

 private:
  void load() {
    if (next_ == end_) {
      now_ = {kNever, kNever};
      return;
    }
    now_ = times_[*next_];
    current_ = priority_[*next_++];
  }

  const std::uint32_t* next_;
  const std::uint32_t* end_;
  const Interval* times_;
  const std::uint8_t* priority_;
  Interval now_;
  std::uint8_t current_ = 0;
};

/// The sweep over one class: compute intervals in order, and what is in flight in the gaps.
class ClassSweep {
 public:
  ClassSweep(const ProgramView& view, const Interval* times) : view_(view), times_(times) {
    for (std::size_t s = 1; s < view.streams.size(); ++s) {
      if (s == static_cast<std::size_t>(Stream::host)) continue;
      if (!view.streams[s].empty()) cursors_.emplace_back(view.streams[s], times, view.priority);
    }
  }

  ClassTimes run(const RunView& run, RunPart::Ops part) {
    Picoseconds now = 0;
    ClassTimes before;
    bool begun = false;
    for (const std::uint32_t op : view_.streams[static_cast<std::size_t>(Stream::compute)]) {
      if (!begun && op >= part.first) before = totals_;
      begun = begun || op >= part.first;
      if (op >= part.last) {
        totals_.add(before, -1);
        return totals_;
      }
      const Interval time = times_[op];
      if (time.start > now) wait(now, time.start, host_begin(op, now));
      work(run, view_.program->ops[op], time.finish - time.start);
      now = time.finish;
    }
    if (run.timeline.makespan_ps > now) wait(now, run.timeline.makespan_ps, kNever);
    totals_.add(before, -1);
    return totals_;
  }

 private:
  void work(const RunView& run, const Op& op, Picoseconds duration) {
    const bool pass = op.kind == Op::Kind::pass;
    const ComputePrice& price = pass ? run.pass_prices[op.work] : run.compute_prices[op.work];
    if (pass) {  // the rest of it is tensor collectives
      totals_.exposed[static_cast<std::size_t>(Dimension::tensor)] += duration - price.duration_ps;
      duration = price.duration_ps;
    }
    const Picoseconds launch = std::min(price.launch_ps, duration);
    totals_.host += launch;
    totals_.launch += launch;
    if (op.phase == Phase::optimize) {
      totals_.optimizer += duration - launch;
      totals_.optimizer_host += launch;
    } else {
      totals_.compute += duration - launch;
    }
  }

  /// Whether the host's operation before `op` released it, not one of its other predecessors.
  [[nodiscard]] bool host_released(std::uint32_t op) const {
    const std::uint32_t host = view_.host[op];
    return host != kNoHost && times_[op].start == times_[host].finish + times_[op].lag;
  }

  /// From when on the operation, of a stream free at `now`, waits for the host alone: the host works without
  /// a pause from then on. kNever if something else released it.
  [[nodiscard]] Picoseconds host_begin(std::uint32_t op, Picoseconds now) const {
    if (!host_released(op)) return kNever;
    std::uint32_t host = view_.host[op];
    while (times_[host].start > now && host_released(host)) host = view_.host[host];
    return times_[host].start;
  }

  /// A wait with nothing in flight is a bubble, and from `host_begin` on a wait for the host; but where a
  /// data-parallel communication comes next, for whose partners the rank waits, it belongs to that.
  void wait(Picoseconds now, Picoseconds end, Picoseconds host_begin) {
    while (now < end) {
      std::uint8_t best = kDimensions;
      Picoseconds next = now < host_begin ? std::min(end, host_begin) : end;
      Picoseconds best_finish = end;
      std::uint8_t coming = kDimensions;
      for (StreamCursor& cursor : cursors_) {
        cursor.advance(now);
        if (cursor.now().start > now) {
          if (cursor.now().start < next ||
              (cursor.now().start == next && next < end && cursor.priority() < coming))
            coming = cursor.priority();
          next = std::min(next, cursor.now().start);
        } else if (cursor.priority() < best) {
          best = cursor.priority();
          best_finish = cursor.now().finish;
        }
      }
      next = std::min(next, best_finish);
      if (best == kDimensions && coming == kPriority[static_cast<std::size_t>(Dimension::data)])
        best = coming;
      Picoseconds& idle = now < host_begin ? totals_.bubble : totals_.host;
      Picoseconds& part = best == kDimensions ? idle : totals_.exposed[kDimensionOf[best]];
      part += next - now;
      now = next;
    }
  }

  const ProgramView& view_;
  const Interval* times_;
  std::vector<StreamCursor> cursors_;
  ClassTimes totals_;
};

/// Classes of each program, by position: their tasks of one operation lie side by side.
std::vector<std::vector<std::uint32_t>> classes_by_program(const RunView& run) {
  std::vector<std::vector<std::uint32_t>> out(run.workload.programs.size());
  for (std::uint32_t c = 0; c < run.expanded.classes(); ++c) out[run.expanded.program[c]].push_back(c);
  for (auto& classes : out) {
    std::sort(classes.begin(), classes.end(), [&run](std::uint32_t a, std::uint32_t b) {
      return run.expanded.position[a] < run.expanded.position[b];
    });
  }
  return out;
}

/// Copies the times of some classes of a program to [class][op]. Neighbouring classes share cache
/// lines of the timeline, so several at once cost little more than one.
void gather(const RunView& run, std::span<const std::uint32_t> classes, std::size_t ops,
            std::vector<Interval>& out) {
  out.resize(classes.size() * ops);
  for (std::uint32_t op = 0; op < ops; ++op) {
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const std::uint32_t task = run.expanded.task(run.workload, classes[k], op);
      const auto& lag = run.expanded.graph.lag;
      out[k * ops + op] = {run.timeline.start_ps[task], run.timeline.finish_ps[task],
                           lag.empty() ? 0 : lag[task]};
    }
  }
}

}  // namespace

std::vector<ClassTimes> measure_exposure(const RunView& run, const RunPart& part) {
  constexpr std::size_t kTileIntervals = 1 << 17;  // 2 MiB of times at once
  std::vector<ClassTimes> out(run.expanded.classes());
  std::vector<Interval> times;
  const auto classes = classes_by_program(run);
  for (std::size_t p = 0; p < classes.size(); ++p) {
    const ProgramView view = view_program(run.workload, run.workload.programs[p]);
    const std::size_t ops = view.program->ops.size();
    const std::size_t tile = std::clamp<std::size_t>(kTileIntervals / std::max<std::size_t>(ops, 1), 1, 8);
    for (std::size_t first = 0; first < classes[p].size(); first += tile) {
      const std::size_t count = std::min(tile, classes[p].size() - first);
      const auto some = std::span(classes[p]).subspan(first, count);
      gather(run, some, ops, times);
      for (std::size_t k = 0; k < count; ++k) {
        out[some[k]] = ClassSweep(view, times.data() + k * ops).run(run, part.ops[p]);
      }
    }
  }
  return out;
}

Exposure sum_up(std::span<const ClassTimes> classes, std::span<const std::uint32_t> multiplicity,
                Picoseconds makespan) {
  Exposure out;
  Breakdown& b = out.breakdown;
  Int128 optimizer_host = 0;
  Int128 busy = 0;
  Int128 ranks = 0;
  Picoseconds least_busy = kNever;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const Int128 times = multiplicity[c];
    const ClassTimes& one = classes[c];
    b.compute_ps += one.compute * times;
    b.optimizer_ps += one.optimizer * times;
    b.host_ps += one.host * times;
    b.bubble_ps += one.bubble * times;
    optimizer_host += one.optimizer_host * times;
    for (std::size_t d = 0; d < kDimensions; ++d) b.exposed_ps[d] += one.exposed[d] * times;
    busy += one.busy() * times;
    least_busy = std::min(least_busy, one.busy());
    ranks += times;
  }
  const auto exposed = [&b](Dimension d) { return b.exposed_ps[static_cast<std::size_t>(d)]; };
  const Int128 passes = b.compute_ps + b.host_ps - optimizer_host + exposed(Dimension::tensor) +
                        exposed(Dimension::context) + exposed(Dimension::expert);
  if (passes > 0)
    out.pipeline_bubble_fraction = static_cast<double>(b.bubble_ps) / static_cast<double>(passes);
  if (makespan > 0 && ranks > 0) {
    out.gpu_utilization_mean = static_cast<double>(busy) / static_cast<double>(Int128{makespan} * ranks);
    out.gpu_utilization_min = static_cast<double>(least_busy) / static_cast<double>(makespan);
  }
  return out;
}

}  // namespace orrery
