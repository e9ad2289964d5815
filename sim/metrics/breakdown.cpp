#include "sim/metrics/breakdown.hpp"

#include <algorithm>
#include <limits>

#include "sim/metrics/run_layout.hpp"

namespace orrery {
namespace {

constexpr std::size_t kDimensions = kDimensionCount;
constexpr Picoseconds kNotYet = std::numeric_limits<Picoseconds>::max();

constexpr std::array<std::uint8_t, kDimensions> kDimensionOf{0, 2, 3, 4, 1, 5};  // by kWaitPriority

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
      now_ = {kNotYet, kNotYet};
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

/// Holds the times of a class in the whole run, and in a part of it.
struct ClassParts {
  ClassTimes whole;
  ClassTimes part;
};

/// Sweeps over one class: compute intervals in order, and the communication in flight in the gaps.
class ClassSweep {
 public:
  /// @param waits  where they are listed, if anywhere
  ClassSweep(const Program& program, const ProgramLayout& layout, const Interval* times,
             std::vector<Wait>* waits = nullptr)
      : program_(program), layout_(layout), times_(times), waits_(waits) {
    for (std::size_t s = 1; s < layout.streams.size(); ++s) {
      if (s == static_cast<std::size_t>(Stream::host)) continue;
      if (!layout.streams[s].empty()) cursors_.emplace_back(layout.streams[s], times, layout.priority);
    }
  }

  ClassParts run(const RunView& run, RunPart::Ops part) {
    Picoseconds now = 0;
    ClassTimes before;
    ClassTimes within;
    for (const std::uint32_t op : layout_.streams[static_cast<std::size_t>(Stream::compute)]) {
      if (op >= part.first && !begun_) before = begin();
      if (op >= part.last && !ended_) within = end();
      const Interval time = times_[op];
      if (time.start > now) wait(now, time.start, host_begin(op, now));
      work(run, program_.ops[op], time.finish - time.start);
      now = time.finish;
    }
    if (run.timeline.makespan_ps > now) wait(now, run.timeline.makespan_ps, kNotYet);
    if (!begun_) before = begin();
    if (!ended_) within = end();
    within.add(before, -1);
    return {totals_, within};
  }

 private:
  const ClassTimes& begin() {
    begun_ = true;
    return totals_;
  }
  const ClassTimes& end() {
    ended_ = true;
    return totals_;
  }

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
      if (run.figures.kernels) run.kernels.of(op).split(duration - launch, totals_.kernels);
    }
  }

  /// Returns true if the host's operation before `op` released it, not one of its other predecessors.
  [[nodiscard]] bool host_released(std::uint32_t op) const {
    const std::uint32_t host = layout_.host[op];
    return host != ProgramLayout::kNoHost && times_[op].start == times_[host].finish + times_[op].lag;
  }

  /// From when on the operation, of a stream free at `now`, waits for the host alone: the host works without
  /// a pause from then on. kNotYet if something else released it.
  [[nodiscard]] Picoseconds host_begin(std::uint32_t op, Picoseconds now) const {
    if (!host_released(op)) return kNotYet;
    std::uint32_t host = layout_.host[op];
    while (times_[host].start > now && host_released(host)) host = layout_.host[host];
    return times_[host].start;
  }

  /// Attributes a wait to the communication in flight; but from `host_begin` on the host keeps the stream
  /// waiting, not data-parallel communication. With nothing in flight the wait is a bubble, and from then on
  /// a wait for the host; but if a data-parallel communication comes next, for whose partners the rank waits,
  /// it counts as that.
  void wait(Picoseconds now, Picoseconds end, Picoseconds host_begin) {
    while (now < std::min(end, host_begin)) now = attribute(now, std::min(end, host_begin), false);
    while (now < end) now = attribute(now, end, true);
  }

  /// The time from `now` to at most `end` in which the same communication is in flight. Returns where it
  /// ends.
  Picoseconds attribute(Picoseconds now, Picoseconds end, bool by_host) {
    std::uint8_t best = kDimensions;
    Picoseconds next = end;
    Picoseconds best_finish = end;
    std::uint8_t coming = kDimensions;
    for (StreamCursor& cursor : cursors_) {
      cursor.advance(now);
      if (cursor.priority() == 0 && cursor.now().start <= now) {  // whatever else is in flight
        best = 0;
        best_finish = cursor.now().finish;
        break;
      }
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
    constexpr std::uint8_t kData = kWaitPriority[static_cast<std::size_t>(Dimension::data)];
    if (best == kDimensions && coming == kData && !by_host) best = kData;
    if (best == kData && by_host) best = kDimensions;
    Picoseconds& idle = by_host ? totals_.host : totals_.bubble;
    (best == kDimensions ? idle : totals_.exposed[kDimensionOf[best]]) += next - now;
    if (waits_ != nullptr) {
      const WaitCause without = by_host ? WaitCause::host : WaitCause::bubble;
      list_wait({now, next, best == kDimensions ? without : static_cast<WaitCause>(kDimensionOf[best])});
    }
    return next;
  }

  void list_wait(const Wait& wait) {
    if (!waits_->empty() && waits_->back().finish_ps == wait.start_ps && waits_->back().cause == wait.cause) {
      waits_->back().finish_ps = wait.finish_ps;
    } else {
      waits_->push_back(wait);
    }
  }

  const Program& program_;
  const ProgramLayout& layout_;
  const Interval* times_;
  std::vector<Wait>* waits_;
  std::vector<StreamCursor> cursors_;
  bool begun_ = false;  ///< the part
  bool ended_ = false;
  ClassTimes totals_;
};

/// Copies the times of some classes of a program to [class][op]. Neighbouring classes share cache
/// lines of the timeline, so several at once cost little more than one.
void gather(const RunView& run, std::size_t program, std::span<const std::uint32_t> classes,
            std::vector<Interval>& out) {
  const ExpandedGraph& expanded = run.expanded;
  const auto& ops = expanded.ops[program];
  const auto& lag = expanded.graph.lag;
  out.resize(classes.size() * ops.size());
  for (std::size_t op = 0; op < ops.size(); ++op) {
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const std::uint32_t task = expanded.task(classes[k], ops[op]);
      out[k * ops.size() + op] = {run.timeline.start_ps[task], run.timeline.finish_ps[task],
                                  lag.empty() ? 0 : lag[task]};
    }
  }
}

}  // namespace

Exposures measure_exposure(const RunView& run, const RunPart& part) {
  constexpr std::size_t kTileIntervals = 1 << 17;  // 2 MiB of times at once
  Exposures out{std::vector<ClassTimes>(run.expanded.classes()),
                std::vector<ClassTimes>(run.expanded.classes())};
  std::vector<Interval> times;
  for (std::size_t p = 0; p < run.layout.programs.size(); ++p) {
    const ProgramLayout& layout = run.layout.programs[p];
    const std::size_t ops = run.expanded.ops[p].size();
    const std::size_t tile = std::clamp<std::size_t>(kTileIntervals / std::max<std::size_t>(ops, 1), 1, 8);
    for (std::size_t first = 0; first < layout.classes.size(); first += tile) {
      const std::size_t count = std::min(tile, layout.classes.size() - first);
      const auto some = std::span(layout.classes).subspan(first, count);
      gather(run, p, some, times);
      for (std::size_t k = 0; k < count; ++k) {
        const ClassParts one =
            ClassSweep(run.workload.programs[p], layout, times.data() + k * ops).run(run, part.ops[p]);
        out.whole[some[k]] = one.whole;
        out.part[some[k]] = one.part;
      }
    }
  }
  return out;
}

std::vector<Wait> waits_of(const RunView& run, std::uint32_t rank_class) {
  const std::uint32_t program = run.expanded.program[rank_class];
  std::vector<Interval> times;
  gather(run, program, std::span(&rank_class, 1), times);
  std::vector<Wait> waits;
  ClassSweep(run.workload.programs[program], run.layout.programs[program], times.data(), &waits).run(run, {});
  return waits;
}

Exposure sum_up(std::span<const ClassTimes> classes, std::span<const std::uint32_t> multiplicity,
                Picoseconds makespan) {
  Exposure out;
  Breakdown& b = out.breakdown;
  Int128 optimizer_host = 0;
  Int128 busy = 0;
  Int128 ranks = 0;
  Picoseconds least_busy = kNotYet;
  KernelTimes kernels{};
  bool has_kernels = !classes.empty();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const Int128 times = multiplicity[c];
    const ClassTimes& one = classes[c];
    b.compute_ps += one.compute * times;
    b.optimizer_ps += one.optimizer * times;
    b.host_ps += one.host * times;
    b.bubble_ps += one.bubble * times;
    optimizer_host += one.optimizer_host * times;
    for (std::size_t d = 0; d < kDimensions; ++d) b.exposed_ps[d] += one.exposed[d] * times;
    for (std::size_t k = 0; k < one.kernels.size(); ++k) kernels[k] += one.kernels[k] * times;
    has_kernels = has_kernels && (one.compute == 0 || !one.kernels.empty());
    busy += one.busy() * times;
    least_busy = std::min(least_busy, one.busy());
    ranks += times;
  }
  if (has_kernels) out.kernels_ps = kernels;
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
