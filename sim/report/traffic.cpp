#include "sim/report/traffic.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace orrery {
namespace {

/// Ranks of a program that communicate through one slot in groups of one size.
struct GroupUse {
  std::size_t members = 0;
  std::int64_t ranks = 0;
  std::int64_t firsts = 0;  // of them, the first members of their groups
};
using SlotUses = std::array<std::vector<GroupUse>, kSlotCount>;

std::vector<SlotUses> slot_uses(const Workload& workload) {
  std::vector<SlotUses> out(workload.programs.size());
  for (std::uint32_t rank = 0; rank < workload.ranks(); ++rank) {
    for (std::uint8_t slot = 0; slot < kSlotCount; ++slot) {
      const std::uint32_t group = workload.group(rank, slot);
      if (group == kNoGroup) continue;
      const auto members = workload.members(group);
      auto& uses = out[workload.program_of_rank[rank]][slot];
      auto use = std::find_if(uses.begin(), uses.end(),
                              [&members](const GroupUse& u) { return u.members == members.size(); });
      if (use == uses.end()) use = uses.insert(use, {members.size(), 0, 0});
      ++use->ranks;
      if (members[0] == rank) ++use->firsts;
    }
  }
  return out;
}

/// How often a program communicates, by slot and message.
std::map<std::pair<std::uint8_t, std::uint32_t>, std::int64_t> count_messages(const Program& program) {
  std::map<std::pair<std::uint8_t, std::uint32_t>, std::int64_t> out;
  for (const Op& op : program.ops) {
    if (op.kind == Op::Kind::communicate) ++out[{op.slot, op.work}];
  }
  return out;
}

std::vector<std::uint64_t> tasks_per_cost(const TaskGraph& graph) {
  std::vector<std::uint64_t> out(graph.costs.size());
  for (const std::uint32_t cost : graph.cost) ++out[cost];
  return out;
}

/// Per class and slot: how many of its ranks are the first member of their group. Every group has
/// one first member, so these count groups.
std::vector<std::uint32_t> first_members(const RunView& run) {
  std::vector<std::uint32_t> out(run.expanded.classes() * kSlotCount);
  for (std::uint32_t rank = 0; rank < run.workload.ranks(); ++rank) {
    for (std::uint8_t slot = 0; slot < kSlotCount; ++slot) {
      const std::uint32_t group = run.workload.group(rank, slot);
      const bool first = group != kNoGroup && run.workload.members(group)[0] == rank;
      if (first) ++out[run.expanded.class_of_rank[rank] * kSlotCount + slot];
    }
  }
  return out;
}

/// Communications of the real cluster per cost entry.
std::vector<std::uint64_t> groups_per_cost(const RunView& run) {
  const ExpandedGraph& expanded = run.expanded;
  std::vector<std::uint64_t> out(expanded.graph.costs.size());
  const std::vector<std::uint32_t> firsts = first_members(run);
  for (std::uint32_t c = 0; c < expanded.classes(); ++c) {
    const auto& ops = run.workload.programs[expanded.program[c]].ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (ops[i].kind != Op::Kind::communicate) continue;
      const std::uint32_t groups = firsts[c * kSlotCount + ops[i].slot];
      if (groups > 0) out[expanded.graph.cost[expanded.task(run.workload, c, i)]] += groups;
    }
  }
  return out;
}

/// Time for which a leg fills a link, in ps: its data over the link's bandwidth.
Picoseconds link_time(const Leg& leg, const LinkUse& use, const Link& link) {
  const Int128 data = Int128{leg.rate} * static_cast<Int128>(use.weight) * leg.alone_ps;
  return static_cast<Picoseconds>(divide_rounded(data, static_cast<Int128>(kWeightOne) * link.bytes_per_s));
}

struct LinkTimes {
  std::vector<Picoseconds> simulated;             // per link
  std::array<Int128, kLinkKindCount> per_kind{};  // of all groups
};

LinkTimes link_times(const RunView& run) {
  const TaskGraph& graph = run.expanded.graph;
  const bool folded = run.expanded.classes() < run.workload.ranks();
  const std::vector<std::uint64_t> tasks = tasks_per_cost(graph);
  const std::vector<std::uint64_t> groups = folded ? groups_per_cost(run) : tasks;
  LinkTimes out{std::vector<Picoseconds>(run.topology.links().size()), {}};
  for (std::size_t c = 0; c < graph.costs.size(); ++c) {
    for (std::uint32_t l = graph.costs[c].leg_begin; l < graph.costs[c].leg_end; ++l) {
      const Leg& leg = graph.legs[l];
      for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u) {
        const Link& link = run.topology.link(graph.uses[u].link);
        const Picoseconds time = link_time(leg, graph.uses[u], link);
        out.simulated[index(graph.uses[u].link)] += time * static_cast<Picoseconds>(tasks[c]);
        out.per_kind[static_cast<std::size_t>(link.kind)] += static_cast<Int128>(groups[c]) * time;
      }
    }
  }
  return out;
}

}  // namespace

double bytes_sent(const Message& message, std::size_t members, bool first) {
  const auto bytes = static_cast<double>(message.bytes);
  const auto n = static_cast<double>(members);
  switch (message.collective) {
    case Collective::send_recv:
      return first ? bytes : 0;
    case Collective::all_reduce:
      return 2 * (n - 1) * bytes / n;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::broadcast:
    case Collective::all_to_all:
      break;
  }
  return (n - 1) * bytes / n;
}

std::array<double, kDimensionCount> bytes_per_gpu(const Workload& workload) {
  std::array<double, kDimensionCount> out{};
  const std::vector<SlotUses> uses = slot_uses(workload);
  for (std::size_t p = 0; p < workload.programs.size(); ++p) {
    for (const auto& [key, count] : count_messages(workload.programs[p])) {
      const Message& message = workload.messages[key.second];
      for (const GroupUse& use : uses[p][key.first]) {
        const bool pair = message.collective == Collective::send_recv;
        const auto senders = static_cast<double>(count * (pair ? use.firsts : use.ranks));
        out[static_cast<std::size_t>(message.dimension)] += senders * bytes_sent(message, use.members, true);
      }
    }
  }
  const auto shares = static_cast<double>(workload.ranks()) * static_cast<double>(workload.steps);
  for (double& bytes : out) bytes /= shares;
  return out;
}

std::vector<LinkUtilization> link_utilization(const RunView& run) {
  std::vector<LinkUtilization> out;
  const LinkTimes times = link_times(run);
  std::array<std::int64_t, kLinkKindCount> links{};
  std::array<Picoseconds, kLinkKindCount> peak{};
  for (std::size_t i = 0; i < times.simulated.size(); ++i) {
    const auto kind = static_cast<std::size_t>(run.topology.links()[i].kind);
    ++links[kind];
    peak[kind] = std::max(peak[kind], times.simulated[i]);
  }
  const auto makespan = static_cast<double>(run.timeline.makespan_ps);
  for (std::size_t k = 0; k < kLinkKindCount; ++k) {
    if (links[k] == 0) continue;
    LinkUtilization& entry = out.emplace_back(LinkUtilization{static_cast<LinkKind>(k), 0, 0});
    if (run.timeline.makespan_ps <= 0) continue;
    entry.mean = static_cast<double>(times.per_kind[k]) / (static_cast<double>(links[k]) * makespan);
    entry.peak = std::max(static_cast<double>(peak[k]) / makespan, entry.mean);
  }
  return out;
}

}  // namespace orrery
