#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/cost/issue_time.hpp"
#include "sim/tasks/expand.hpp"
#include "sim/tasks/interference.hpp"

namespace orrery {
namespace {

class TaskCosts {
 public:
  TaskCosts(const Workload& workload, const Channels& channels, const PriceList& prices, const Folded& folded,
            Interference& interference, ExpandedGraph& expanded)
      : workload_(workload),
        channels_(channels),
        prices_(prices),
        folded_(folded),
        interference_(interference),
        expanded_(expanded),
        kernel_sequences_(workload.kernel_sequences.size()) {}

  void set() {
    set_durations();
    set_legs();
    expanded_.stands_for.clear();
    set_single_costs();
    if (!expanded_.issued.empty() || !expanded_.issued_passes.empty()) set_lags();
  }

 private:
  /// Holds the load of one leg of a simulated transfer on a class of links.
  struct Load {
    std::uint32_t transfer = 0;  ///< into Representatives::transfers
    std::uint32_t leg = 0;
    std::uint32_t link = 0;
    std::uint64_t weight = 0;
  };

  void set_durations();
  void set_legs();
  [[nodiscard]] std::vector<Load> list_loads() const;
  void write_legs(std::uint32_t transfer, std::span<const Load> loads);
  void set_single_costs();
  void set_compute_cost(std::uint32_t cls, const Op& op, std::uint32_t task, Picoseconds delay);
  void set_pass_costs();
  void set_cost(std::uint32_t task, Picoseconds known, Picoseconds duration);
  void set_lags();
  [[nodiscard]] const CallPrice& price_of(std::uint32_t transfer) const {
    return prices_.calls[expanded_.representatives.transfers[transfer].call];
  }

  const Workload& workload_;
  const Channels& channels_;
  const PriceList& prices_;
  const Folded& folded_;
  Interference& interference_;
  ExpandedGraph& expanded_;
  std::size_t kernel_sequences_;
  std::vector<Picoseconds> longer_;  ///< per task of a pass: delay by communication beside it
};

void TaskCosts::set_durations() {
  std::vector<Cost>& costs = expanded_.graph.costs;
  const std::vector<Representatives::Transfer>& transfers = expanded_.representatives.transfers;
  costs.assign(kernel_sequences_ + transfers.size(), {});
  for (std::size_t w = 0; w < kernel_sequences_; ++w)
    costs[w].duration_ps = prices_.kernel_sequences[w].duration_ps;
  for (std::uint32_t t = 0; t < transfers.size(); ++t)
    costs[kernel_sequences_ + t].duration_ps = price_of(t).cost(transfers[t].place).duration_ps;
}

/// Lists the loads of the simulated transfers on the simulated links. A link stands for its class, so the
/// loads of all communicators of a class on it are added up.
std::vector<TaskCosts::Load> TaskCosts::list_loads() const {
  std::vector<Load> loads;
  const std::vector<Representatives::Transfer>& transfers = expanded_.representatives.transfers;
  std::vector<std::uint32_t> place(folded_.groups.representative.size(),
                                   0);  // of group classes in their channel
  std::vector<std::uint32_t> next(channels_.channels.size(), 0);
  for (std::uint32_t c = 0; c < place.size(); ++c)
    place[c] = next[channels_.channel_group[folded_.groups.representative[c]]]++;
  std::vector<std::uint32_t> first(channels_.calls.size(), 0);
  for (std::uint32_t t = static_cast<std::uint32_t>(transfers.size()); t-- > 0;) first[transfers[t].call] = t;
  for (std::uint32_t group = 0; group < workload_.groups(); ++group) {
    for (const SharedLinks::Use& use : folded_.shared.of(group)) {
      const std::uint32_t link = folded_.link_class[use.link];
      if (link == kNone) continue;
      loads.push_back({first[use.call] + place[folded_.groups.class_of[group]], use.leg, link, use.weight});
    }
  }
  return loads;
}

/// Transfers with loads get their legs; the others remain durations.
void TaskCosts::set_legs() {
  expanded_.graph.legs.clear();
  expanded_.graph.uses.clear();
  if (folded_.shared.links.empty()) return;
  std::vector<Load> loads = list_loads();
  const auto key = [](const Load& load) { return std::tuple(load.transfer, load.leg, load.link); };
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
  for (auto first = loads.begin(); first != loads.end();) {
    const auto other = [&](const Load& load) { return load.transfer != first->transfer; };
    const auto last = std::find_if(first, loads.end(), other);
    write_legs(first->transfer, {first, last});
    first = last;
  }
}

void TaskCosts::write_legs(std::uint32_t transfer, std::span<const Load> loads) {
  TaskGraph& graph = expanded_.graph;
  const CallPrice& price = price_of(transfer);
  const Cost& cost = price.cost(expanded_.representatives.transfers[transfer].place);
  Cost& own = graph.costs[kernel_sequences_ + transfer];
  own.leg_begin = static_cast<std::uint32_t>(graph.legs.size());
  auto load = loads.begin();
  for (std::uint32_t l = cost.leg_begin; l < cost.leg_end; ++l) {
    Leg& leg = graph.legs.emplace_back(price.routed->legs[l]);
    leg.use_begin = static_cast<std::uint32_t>(graph.uses.size());
    for (; load != loads.end() && load->leg == l - cost.leg_begin; ++load)
      graph.uses.push_back({LinkId{load->link}, load->weight});
    leg.use_end = static_cast<std::uint32_t>(graph.uses.size());
  }
  own.leg_end = static_cast<std::uint32_t>(graph.legs.size());
}

/// Sets the costs of kernels on uneven ranks, and of those slowed by communication beside them.
void TaskCosts::set_single_costs() {
  if (prices_.rank_speeds.even() && !interference_.any()) return;
  if (interference_.any()) longer_.assign(expanded_.graph.tasks(), 0);
  for (std::uint32_t cls = 0; cls < expanded_.classes(); ++cls) {
    const std::uint32_t program = expanded_.program[cls];
    const std::vector<Op>& ops = workload_.programs[program].ops;
    const ExpandedGraph::Place place = expanded_.place(cls);
    const std::span<const Picoseconds> delays =
        interference_.any() ? interference_.of(expanded_.representatives.representative[cls])
                            : std::span<const Picoseconds>{};
    if (prices_.rank_speeds.even() && delays.empty()) continue;
    for (std::uint32_t o = 0; o < ops.size(); ++o) {
      if (ops[o].stream == Stream::host || ops[o].kind == Op::Kind::communicate) continue;
      const std::uint32_t task = place.task(expanded_.ops[program][o]);
      const Picoseconds delay = delays.empty() ? 0 : delays[o];
      if (ops[o].kind == Op::Kind::compute) {
        set_compute_cost(cls, ops[o], task, delay);
      } else {
        longer_[task] = std::max(longer_[task], delay);
      }
    }
  }
  set_pass_costs();
}

void TaskCosts::set_compute_cost(std::uint32_t cls, const Op& op, std::uint32_t task, Picoseconds delay) {
  const Picoseconds duration = prices_.kernel_sequences[op.work].duration_ps;
  const Picoseconds scaled =
      prices_.rank_speeds.even()
          ? duration
          : prices_.rank_speeds.duration(op.work, duration, expanded_.representatives.representative[cls],
                                         op.step);
  set_cost(task, duration, capped_sum(scaled, delay));
}

/// Ranks of a pass wait for the one that is slowed most.
void TaskCosts::set_pass_costs() {
  for (std::uint32_t task = 0; task < longer_.size(); ++task) {
    if (longer_[task] == 0) continue;
    const Picoseconds alone = expanded_.graph.cost_of(task).duration_ps;
    set_cost(task, alone, capped_sum(alone, longer_[task]));
  }
}

/// Gives the task a cost of its own where its duration is not the usual one.
void TaskCosts::set_cost(std::uint32_t task, Picoseconds known, Picoseconds duration) {
  if (duration == known) return;
  std::vector<std::uint32_t>& cost = expanded_.graph.cost.edit();
  expanded_.stands_for.push_back(cost[task]);
  cost[task] = static_cast<std::uint32_t>(expanded_.graph.costs.size());
  expanded_.graph.costs.push_back({duration, 0, 0});
}

/// Works and passes wait for the host, messages do not.
void TaskCosts::set_lags() {
  const std::vector<Picoseconds> lags = expanded_.host_lags.values(workload_, prices_.kernel_sequences);
  expanded_.graph.lag.assign(expanded_.graph.tasks(), 0);
  Picoseconds* const lag_of = expanded_.graph.lag.data();
  for (const ExpandedGraph::Issued& tasks : expanded_.issued)
    std::fill(lag_of + tasks.begin, lag_of + tasks.end, lags[tasks.lag]);
  for (const ExpandedGraph::Issued& tasks : expanded_.issued_passes) {
    for (std::uint32_t task = tasks.begin; task < tasks.end; ++task) {
      const auto transfer =
          static_cast<std::uint32_t>(expanded_.usual_cost(expanded_.graph.cost[task]) - kernel_sequences_);
      const TransferTime pass = price_of(transfer).time(expanded_.representatives.transfers[transfer].place);
      lag_of[task] = std::max<Picoseconds>(0, capped_sum(pass.lead_ps, lags[tasks.lag]));
    }
  }
}

}  // namespace

void set_costs(const Workload& workload, const Channels& channels, const PriceList& prices,
               const Folded& folded, Interference& interference, ExpandedGraph& expanded) {
  TaskCosts(workload, channels, prices, folded, interference, expanded).set();
}

}  // namespace orrery
