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
using SlotUses = std::vector<std::vector<GroupUse>>;  ///< per slot

/// Of the first replica where the others use theirs alike, else of all.
std::vector<SlotUses> slot_uses(const Workload& workload) {
  std::vector<SlotUses> out(workload.programs.size(), SlotUses(workload.slots));
  const auto add = [&](std::uint32_t rank, std::size_t slot) {
    const std::uint32_t group = workload.group(rank, slot);
    if (group == kNoGroup) return;
    const auto members = workload.members(group);
    auto& uses = out[workload.program_of_rank[rank]][slot];
    auto use = std::find_if(uses.begin(), uses.end(),
                            [&members](const GroupUse& u) { return u.members == members.size(); });
    if (use == uses.end()) use = uses.insert(use, {members.size(), 0, 0});
    ++use->ranks;
    if (members[0] == rank) ++use->firsts;
  };
  const auto add_all = [&](std::uint32_t rank) {
    for (std::size_t slot = 0; slot < workload.slots; ++slot) add(rank, slot);
  };
  if (workload.has_neighbours()) {
    for (std::uint32_t rank = 0; rank < workload.ranks(); ++rank) add_all(rank);
  } else {
    workload.for_each_rank_of_first_replica(add_all);
  }
  return out;
}

/// How often a program communicates, within passes or not, by slot and message.
std::map<std::pair<std::uint16_t, std::uint32_t>, std::int64_t> count_messages(const Workload& workload,
                                                                               const Program& program,
                                                                               RunPart::Ops part) {
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::int64_t> out;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::int64_t> passes;
  const std::size_t last = std::min<std::size_t>(program.ops.size(), part.last);
  for (std::size_t i = part.first; i < last; ++i) {
    const Op& op = program.ops[i];
    if (op.kind == Op::Kind::communicate) ++out[{op.slot, op.work}];
    if (op.kind == Op::Kind::pass) ++passes[{op.slot, op.work}];
  }
  for (const auto& [key, count] : passes) {
    for (const PassStep& step : workload.passes[key.second]) {
      if (step.communicates) out[{key.first, step.work}] += count;
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
      return first && members > 1 ? bytes : 0;
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

std::array<double, kDimensionCount> bytes_per_gpu(const Workload& workload, const RunPart& part) {
  std::array<double, kDimensionCount> out{};
  const std::vector<SlotUses> uses = slot_uses(workload);
  const std::uint32_t alike = workload.has_neighbours() ? 1 : workload.replicas;
  for (std::size_t p = 0; p < workload.programs.size(); ++p) {
    for (const auto& [key, count] : count_messages(workload, workload.programs[p], part.ops[p])) {
      const Message& message = workload.messages[key.second];
      for (const GroupUse& use : uses[p][key.first]) {
        const bool pair = message.collective == Collective::send_recv;
        const auto senders = static_cast<double>(count * (pair ? use.firsts : use.ranks) * alike);
        out[static_cast<std::size_t>(message.dimension)] += senders * bytes_sent(message, use.members, true);
      }
    }
  }
  const auto shares = static_cast<double>(workload.ranks()) * static_cast<double>(workload.steps);
  for (double& bytes : out) bytes /= shares;
  return out;
}

std::vector<LinkUtilization> link_utilization(const Topology& topology, std::span<const double> link_bytes,
                                              Picoseconds makespan) {
  std::array<LinkUtilization, kLinkKindCount> kinds{};
  std::array<std::int64_t, kLinkKindCount> links{};
  const double seconds = to_seconds(makespan);
  for (std::size_t i = 0; i < topology.links().size(); ++i) {
    const Link& link = topology.links()[i];
    const auto kind = static_cast<std::size_t>(link.kind);
    ++links[kind];
    if (seconds <= 0 || i >= link_bytes.size()) continue;
    const double share = link_bytes[i] / (static_cast<double>(link.bytes_per_s) * seconds);
    kinds[kind].mean += share;
    kinds[kind].peak = std::max(kinds[kind].peak, share);
  }
  std::vector<LinkUtilization> out;
  for (std::size_t k = 0; k < kLinkKindCount; ++k) {
    if (links[k] == 0) continue;
    out.push_back({static_cast<LinkKind>(k),
                   std::min(kinds[k].mean / static_cast<double>(links[k]), kinds[k].peak), kinds[k].peak});
  }
  return out;
}

}  // namespace orrery
