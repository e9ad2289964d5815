#include "sim/run/periods.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace orrery {
namespace {

/// The passes of a program in one direction.
class Passes {
 public:
  struct Pass {
    std::uint32_t first = 0;  ///< operation
    std::uint32_t last = kNone;
    bool computes = false;
  };

  Passes(std::int64_t micro_batches, std::int64_t chunks)
      : chunks_(chunks), number_(static_cast<std::size_t>(micro_batches * chunks), kNone) {}

  /// Adds the next operation of the program; the one before it in its pass, or kNone.
  std::uint32_t add(std::uint32_t i, const Op& op) {
    std::uint32_t& number = number_[static_cast<std::size_t>(op.micro_batch * chunks_ + op.chunk)];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(passes_.size());
      passes_.push_back({i});
    }
    Pass& pass = passes_[number];
    pass.computes = pass.computes || op.stream == Stream::compute;
    return std::exchange(pass.last, i);
  }

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(passes_.size()); }
  [[nodiscard]] const Pass& operator[](std::int64_t k) const { return passes_[static_cast<std::size_t>(k)]; }
  /// How many compute.
  [[nodiscard]] std::int64_t computing() const { return std::ranges::count(passes_, true, &Pass::computes); }
  /// How many begin before operation `op`.
  [[nodiscard]] std::int64_t before(std::uint32_t op) const {
    return std::ranges::lower_bound(passes_, op, {}, &Pass::first) - passes_.begin();
  }

 private:
  std::int64_t chunks_;
  std::vector<std::uint32_t> number_;  ///< [micro-batch * chunks + chunk]
  std::vector<Pass> passes_;           ///< in the order in which they begin
};

/// A host that waits for nobody may need less for a period than the GPU: it falls behind ever less.
bool runs_ahead(const Op& op) { return op.stream == Stream::host && op.dep_begin == op.dep_end; }

/// Whether two operations ask for the same.
bool alike(const Op& a, const Op& b) {
  return a.kind == b.kind && a.stream == b.stream && a.work == b.work && a.slot == b.slot;
}

/// Pairs of a forward and a backward pass, so many a period, and what is to be compared of them.
class PeriodFinder {
 public:
  PeriodFinder(const Workload& workload, const Plan& plan)
      : workload_(workload),
        period_(rhythm_of(plan).period * plan.virtual_stages),
        alike_(rhythm_of(plan).alike * period_) {
    for (const Program& program : workload.programs) {
      Passes& forward = forward_.emplace_back(plan.micro_batches(), plan.virtual_stages);
      Passes& backward = backward_.emplace_back(plan.micro_batches(), plan.virtual_stages);
      std::vector<std::uint32_t>& earlier = earlier_.emplace_back(program.ops.size());
      for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
        const Op& op = program.ops[i];
        if (op.micro_batch >= 0) earlier[i] = (op.phase == Phase::forward ? forward : backward).add(i, op);
      }
      // The first backward pass follows the last one of the warm-up and the forward pass of its pair.
      const std::int64_t ahead = backward.size() == 0 ? 0 : forward.before(backward[0].first);
      warm_up_.push_back(std::max<std::int64_t>(ahead - 1, 0));
      const std::int64_t all = plan.micro_batches() * plan.virtual_stages;
      complete_ = complete_ && forward.computing() == all && backward.computing() == all;
      pairs_ = std::min({pairs_, forward.size() - warm_up_.back(), backward.size()});
    }
  }

  Periods find() {
    if (!enough() || !list_repeats()) return {};
    for (std::size_t p = 0; p < warm_up_.size(); ++p)
      result_.one.push_back({end_of(p, pairs_ - alike_ - period_), end_of(p, pairs_ - alike_)});
    return std::move(result_);
  }

 private:
  /// Whether there are as many as are to be compared, and one before them, in all programs, and all passes
  /// compute, so that there is something to compare in each.
  [[nodiscard]] bool enough() const { return complete_ && pairs_ >= alike_ + period_; }

  /// Operation that ends the pair.
  [[nodiscard]] std::uint32_t end_of(std::size_t program, std::int64_t pair) const {
    return backward_[program][pair].last + 1;
  }

  /// False where periods do not do the same.
  bool list_repeats() {
    for (std::size_t p = 0; p < warm_up_.size(); ++p) {
      for (std::int64_t pair = pairs_ - alike_; pair < pairs_; ++pair) {
        if (!list_pass(p, forward_[p], warm_up_[p] + pair) || !list_pass(p, backward_[p], pair)) return false;
      }
    }
    return true;
  }

  bool list_pass(std::size_t program, const Passes& passes, std::int64_t pass) {
    const auto& ops = workload_.programs[program].ops;
    const auto& earlier = earlier_[program];
    std::uint32_t now = passes[pass].last;
    std::uint32_t before = passes[pass - period_].last;
    for (; now != kNone && before != kNone; now = earlier[now], before = earlier[before]) {
      if (!alike(ops[now], ops[before])) return false;
      result_.repeats.push_back({static_cast<std::uint32_t>(program), now, before, runs_ahead(ops[now])});
    }
    return now == before;
  }

  const Workload& workload_;
  std::int64_t period_;          ///< in pairs of passes
  std::int64_t alike_;           ///< pairs to compare
  std::vector<Passes> forward_;  ///< per program
  std::vector<Passes> backward_;
  std::vector<std::vector<std::uint32_t>> earlier_;  ///< [program][op]: the one before it in its pass
  std::vector<std::int64_t> warm_up_;                ///< per program: forward passes before the first pair
  std::int64_t pairs_ = std::numeric_limits<std::int64_t>::max();
  bool complete_ = true;  ///< every pass computes
  Periods result_;
};

/// Whether the periods at the end of a run differ by a shift in time alone, so that more of them change
/// nothing else.
class SteadyState {
 public:
  SteadyState(const RunView& run, const Periods& periods)
      : run_(run), periods_(periods), classes_(run.workload.programs.size()) {
    for (std::uint32_t c = 0; c < run.expanded.classes(); ++c) classes_[run.expanded.program[c]].push_back(c);
  }

  /// A period, which takes as long as the shift; nothing if there is no such shift.
  [[nodiscard]] std::optional<RunPart> period() {
    RunPart part;
    part.ops = periods_.one;
    const std::uint32_t program = run_.expanded.program.front();
    part.begin = finish(0, part.ops[program].first - 1);
    part.end = finish(0, part.ops[program].last - 1);
    shift_ = part.end - part.begin;
    if (!first_messages_came_before(part)) return {};
    for (const Periods::Repeat& repeat : periods_.repeats) {
      if (!shifted(repeat)) return {};
    }
    if (host_holds_up_later(part)) return {};
    return part;
  }

 private:
  [[nodiscard]] Picoseconds finish(std::uint32_t cls, std::uint32_t op) const {
    return run_.timeline.finish_ps[run_.expanded.task(cls, op)];
  }

  /// Whether what a step sends before its first pass, models that travel while it computes, came before
  /// the period on every rank. What is still on its way shares links with passes, and holds up the update,
  /// which it may not with more of them.
  [[nodiscard]] bool first_messages_came_before(const RunPart& part) const {
    Picoseconds begin = part.begin;
    Picoseconds came = 0;
    for (std::uint32_t c = 0; c < run_.expanded.classes(); ++c) {
      const std::uint32_t program = run_.expanded.program[c];
      const auto& ops = run_.workload.programs[program].ops;
      begin = std::min(begin, finish(c, part.ops[program].first - 1));
      for (std::uint32_t i = 0; i < ops.size() && ops[i].micro_batch < 0; ++i) {
        if (ops[i].kind == Op::Kind::communicate) came = std::max(came, finish(c, i));
      }
    }
    return came <= begin;
  }

  [[nodiscard]] bool shifted(const Periods::Repeat& repeat) {
    const bool ahead = repeat.host_ahead;
    const auto& ops = run_.expanded.ops[repeat.program];
    for (const std::uint32_t c : classes_[repeat.program]) {
      const std::uint32_t task = run_.expanded.task(c, ops[repeat.now]);
      const std::uint32_t earlier = run_.expanded.task(c, ops[repeat.before]);
      const Picoseconds finish = run_.timeline.finish_ps[task] - run_.timeline.finish_ps[earlier];
      const Picoseconds start = run_.timeline.start_ps[task] - run_.timeline.start_ps[earlier];
      if (ahead ? finish > shift_ : finish != shift_ || start != shift_) return false;
      slower_host_ = slower_host_ || (ahead && finish < shift_);
    }
    return true;
  }

  /// The host's latest own operation before operation `i`, if it waits for nobody.
  static std::uint32_t host_before(std::span<const Op> ops, std::uint32_t i) {
    while (i > 0 && ops[i - 1].stream != Stream::host) --i;
    return i > 0 && runs_ahead(ops[i - 1]) ? i - 1 : kNone;
  }

  /// Whether a host that falls behind ever less released an operation after the period: it would not
  /// after some more of them.
  [[nodiscard]] bool host_holds_up_later(const RunPart& part) const {
    if (!slower_host_) return false;
    const TaskGraph& graph = run_.expanded.graph;
    for (std::uint32_t c = 0; c < run_.expanded.classes(); ++c) {
      const std::uint32_t program = run_.expanded.program[c];
      const auto& ops = run_.workload.programs[program].ops;
      std::uint32_t host = host_before(ops, part.ops[program].last);
      for (std::uint32_t i = part.ops[program].last; i < ops.size(); ++i) {
        const bool waits = ops[i].kind != Op::Kind::communicate && !runs_ahead(ops[i]);
        if (host != kNone && waits) {
          const std::uint32_t task = run_.expanded.task(c, i);
          if (run_.timeline.start_ps[task] == finish(c, host) + graph.lag[task]) return true;
        }
        if (ops[i].stream == Stream::host) host = runs_ahead(ops[i]) ? i : kNone;
      }
    }
    return false;
  }

  const RunView& run_;
  const Periods& periods_;
  std::vector<std::vector<std::uint32_t>> classes_;  ///< by program
  Picoseconds shift_ = 0;
  bool slower_host_ = false;
};

}  // namespace

Rhythm rhythm_of(const Plan& plan) {
  if (plan.virtual_stages > 1) return {plan.pipeline_parallel, 2 * plan.pipeline_parallel, 1};
  return {1, plan.pipeline_parallel, 2};
}

Periods find_periods(const Workload& workload, const Plan& plan) {
  return PeriodFinder(workload, plan).find();
}

std::vector<std::uint64_t> calls_in_period(const Workload& workload, const Periods& periods,
                                           const Channels& channels) {
  std::vector<std::uint64_t> calls(channels.calls.size(), 0);
  std::vector<bool> counted(channels.channels.size(), false);  // by the program at the other end
  for (std::size_t p = 0; p < workload.programs.size(); ++p) {
    std::vector<bool> here(channels.channels.size(), false);
    for (std::uint32_t i = periods.one[p].first; i < periods.one[p].last; ++i) {
      const Op& op = workload.programs[p].ops[i];
      if (op.kind == Op::Kind::compute) continue;
      const std::uint32_t channel = channels.channel_of[p * workload.slots + op.slot];
      if (counted[channel]) continue;
      here[channel] = true;
      ++calls[channels.call(channel, request_of(op))];
    }
    for (std::size_t c = 0; c < here.size(); ++c) counted[c] = counted[c] || here[c];
  }
  return calls;
}

std::optional<WholeAndPart> measure_period(const RunView& run, const Periods& periods) {
  const std::optional<RunPart> period = SteadyState(run, periods).period();
  if (!period) return {};
  return measure(run, *period);
}

}  // namespace orrery
