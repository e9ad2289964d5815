#include "sim/tasks/expand.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "orrery/error.hpp"
#include "sim/matching/families.hpp"
#include "sim/symmetry/class_positions.hpp"
#include "sim/tasks/host_lag.hpp"
#include "sim/tasks/interference.hpp"

namespace orrery {
namespace {

/// Bytes per task (cost, lag, start, finish, ranges) and per edge while the engine runs.
constexpr std::int64_t kTaskBytes = 48;
constexpr std::int64_t kEdgeBytes = 8;
constexpr std::int64_t kMostBytes = 20'000'000'000;

class Expansion {
 public:
  Expansion(const Workload& workload, const Channels& channels, const Families& families,
            const PriceList& prices, const Folded& folded)
      : workload_(workload),
        channels_(channels),
        prices_(prices),
        folded_(folded),
        positions_(class_positions(workload, channels, folded)),
        families_(families),
        interference_(workload, channels, prices) {}

  ExpandedGraph expand() {
    write_costs();
    place_classes();
    list_programs();
    make_room();
    list_joins();
    write_tasks();
    set_costs(prices_.works, times_, result_.host_lags.values(workload_, prices_.works), result_);
    return std::move(result_);
  }

 private:
  struct ProgramTasks {
    const Op* ops = nullptr;
    ExpandedGraph::OpTasks* tasks = nullptr;  ///< per operation
    const std::uint32_t* before = nullptr;    ///< per operation + 1: range in Families::predecessors
    const std::uint32_t* lags = nullptr;      ///< per operation
  };
  /// A class that takes part in a simulated group.
  struct Join {
    const std::uint32_t* offsets = nullptr;  ///< of the class
    const ProgramTasks* program = nullptr;   ///< of the class
    std::uint32_t cls = 0;
    std::uint32_t member = 0;  ///< place of its operation among those of a family
  };
  struct ChannelTasks {
    const std::uint32_t* first_transfer = nullptr;  ///< per request: its first entry in costs
    const std::uint32_t* join_begin = nullptr;      ///< per simulated group + 1: range in joins_
    std::uint32_t groups = 0;                       ///< that are simulated
  };
  void write_costs();
  /// What one leg of a simulated transfer puts on a class of links.
  struct Load {
    std::uint32_t cost = 0;  ///< of the transfer, in the graph
    std::uint32_t leg = 0;
    std::uint32_t link = 0;
    std::uint64_t weight = 0;
  };
  [[nodiscard]] std::vector<Load> list_loads();
  void write_legs(const std::vector<Load>& loads);
  [[nodiscard]] const Transfer& transfer(const Call& call, std::uint32_t group) const {
    return prices_.transfers[call.first_price + channels_.group_place[group]];
  }
  /// Messages come before passes.
  [[nodiscard]] std::size_t number_of(Request request) const {
    return request.work + (request.pass ? messages_ : 0);
  }
  /// First entry in costs of a call.
  [[nodiscard]] std::uint32_t& first_transfer(const Call& call) {
    return first_transfer_[call.channel * requests_ + number_of(call.request)];
  }
  void place_classes();
  void list_programs();
  ExpandedGraph::OpTasks* list_tasks(const Program& program);
  void make_room();
  void check_size(std::int64_t tasks, std::int64_t edges) const;
  void list_joins();
  [[nodiscard]] std::vector<std::uint32_t> members_of_ends() const;
  void write_tasks();
  void write_compute(OpRef at);
  void write_communication(std::span<const OpRef> operations);
  [[nodiscard]] Picoseconds delay(std::uint32_t cls, OpRef at) const;
  std::uint32_t cost_of(std::uint32_t cls, OpRef at);
  std::uint32_t slowed(std::uint32_t transfer, Picoseconds longer);
  std::uint32_t cost_from(std::uint32_t cost, Picoseconds known, Picoseconds duration);
  /// Where tasks of a class are among those of an operation: by slot, and at -1 those that are alone.
  [[nodiscard]] const std::uint32_t* offsets_of(std::uint32_t cls) const {
    return offsets_.data() + 1 + cls * (std::size_t{workload_.slots} + 1);
  }
  void write_predecessors(const std::uint32_t* offsets, const ProgramTasks& program, std::uint32_t op) {
    const ExpandedGraph::OpTasks* const tasks = program.tasks;
    const std::uint32_t* const end = predecessors_ + program.before[op + 1];
    std::uint32_t* pred = pred_;
    for (const std::uint32_t* before = predecessors_ + program.before[op]; before != end; ++before) {
      const ExpandedGraph::OpTasks of = tasks[*before];
      *pred++ = of.first + offsets[static_cast<std::int32_t>(of.slot)];
    }
    pred_ = pred;
  }
  void close_task(std::uint32_t cost) {
    cost_[task_] = cost;
    pred_begin_[++task_] = static_cast<std::uint32_t>(pred_ - preds_);
  }
  [[nodiscard]] const Op& op(OpRef at) const { return workload_.programs[at.program].ops[at.op]; }

  const Workload& workload_;
  const Channels& channels_;
  const PriceList& prices_;
  const Folded& folded_;
  ClassPositions positions_;
  const Families& families_;
  Interference interference_;
  std::vector<std::span<const Picoseconds>> delays_;  ///< per class, [op]; empty: none
  std::vector<TransferTime> times_;                   ///< per ExpandedGraph::transfers
  ExpandedGraph result_;

  std::vector<ProgramTasks> programs_;
  std::vector<std::vector<std::uint32_t>> program_classes_;  ///< [program]: its classes
  std::vector<std::uint32_t> lags_;                          ///< HostLags::add()
  std::vector<std::uint32_t> offsets_;  ///< [class * (slots + 1)]: its position, then those of its groups
  std::vector<ChannelTasks> channel_tasks_;
  std::vector<std::uint32_t> join_begin_;  ///< per simulated group of all channels + 1: range in joins_
  std::vector<Join> joins_;
  std::size_t messages_ = workload_.messages.size();
  std::size_t requests_ = messages_ + workload_.passes.size();  ///< that can be made of a channel
  const std::uint32_t* predecessors_ = families_.predecessors.get();
  std::vector<std::uint32_t> first_transfer_;  ///< [channel * requests_ + request]: its first entry in costs
  std::uint32_t* cost_ = nullptr;              ///< TaskGraph::cost
  std::uint32_t* pred_begin_ = nullptr;        ///< TaskGraph::pred_begin
  std::uint32_t* preds_ = nullptr;             ///< TaskGraph::preds
  std::uint32_t* pred_ = nullptr;              ///< the next one of the task being written
  std::uint32_t task_ = 0;                     ///< the one being written
};

void Expansion::write_costs() {
  first_transfer_.resize(channels_.channels.size() * requests_);
  for (const Call& call : channels_.calls) {
    first_transfer(call) = static_cast<std::uint32_t>(prices_.works.size() + times_.size());
    for (const std::uint32_t group : positions_.groups[call.channel]) {
      const Transfer& of_group = transfer(call, group);
      times_.push_back({prices_.duration_ps(of_group), prices_.leads[of_group.price]});
    }
  }
  result_.graph.costs.resize(prices_.works.size() + times_.size());
  write_legs(list_loads());
}

/// What the simulated transfers put on the simulated links. A link stands for its class; what all
/// communicators of a class put on it is added up.
std::vector<Expansion::Load> Expansion::list_loads() {
  std::vector<Load> loads;
  if (folded_.shared.links.empty()) return loads;
  for (std::uint32_t group = 0; group < workload_.groups(); ++group) {
    for (const SharedLinks::Use& use : folded_.shared.of(group)) {
      const std::uint32_t link = folded_.link_class[use.link];
      if (link == kNone) continue;
      const std::uint32_t place = positions_.place_of_group[folded_.groups.class_of[group]];
      const Call& call = channels_.calls[use.call];
      loads.push_back({first_transfer(call) + place, use.leg, link, use.weight});
    }
  }
  const auto key = [](const Load& load) { return std::tuple(load.cost, load.leg, load.link); };
  std::ranges::sort(loads, {}, key);
  std::size_t kept = 0;
  for (const Load& load : loads) {
    if (kept > 0 && key(loads[kept - 1]) == key(load)) {
      loads[kept - 1].weight += load.weight;
    } else {
      loads[kept++] = load;
    }
  }
  loads.resize(kept);
  return loads;
}

/// Transfers with loads get their legs; the others remain durations.
void Expansion::write_legs(const std::vector<Load>& loads) {
  TaskGraph& graph = result_.graph;
  auto load = loads.begin();
  for (const Call& call : channels_.calls) {
    const auto& groups = positions_.groups[call.channel];
    for (std::uint32_t place = 0; place < groups.size() && load != loads.end(); ++place) {
      const std::uint32_t at = first_transfer(call) + place;
      if (load->cost != at) continue;
      const Cost& price = prices_.prices[transfer(call, groups[place]).price];
      graph.costs[at].leg_begin = static_cast<std::uint32_t>(graph.legs.size());
      for (std::uint32_t l = price.leg_begin; l < price.leg_end; ++l) {
        Leg& leg = graph.legs.emplace_back(prices_.legs[l]);
        leg.use_begin = static_cast<std::uint32_t>(graph.uses.size());
        for (; load != loads.end() && load->cost == at && load->leg == l - price.leg_begin; ++load)
          graph.uses.push_back({LinkId{load->link}, load->weight});
        leg.use_end = static_cast<std::uint32_t>(graph.uses.size());
      }
      graph.costs[at].leg_end = static_cast<std::uint32_t>(graph.legs.size());
    }
  }
}

void Expansion::place_classes() {
  result_.stand_ins = std::move(positions_.stand_ins);
  result_.program = std::move(positions_.program);
  result_.position = std::move(positions_.position);
  result_.slots = workload_.slots;
  result_.group_position = std::move(positions_.group_position);
  for (std::uint32_t c = 0; c < result_.classes(); ++c) {
    const ExpandedGraph::Place place = result_.place(c);
    offsets_.push_back(place.alone);
    offsets_.insert(offsets_.end(), place.of_slot, place.of_slot + result_.slots);
    if (interference_.any()) delays_.push_back(interference_.of(result_.stand_ins.representative[c]));
  }
}

/// Without the first task of each operation.
ExpandedGraph::OpTasks* Expansion::list_tasks(const Program& program) {
  std::vector<ExpandedGraph::OpTasks>& tasks = result_.ops.emplace_back(program.ops.size());
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (program.ops[i].kind != Op::Kind::compute) tasks[i].slot = program.ops[i].slot;
  return tasks.data();
}

void Expansion::list_programs() {
  programs_.resize(workload_.programs.size());
  program_classes_.resize(programs_.size());
  lags_ = result_.host_lags.add(workload_);
  for (std::size_t p = 0; p < programs_.size(); ++p) {
    ProgramTasks& program = programs_[p];
    program.ops = workload_.programs[p].ops.data();
    program.tasks = list_tasks(workload_.programs[p]);
    program.before = families_.predecessor_begin.get() + families_.first_op[p];
    program.lags = lags_.data() + families_.first_op[p];
  }
  for (std::uint32_t c = 0; c < result_.classes(); ++c) program_classes_[result_.program[c]].push_back(c);
}

void Expansion::check_size(std::int64_t tasks, std::int64_t edges) const {
  const std::int64_t bytes = tasks * kTaskBytes + edges * kEdgeBytes;
  if (bytes <= kMostBytes && edges < kNone && tasks < kNone) return;
  throw InputError("/simulation/folding", "the graph of " + std::to_string(tasks) + " tasks and " +
                                              std::to_string(edges) + " edges needs " +
                                              std::to_string(bytes / 1'000'000'000) + " GB, allowed are " +
                                              std::to_string(kMostBytes / 1'000'000'000) +
                                              " GB; let folding be auto, or simulate fewer steps");
}

void Expansion::make_room() {
  std::int64_t tasks = 0;
  std::int64_t edges = 0;
  for (std::size_t c = 0; c < channels_.channels.size(); ++c)
    tasks += std::int64_t{channels_.channels[c].operations} * std::ssize(positions_.groups[c]);
  for (const OpRef at : families_.compute_operations(channels_))
    tasks += std::ssize(program_classes_[at.program]);
  for (std::size_t p = 0; p < programs_.size(); ++p) {
    const std::uint32_t* const before = programs_[p].before;
    edges += (std::int64_t{before[workload_.programs[p].ops.size()]} - before[0]) *
             std::ssize(program_classes_[p]);
  }
  check_size(tasks, edges);
  TaskGraph& graph = result_.graph;
  graph.cost.resize(static_cast<std::size_t>(tasks));
  graph.pred_begin.resize(static_cast<std::size_t>(tasks) + 1);
  graph.preds.resize(static_cast<std::size_t>(edges));
  cost_ = graph.cost.data();
  pred_begin_ = graph.pred_begin.data();
  preds_ = pred_ = graph.preds.data();
}

/// Counted, then put in place.
void Expansion::list_joins() {
  std::vector<std::uint32_t> first_group;
  std::uint32_t groups = 0;
  for (const auto& of_channel : positions_.groups) {
    first_group.push_back(groups);
    groups += static_cast<std::uint32_t>(of_channel.size());
  }
  join_begin_.resize(std::size_t{groups} + 2);
  const std::vector<std::uint32_t> members = members_of_ends();
  const auto for_each_join = [&](auto visit) {
    for (std::uint32_t cls = 0; cls < result_.classes(); ++cls) {
      for (std::uint32_t slot = 0; slot < workload_.slots; ++slot) {
        const std::uint32_t end = result_.program[cls] * workload_.slots + slot;
        if (members[end] == kNone) continue;
        const std::uint32_t place = result_.group_position[std::size_t{cls} * workload_.slots + slot];
        visit(first_group[channels_.channel_of[end]] + place,
              Join{offsets_of(cls), &programs_[result_.program[cls]], cls, members[end]});
      }
    }
  };
  for_each_join([&](std::uint32_t group, const Join&) { ++join_begin_[group + 2]; });
  std::inclusive_scan(join_begin_.begin(), join_begin_.end(), join_begin_.begin());
  joins_.resize(join_begin_.back());
  for_each_join([&](std::uint32_t group, const Join& join) { joins_[join_begin_[group + 1]++] = join; });
  for (std::size_t c = 0; c < first_group.size(); ++c)
    channel_tasks_.push_back({first_transfer_.data() + c * requests_, join_begin_.data() + first_group[c],
                              static_cast<std::uint32_t>(positions_.groups[c].size())});
}

/// Per end of a channel: which of the operations of its families it has; kNone where there are none.
std::vector<std::uint32_t> Expansion::members_of_ends() const {
  std::vector<std::uint32_t> members(channels_.channel_of.size(), kNone);
  for (const Channel& channel : channels_.channels) {
    if (channel.operations == 0) continue;
    std::uint32_t member = 0;
    for (const OpRef at : families_.operations(channel.first_family))
      members[at.program * workload_.slots + op(at).slot] = member++;
  }
  return members;
}

/// Family by family, in topological order.
void Expansion::write_tasks() {
  result_.families.resize(families_.order.size());
  ExpandedGraph::Family* at = result_.families.data();
  for (const std::uint32_t family : families_.order) {
    const std::span<const OpRef> operations = families_.operations(family);
    const OpRef any = operations.front();
    *at++ = {task_, any.program, any.op};
    if (family < channels_.families) {
      write_communication(operations);
    } else {
      write_compute(any);
    }
  }
  const bool hosted = !result_.issued.empty() || !result_.issued_passes.empty();
  if (hosted) result_.graph.lag.resize(result_.graph.tasks());
}

/// What communication beside it adds to an operation.
Picoseconds Expansion::delay(std::uint32_t cls, OpRef at) const {
  return delays_.empty() || delays_[cls].empty() ? 0 : delays_[cls][at.op];
}

/// Kernels of uneven ranks and those beside communication have costs of their own.
std::uint32_t Expansion::cost_of(std::uint32_t cls, OpRef at) {
  const std::uint32_t work = op(at).work;
  const bool even = prices_.pace.even();
  if ((even && delays_.empty()) || op(at).stream == Stream::host) return work;
  const Picoseconds duration = prices_.works[work].duration_ps;
  const Picoseconds scaled =
      even ? duration
           : prices_.pace.duration(work, duration, result_.stand_ins.representative[cls], op(at).step);
  return cost_from(work, duration, capped_sum(scaled, delay(cls, at)));
}

/// That of a transfer that takes `longer`.
std::uint32_t Expansion::slowed(std::uint32_t transfer, Picoseconds longer) {
  if (longer == 0) return transfer;
  const Picoseconds alone = times_[transfer - prices_.works.size()].duration_ps;
  return cost_from(transfer, alone, capped_sum(alone, longer));
}

/// That of `cost`, or a new one where the duration is another.
std::uint32_t Expansion::cost_from(std::uint32_t cost, Picoseconds known, Picoseconds duration) {
  if (duration == known) return cost;
  result_.graph.costs.push_back({duration, 0, 0});
  result_.stands_for.push_back(cost);
  return static_cast<std::uint32_t>(result_.graph.costs.size() - 1);
}

void Expansion::write_compute(OpRef at) {
  const ProgramTasks& program = programs_[at.program];
  const std::uint32_t first = task_;
  program.tasks[at.op].first = first;
  for (const std::uint32_t cls : program_classes_[at.program]) {
    write_predecessors(offsets_of(cls), program, at.op);
    close_task(cost_of(cls, at));
  }
  if (program.lags[at.op] != kNone) result_.issued.push_back({first, task_, program.lags[at.op]});
}

void Expansion::write_communication(std::span<const OpRef> operations) {
  const OpRef any = operations.front();
  const Op& asks = programs_[any.program].ops[any.op];
  const ChannelTasks& channel =
      channel_tasks_[channels_.channel_of[any.program * workload_.slots + asks.slot]];
  const std::uint32_t first_cost = channel.first_transfer[number_of(request_of(asks))];
  const std::uint32_t first = task_;
  const Join* join = joins_.data() + channel.join_begin[0];
  for (std::uint32_t place = 0; place < channel.groups; ++place) {
    Picoseconds longest = 0;  // ranks of a pass wait for the one that is slowed most
    for (const Join* const end = joins_.data() + channel.join_begin[place + 1]; join != end; ++join) {
      const OpRef at = operations[join->member];
      join->program->tasks[at.op].first = first;
      write_predecessors(join->offsets, *join->program, at.op);
      if (asks.kind == Op::Kind::pass) longest = std::max(longest, delay(join->cls, at));
    }
    close_task(slowed(first_cost + place, longest));
  }
  const std::uint32_t lag = programs_[any.program].lags[any.op];
  if (lag == kNone) return;
  (asks.stream == Stream::host ? result_.issued : result_.issued_passes).push_back({first, task_, lag});
}

/// Works and passes wait for the host, messages do not.
void set_lags(std::size_t works, std::span<const TransferTime> transfers, std::span<const Picoseconds> lags,
              ExpandedGraph& expanded) {
  Picoseconds* const lag_of = expanded.graph.lag.data();
  for (const ExpandedGraph::Issued& tasks : expanded.issued)
    std::fill(lag_of + tasks.begin, lag_of + tasks.end, lags[tasks.lag]);
  for (const ExpandedGraph::Issued& tasks : expanded.issued_passes) {
    const Picoseconds lag = lags[tasks.lag];
    for (std::uint32_t task = tasks.begin; task < tasks.end; ++task) {
      const TransferTime& pass = transfers[expanded.usual_cost(expanded.graph.cost[task]) - works];
      lag_of[task] = std::max<Picoseconds>(0, capped_sum(pass.lead_ps, lag));
    }
  }
}

}  // namespace

void set_costs(std::span<const ComputePrice> works, std::span<const TransferTime> transfers,
               std::span<const Picoseconds> lags, ExpandedGraph& expanded) {
  std::vector<Cost>& costs = expanded.graph.costs;
  for (std::size_t w = 0; w < works.size(); ++w) costs[w].duration_ps = works[w].duration_ps;
  for (std::size_t t = 0; t < transfers.size(); ++t)
    costs[works.size() + t].duration_ps = transfers[t].duration_ps;
  if (!expanded.graph.lag.empty()) set_lags(works.size(), transfers, lags, expanded);
}

ExpandedGraph expand(const Workload& workload, const Channels& channels, const Families& families,
                     const PriceList& prices, const Folded& folded) {
  return Expansion(workload, channels, families, prices, folded).expand();
}

}  // namespace orrery
