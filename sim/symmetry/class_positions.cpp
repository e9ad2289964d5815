#include "sim/symmetry/class_positions.hpp"

namespace orrery {
namespace {

void place_ranks(const Workload& workload, const Partition& ranks, ClassPositions& result) {
  result.representatives.class_of_rank = ranks.class_of;
  result.representatives.representative = ranks.representative;
  result.representatives.multiplicity = ranks.multiplicity;
  std::vector<std::uint32_t> next(workload.programs.size(), 0);
  for (const std::uint32_t rank : ranks.representative) {
    const std::uint32_t program = workload.program_of_rank[rank];
    result.program.push_back(program);
    result.position.push_back(next[program]++);
  }
}

void place_groups(const Workload& workload, const Channels& channels, const Partition& groups,
                  ClassPositions& result) {
  result.groups.resize(channels.channels.size());
  for (const std::uint32_t group : groups.representative) {
    auto& of_channel = result.groups[channels.channel_group[group]];
    result.place_of_group.push_back(static_cast<std::uint32_t>(of_channel.size()));
    of_channel.push_back(group);
  }
  result.group_position.reserve(result.program.size() * workload.slots);
  for (const std::uint32_t rank : result.representatives.representative) {
    for (std::size_t slot = 0; slot < workload.slots; ++slot) {
      const std::uint32_t group = workload.group(rank, slot);
      result.group_position.push_back(group == kNoGroup ? kNone
                                                        : result.place_of_group[groups.class_of[group]]);
    }
  }
  for (std::uint32_t c = 0; c < channels.calls.size(); ++c) {
    for (const std::uint32_t group : result.groups[channels.calls[c].channel])
      result.representatives.transfers.push_back({c, channels.group_place[group]});
  }
}

}  // namespace

ContentHash ClassPositions::shape(const Channels& channels) const {
  ContentHash shape;
  const auto append = [&shape](const std::vector<std::uint32_t>& numbers) {
    shape.append(numbers.size());
    for (const std::uint32_t number : numbers) shape.append(number);
  };
  append(program);
  append(group_position);
  append(channels.channel_of);
  for (const auto& of_channel : groups) shape.append(of_channel.size());
  for (const Call& call : channels.calls) {
    shape.append(call.channel);
    shape.append(std::uint64_t{call.request.work} << 1 | (call.request.pass ? 1U : 0U));
  }
  return shape;
}

ClassPositions class_positions(const Workload& workload, const Channels& channels, const Folded& folded) {
  ClassPositions result;
  place_ranks(workload, folded.ranks, result);
  place_groups(workload, channels, folded.groups, result);
  return result;
}

}  // namespace orrery
