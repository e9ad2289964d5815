#include "sim/graph/expand.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "orrery/error.hpp"
#include "sim/graph/class_positions.hpp"
#include "sim/graph/families.hpp"
#include "sim/graph/host_lag.hpp"
#include "sim/graph/interference.hpp"

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
    place_classes();
    write_costs();
    make_room();
    write_tasks();
    set_costs(prices_.works, times_, result_.host_lags.values(workload_, prices_.works), result_);
    return std::move(result_);
  }

 private:
  void place_classes();
  void list_joins(std::uint32_t channel);
  void write_costs();
  /// What one leg of a simulated transfer puts on a class of links.
  struct Load {
    std::uint32_t cost = 0;  ///< of the transfer, in the graph
    std::uint32_t leg = 0;
    std::uint32_t link = 0;
    std::uint64_t weight = 0;
  };
  [[nodiscard]] std::vector<Load> list_loads() const;
  void write_legs(const std::vector<Load>& loads);
  [[nodiscard]] const Transfer& transfer(const Call& call, std::uint32_t group) const {
    return prices_.transfers[call.first_price + channels_.group_place[group]];
  }
  void make_room();
  void write_tasks();
  void write_compute(OpRef at);
  [[nodiscard]] Picoseconds delay(std::uint32_t cls, OpRef at) const;
  std::uint32_t cost_of(std::uint32_t cls, OpRef at);
  std::uint32_t cost_from(std::uint32_t cost, Picoseconds known, Picoseconds duration);
  void write_communication(std::span<const OpRef> operations);
  void write_predecessors(std::uint32_t cls, OpRef at) {
    const ExpandedGraph::Place place = result_.place(cls);
    const ExpandedGraph::OpTasks* const tasks = result_.ops[at.program].data();
    const std::span<const std::uint32_t> before = families_.before(at);
    std::uint32_t* pred = result_.graph.preds.data() + pred_;
    for (const std::uint32_t op : before) *pred++ = place.task(tasks[op]);
    pred_ += static_cast<std::uint32_t>(before.size());
  }
  void close_task(std::uint32_t cost) {
    result_.graph.cost[task_] = cost;
    result_.graph.pred_begin[++task_] = pred_;
  }
  void check_size(std::int64_t tasks, std::int64_t edges) const;
  [[nodiscard]] std::uint32_t classes_of(std::uint32_t program) const {
    return static_cast<std::uint32_t>(program_classes_[program].size());
  }
  /// Predecessors of the operations of a program.
  [[nodiscard]] std::int64_t edges_of(std::uint32_t program) const {
    const std::uint32_t* const begin = families_.predecessor_begin.get() + families_.first_op[program];
    return std::int64_t{begin[workload_.programs[program].ops.size()]} - begin[0];
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

  std::vector<std::vector<std::uint32_t>> program_classes_;  ///< [program]: its classes
  /// A class that takes part in a simulated group with a slot of its program.
  struct Join {
    std::uint32_t cls = 0;
    std::uint32_t program = 0;
    std::uint32_t end = 0;  ///< program * slots + slot
  };
  /// [channel]: those of each simulated group, join_begin/joins as CSR.
  std::vector<std::vector<std::uint32_t>> join_begin_;
  std::vector<std::vector<Join>> joins_;
  std::vector<std::uint32_t> meeting_;  ///< per end: its operation in the family being written, or kNone
  std::vector<std::uint32_t> first_transfer_;  ///< per call: its first entry in costs
  std::uint32_t task_ = 0;                     ///< the one being written
  std::uint32_t pred_ = 0;                     ///< the next entry of its predecessors
};

void Expansion::place_classes() {
  result_.stand_ins = std::move(positions_.stand_ins);
  result_.program = std::move(positions_.program);
  result_.position = std::move(positions_.position);
  result_.slots = workload_.slots;
  result_.group_position = std::move(positions_.group_position);
  program_classes_.resize(workload_.programs.size());
  for (std::uint32_t c = 0; c < result_.classes(); ++c) {
    program_classes_[result_.program[c]].push_back(c);
    if (interference_.any()) delays_.push_back(interference_.of(result_.stand_ins.representative[c]));
  }
  join_begin_.resize(positions_.groups.size());
  joins_.resize(positions_.groups.size());
  for (std::uint32_t channel = 0; channel < positions_.groups.size(); ++channel) list_joins(channel);
  meeting_.resize(channels_.channel_of.size(), kNone);
}

void Expansion::list_joins(std::uint32_t channel) {
  std::vector<std::uint32_t>& begin = join_begin_[channel];
  std::vector<std::uint32_t> members;  // classes
  begin.push_back(0);
  for (const std::uint32_t group : positions_.groups[channel]) {
    const std::size_t place = begin.size() - 1;
    members.clear();
    for (const std::uint32_t rank : workload_.members(group))
      members.push_back(result_.stand_ins.class_of_rank[rank]);
    std::ranges::sort(members);
    members.erase(std::unique(members.begin(), members.end()), members.end());
    for (const std::uint32_t cls : members) {
      const std::uint32_t program = result_.program[cls];
      for (std::uint32_t slot = 0; slot < workload_.slots; ++slot) {
        const std::uint32_t end = program * workload_.slots + slot;
        const bool joins = channels_.channel_of[end] == channel &&
                           result_.group_position[std::size_t{cls} * workload_.slots + slot] == place;
        if (joins) joins_[channel].push_back({cls, program, end});
      }
    }
    begin.push_back(static_cast<std::uint32_t>(joins_[channel].size()));
  }
}

void Expansion::write_costs() {
  TaskGraph& graph = result_.graph;
  for (std::uint32_t c = 0; c < channels_.calls.size(); ++c) {
    const Call& call = channels_.calls[c];
    first_transfer_.push_back(static_cast<std::uint32_t>(prices_.works.size() + times_.size()));
    for (const std::uint32_t group : positions_.groups[call.channel]) {
      const Transfer& of_group = transfer(call, group);
      times_.push_back({prices_.duration_ps(of_group), prices_.leads[of_group.price]});
    }
  }
  graph.costs.resize(prices_.works.size() + times_.size());
  write_legs(list_loads());
}

/// What the simulated transfers put on the simulated links. A link stands for its class; what all
/// communicators of a class put on it is added up.
std::vector<Expansion::Load> Expansion::list_loads() const {
  std::vector<Load> loads;
  if (folded_.shared.links.empty()) return loads;
  for (std::uint32_t group = 0; group < workload_.groups(); ++group) {
    for (const SharedLinks::Use& use : folded_.shared.of(group)) {
      const std::uint32_t link = folded_.link_class[use.link];
      if (link == kNone) continue;
      const std::uint32_t place = positions_.place_of_group[folded_.groups.class_of[group]];
      loads.push_back({first_transfer_[use.call] + place, use.leg, link, use.weight});
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
  for (std::uint32_t c = 0; c < channels_.calls.size(); ++c) {
    const auto& groups = positions_.groups[channels_.calls[c].channel];
    for (std::uint32_t place = 0; place < groups.size() && load != loads.end(); ++place) {
      const std::uint32_t at = first_transfer_[c] + place;
      if (load->cost != at) continue;
      const Cost& price = prices_.prices[transfer(channels_.calls[c], groups[place]).price];
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
  for (std::size_t c = 0; c < channels_.channels.size(); ++c)
    tasks += std::int64_t{channels_.channels[c].operations} * std::ssize(positions_.groups[c]);
  for (const OpRef at : families_.compute_operations(channels_)) tasks += classes_of(at.program);
  std::int64_t edges = 0;
  for (std::uint32_t p = 0; p < workload_.programs.size(); ++p) {
    edges += edges_of(p) * classes_of(p);
    result_.ops.emplace_back(workload_.programs[p].ops.size());
  }
  check_size(tasks, edges);
  result_.families.reserve(families_.order.size());
  result_.graph.cost.resize(static_cast<std::size_t>(tasks));
  result_.graph.pred_begin.resize(static_cast<std::size_t>(tasks) + 1);
  result_.graph.preds.resize(static_cast<std::size_t>(edges));
}

/// Family by family, in topological order.
void Expansion::write_tasks() {
  std::vector<std::vector<std::uint32_t>> lags;
  const bool hosted = is_hosted(workload_);
  if (hosted) lags = result_.host_lags.add(workload_);
  for (const std::uint32_t family : families_.order) {
    const std::span<const OpRef> operations = families_.operations(family);
    const OpRef any = operations.front();
    result_.families.push_back({task_, any.program, any.op, hosted ? lags[any.program][any.op] : kNone});
    if (family < channels_.families) {
      write_communication(operations);
    } else {
      write_compute(any);
    }
  }
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
      even ? duration : prices_.pace.scaled(duration, result_.stand_ins.representative[cls], op(at).step);
  return cost_from(work, duration, capped_sum(scaled, delay(cls, at)));
}

/// That of `cost`, or a new one where the duration is another.
std::uint32_t Expansion::cost_from(std::uint32_t cost, Picoseconds known, Picoseconds duration) {
  if (duration == known) return cost;
  result_.graph.costs.push_back({duration, 0, 0});
  result_.stands_for.push_back(cost);
  return static_cast<std::uint32_t>(result_.graph.costs.size() - 1);
}

void Expansion::write_compute(OpRef at) {
  result_.ops[at.program][at.op].first = task_;
  for (const std::uint32_t cls : program_classes_[at.program]) {
    write_predecessors(cls, at);
    close_task(cost_of(cls, at));
  }
}

void Expansion::write_communication(std::span<const OpRef> operations) {
  const OpRef any = operations.front();
  const std::uint32_t channel = channels_.channel_of[any.program * workload_.slots + op(any).slot];
  const Request request = request_of(op(any));
  const std::uint32_t transfer = first_transfer_[channels_.call(channel, request)];
  const bool slowed = request.pass && !delays_.empty();
  for (const OpRef at : operations) {
    const std::uint32_t slot = op(at).slot;
    result_.ops[at.program][at.op] = {task_, slot};
    meeting_[at.program * workload_.slots + slot] = at.op;
  }
  const std::span<const std::uint32_t> begin = join_begin_[channel];
  const std::span<const Join> joins = joins_[channel];
  for (std::uint32_t place = 0; place + 1 < begin.size(); ++place) {
    Picoseconds longest = 0;  // ranks of a pass wait for the one that is slowed most
    for (const auto& [cls, program, end] : joins.subspan(begin[place], begin[place + 1] - begin[place])) {
      if (meeting_[end] == kNone) continue;
      const OpRef at{program, meeting_[end]};
      write_predecessors(cls, at);
      if (slowed) longest = std::max(longest, delay(cls, at));
    }
    const std::uint32_t cost = transfer + place;
    const Picoseconds alone = times_[cost - prices_.works.size()].duration_ps;
    close_task(cost_from(cost, alone, capped_sum(alone, longest)));
  }
}

/// Works and passes wait for the host, messages do not.
void set_lags(std::size_t works, std::span<const TransferTime> transfers, std::span<const Picoseconds> lags,
              ExpandedGraph& expanded) {
  const std::span<Picoseconds> lag_of = expanded.graph.lag;
  const std::span<const ExpandedGraph::Family> families = expanded.families;
  for (std::size_t f = 0; f < families.size(); ++f) {
    const std::uint32_t number = families[f].lag;
    if (number == kNone) continue;
    const Picoseconds lag = lags[number];
    const bool led = expanded.host_lags.of_gpu_pass(number);
    const std::size_t end = f + 1 < families.size() ? families[f + 1].first_task : lag_of.size();
    for (std::size_t task = families[f].first_task; task < end; ++task) {
      const Picoseconds lead =
          led ? transfers[expanded.usual_cost(expanded.graph.cost[task]) - works].lead_ps : 0;
      lag_of[task] = std::max<Picoseconds>(0, capped_sum(lead, lag));
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
