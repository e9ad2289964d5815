#include "sim/step/steady_state.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

namespace orrery {
namespace {

/// A pass of a program: operations in a row, those without a micro-batch apart.
struct PassOps {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  bool computes = false;
};
/// Passes of one kind, in their order.
using PassList = std::vector<PassOps>;

/// Kinds of passes that are told apart, for each chunk: forward, backward, and the gradients of weights on
/// their own.
enum class Direction : std::uint8_t { forward, backward, weights };

Direction direction_of(const Op& op) {
  if (op.phase == Phase::forward) return Direction::forward;
  return op.phase == Phase::weight_gradient ? Direction::weights : Direction::backward;
}

bool of_one_pass(const Op& a, const Op& b) {
  return a.micro_batch == b.micro_batch && a.chunk == b.chunk && direction_of(a) == direction_of(b);
}

/// The pass that begins with operation `i`, which is left behind it.
PassOps pass_at(std::span<const Op> ops, std::uint32_t& i) {
  PassOps pass{i, i, false};
  const Op& first = ops[i];
  for (; i < ops.size(); ++i) {
    if (ops[i].micro_batch < 0) continue;
    if (!of_one_pass(first, ops[i])) break;
    pass.end = i + 1;
    pass.computes |= ops[i].stream == Stream::compute;
  }
  return pass;
}

/// By direction and chunk.
using PassLists = std::vector<PassList>;

std::size_t kind_of(const Op& op, std::size_t chunks) {
  return static_cast<std::size_t>(direction_of(op)) * chunks + static_cast<std::size_t>(op.chunk);
}

/// Lists the passes of the kinds that there are lists for.
void list_passes(std::span<const Op> ops, std::size_t chunks, PassLists& lists) {
  for (std::uint32_t i = 0; i < ops.size();) {
    if (ops[i].micro_batch < 0) {
      ++i;
      continue;
    }
    const std::size_t kind = kind_of(ops[i], chunks);
    const PassOps pass = pass_at(ops, i);
    if (kind < lists.size()) lists[kind].push_back(pass);
  }
}

/// Lists passes if operations of two kinds of passes alternate; passes of one kind still follow each other.
void list_passes_in_turns(std::span<const Op> ops, std::size_t chunks, PassLists& lists) {
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    const std::size_t kind = op.micro_batch < 0 ? lists.size() : kind_of(op, chunks);
    if (kind >= lists.size()) continue;
    PassList& list = lists[kind];
    if (list.empty() || !of_one_pass(ops[list.back().first], op)) list.push_back({i, i, false});
    list.back().end = i + 1;
    list.back().computes |= op.stream == Stream::compute;
  }
}

/// Directions that all micro-batches go through.
std::size_t directions(BackwardSplit split) { return split == BackwardSplit::halves ? 3 : 2; }

/// Returns true for operations of an asynchronous host. It may run ahead of the GPU, so its lag need not be
/// periodic.
bool runs_ahead(const Op& op) { return op.stream == Stream::host && op.dep_begin == op.dep_end; }

/// Returns true if two operations do the same work on the same stream and communicator.
bool alike(const Op& a, const Op& b) {
  return a.kind == b.kind && a.stream == b.stream && a.work == b.work && a.slot == b.slot;
}

/// Finds rounds of passes of each kind, `period_` a period, and the ones to compare. A round ends with the
/// pass of the kind that begins last; it is numbered by that pass in the program which is furthest behind.
class PeriodFinder {
 public:
  PeriodFinder(const Workload& workload, const Plan& plan)
      : workload_(workload),
        chunks_(static_cast<std::size_t>(schedule_shape(plan).chunks)),
        kinds_(directions(splits_backward(plan)) * chunks_),
        period_(steady_state_of(plan).period),
        alike_(steady_state_of(plan).alike * period_),
        side_by_side_(plan.overlap_expert_parallel) {
    for (const Program& program : workload.programs) add(program, plan.micro_batches_per_copy());
  }

  Periods find() {
    if (!enough() || !list_repeats()) return {};
    for (std::size_t p = 0; p < passes_.size(); ++p)
      result_.one.push_back({end_of(p, rounds_ - alike_ - period_), end_of(p, rounds_ - alike_)});
    return std::move(result_);
  }

 private:
  /// Lists the passes of a program, `all` of each kind.
  void add(const Program& program, std::int64_t all) {
    PassLists& lists = passes_.emplace_back(kinds_);
    for (PassList& list : lists) list.reserve(static_cast<std::size_t>(all));
    side_by_side_ ? list_passes_in_turns(program.ops, chunks_, lists)
                  : list_passes(program.ops, chunks_, lists);
    for (const PassList& list : lists) {
      complete_ =
          complete_ && std::ssize(list) == all && all > 0 && std::ranges::all_of(list, &PassOps::computes);
    }
    if (complete_) count_ahead(lists);
  }

  /// Counts how many passes of each kind are done before the round of the first pass of the last kind.
  void count_ahead(const PassLists& lists) {
    const auto last =
        std::ranges::max_element(lists, {}, [](const PassList& list) { return list.front().first; });
    last_.push_back(static_cast<std::size_t>(last - lists.begin()));
    auto& ahead = ahead_.emplace_back(kinds_);
    for (std::size_t kind = 0; kind < kinds_; ++kind) {
      const std::int64_t done =
          std::ranges::lower_bound(lists[kind], last->front().first, {}, &PassOps::first) -
          lists[kind].begin();
      ahead[kind] = std::max<std::int64_t>(done - 1, 0);
      rounds_ = std::min(rounds_, std::ssize(lists[kind]) - ahead[kind]);
    }
  }

  /// Returns true if all programs have enough rounds to compare and one before them, and if all passes
  /// compute, so that each can be compared.
  [[nodiscard]] bool enough() const { return complete_ && rounds_ >= alike_ + period_; }

  /// Operation that ends the round.
  [[nodiscard]] std::uint32_t end_of(std::size_t program, std::int64_t round) const {
    return passes_[program][last_[program]][static_cast<std::size_t>(round)].end;
  }

  /// False where periods do not do the same.
  bool list_repeats() {
    for (std::size_t p = 0; p < passes_.size(); ++p) {
      distance_ = 0;
      for (std::int64_t round = rounds_ - alike_; round < rounds_; ++round) {
        for (std::size_t kind = 0; kind < kinds_; ++kind) {
          if (!list_pass(p, passes_[p][kind], ahead_[p][kind] + round)) return false;
        }
      }
    }
    return true;
  }

  bool list_pass(std::size_t program, const PassList& passes, std::int64_t pass) {
    const auto& ops = workload_.programs[program].ops;
    const auto [begin, end, computes] = passes[static_cast<std::size_t>(pass)];
    const auto [earlier_begin, earlier_end, computed] = passes[static_cast<std::size_t>(pass - period_)];
    std::uint32_t before = earlier_begin;
    for (std::uint32_t now = begin; now < end; ++now) {
      if (!is_of(ops[begin], ops[now])) continue;
      while (before < earlier_end && !is_of(ops[earlier_begin], ops[before])) ++before;
      if (before == earlier_end || !alike(ops[now], ops[before])) return false;
      if (side_by_side_ && !keeps_turns(now - before)) return false;
      result_.repeats.push_back({static_cast<std::uint32_t>(program), now, before++, runs_ahead(ops[now])});
    }
    return before == earlier_end;
  }

  /// Returns true if `op` belongs to the same pass as `first`.
  [[nodiscard]] static bool is_of(const Op& first, const Op& op) {
    return op.micro_batch >= 0 && of_one_pass(first, op);
  }

  /// Returns true if all operations of a program lie equally far behind those a period earlier, so that
  /// passes alternate in the same order.
  bool keeps_turns(std::uint32_t distance) {
    if (distance_ == 0) distance_ = distance;
    return distance_ == distance;
  }

  const Workload& workload_;
  std::size_t chunks_;                            ///< of each program
  std::size_t kinds_;                             ///< of passes in a round
  std::int64_t period_;                           ///< in rounds
  std::int64_t alike_;                            ///< rounds to compare
  bool side_by_side_;                             ///< passes are, of two kinds
  std::vector<PassLists> passes_;                 ///< per program
  std::vector<std::size_t> last_;                 ///< per program: the kind that ends a round
  std::vector<std::vector<std::int64_t>> ahead_;  ///< per program: passes before the first round
  std::int64_t rounds_ = std::numeric_limits<std::int64_t>::max();
  std::uint32_t distance_ = 0;  ///< keeps_turns(): of the program at hand; 0: not known yet
  bool complete_ = true;        ///< there are all passes of each kind, and every one computes
  Periods result_;
};

/// Finds the tasks of the operations of periods.
class PeriodTaskLister {
 public:
  PeriodTaskLister(const Workload& workload, const Periods& periods, const ExpandedGraph& expanded)
      : workload_(workload), periods_(periods), expanded_(expanded), classes_(workload.programs.size()) {
    for (std::uint32_t c = 0; c < expanded.classes(); ++c) classes_[expanded.program[c]].push_back(c);
  }

  PeriodTasks list() {
    for (const auto& [program, now, before, host_ahead] : periods_.repeats) {
      auto& repeats = host_ahead ? result_.host_repeats : result_.repeats;
      for (const std::uint32_t c : classes_[program])
        repeats.push_back({expanded_.task(c, now), expanded_.task(c, before)});
    }
    for (std::uint32_t c = 0; c < expanded_.classes(); ++c) {
      list_beginning(c);
      list_releases(c);
    }
    result_.end = expanded_.task(0, periods_.one[expanded_.program.front()].last - 1);
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::span<const Op> ops_of(std::uint32_t cls) const {
    return workload_.programs[expanded_.program[cls]].ops;
  }
  [[nodiscard]] const RunPart::Ops& period_of(std::uint32_t cls) const {
    return periods_.one[expanded_.program[cls]];
  }

  void list_beginning(std::uint32_t cls) {
    const std::span<const Op> ops = ops_of(cls);
    result_.before.push_back(expanded_.task(cls, period_of(cls).first - 1));
    for (std::uint32_t i = 0; i < ops.size() && ops[i].micro_batch < 0; ++i) {
      if (ops[i].kind == Op::Kind::communicate) result_.first_messages.push_back(expanded_.task(cls, i));
    }
  }

  void list_releases(std::uint32_t cls) {
    const std::span<const Op> ops = ops_of(cls);
    const ExpandedGraph::Place place = expanded_.place(cls);
    const ExpandedGraph::OpTasks* const tasks = expanded_.ops[expanded_.program[cls]].data();
    const auto host_task = [&](std::uint32_t op) {
      return runs_ahead(ops[op]) ? place.task(tasks[op]) : kNone;
    };
    std::uint32_t i = period_of(cls).last;
    std::uint32_t before = i;
    while (before > 0 && ops[before - 1].stream != Stream::host) --before;
    std::uint32_t host = before > 0 ? host_task(before - 1) : kNone;
    for (; i < ops.size(); ++i) {
      const bool waits = ops[i].kind != Op::Kind::communicate && !runs_ahead(ops[i]);
      if (waits && host != kNone) result_.releases.push_back({place.task(tasks[i]), host});
      if (ops[i].stream == Stream::host) host = host_task(i);
    }
  }

  const Workload& workload_;
  const Periods& periods_;
  const ExpandedGraph& expanded_;
  std::vector<std::vector<std::uint32_t>> classes_;  ///< by program
  PeriodTasks result_;
};

/// Returns how much later a task finishes than its counterpart a period earlier.
Picoseconds shift_of(PeriodTasks::Pair pair, const std::vector<Picoseconds>& times) {
  return times[pair.task] - times[pair.earlier];
}

/// Returns true if the messages that a step sends before its first pass (models that travel while it
/// computes) arrived before the period on every rank. A message still in flight shares links with passes and
/// delays the update, which it might not do if there were more passes.
bool first_messages_came_before(const PeriodTasks& tasks, const Timeline& timeline) {
  Picoseconds came = 0;
  for (const std::uint32_t task : tasks.first_messages) came = std::max(came, timeline.finish_ps[task]);
  return std::ranges::none_of(tasks.before,
                              [&](std::uint32_t task) { return timeline.finish_ps[task] < came; });
}

/// Returns true if an asynchronous host, whose lead over the GPU changes, released an operation after the
/// period: after some more periods it would not.
bool host_holds_up_later(const PeriodTasks& tasks, const RunView& run, Picoseconds shift) {
  const std::vector<Picoseconds>& start = run.timeline.start_ps;
  const std::vector<Picoseconds>& finish = run.timeline.finish_ps;
  const auto& lag = run.expanded.graph.lag;
  const bool falls_behind_less = std::ranges::any_of(
      tasks.host_repeats, [&](PeriodTasks::Pair pair) { return shift_of(pair, finish) < shift; });
  return falls_behind_less && std::ranges::any_of(tasks.releases, [&](PeriodTasks::Pair pair) {
           return start[pair.task] == finish[pair.earlier] + lag[pair.task];
         });
}

/// Returns true if the periods at the end of a run differ only by that shift in time, so that more of them
/// change nothing else.
bool differ_by(Picoseconds shift, const PeriodTasks& tasks, const RunView& run) {
  const Timeline& timeline = run.timeline;
  const auto shifted = [&](PeriodTasks::Pair pair) {
    return shift_of(pair, timeline.finish_ps) == shift && shift_of(pair, timeline.start_ps) == shift;
  };
  const auto is_stable = [&](PeriodTasks::Pair pair) { return shift_of(pair, timeline.finish_ps) <= shift; };
  return first_messages_came_before(tasks, timeline) && std::ranges::all_of(tasks.repeats, shifted) &&
         std::ranges::all_of(tasks.host_repeats, is_stable) && !host_holds_up_later(tasks, run, shift);
}

}  // namespace

SteadyState steady_state_of(const Plan& plan) { return schedule_of(plan).steady_state(schedule_shape(plan)); }

Periods find_periods(const Workload& workload, const Plan& plan) {
  return PeriodFinder(workload, plan).find();
}

std::vector<std::uint64_t> calls_in_period(const Workload& workload, const Periods& periods,
                                           const Channels& channels) {
  std::vector<std::uint64_t> calls(channels.calls.size(), 0);
  // This is the end that counts a channel, a slot of a program. A channel may have other ends in the same
  // program, such as send and receive on a ring.
  std::vector<std::size_t> counting(channels.channels.size(), kNone);
  for (std::size_t p = 0; p < workload.programs.size(); ++p) {
    for (std::uint32_t i = periods.one[p].first; i < periods.one[p].last; ++i) {
      const Op& op = workload.programs[p].ops[i];
      if (op.kind == Op::Kind::compute) continue;
      const std::size_t end = p * workload.slots + op.slot;
      const std::uint32_t channel = channels.channel_of[end];
      if (counting[channel] == kNone) counting[channel] = end;
      if (counting[channel] == end) ++calls[channels.call(channel, request_of(op))];
    }
  }
  return calls;
}

PeriodTasks period_tasks(const Workload& workload, const Periods& periods, const ExpandedGraph& expanded) {
  return PeriodTaskLister(workload, periods, expanded).list();
}

std::optional<StepAndPeriod> measure_period(const RunView& run, const Periods& periods,
                                            const PeriodTasks& tasks) {
  const std::vector<Picoseconds>& finish = run.timeline.finish_ps;
  const RunPart part{periods.one, finish[tasks.before.front()], finish[tasks.end]};
  if (!differ_by(part.end - part.begin, tasks, run)) return {};
  return measure(run, part);
}

}  // namespace orrery
