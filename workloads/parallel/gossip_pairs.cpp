// Gossip: pairs of workers that exchange models, colour by colour of each round. Where the replicas of a
// worker hold a shard each, those in the same place of two workers are a pair.
#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

std::uint32_t gossip_slots(const CommunicatorSpec& spec) {
  std::size_t slots = 0;
  for (const GossipRound& round : spec.rounds) slots += 2 * round.colours.size();
  return static_cast<std::uint32_t>(slots);
}

void form_gossip_pairs(const CommunicatorSpec& spec, std::uint32_t slot, GroupWriter& to) {
  const RankGrid& grid = spec.grid;
  const std::int64_t size = spec.replicas_per_worker;
  const auto rank_of = [&](RankCoordinates at, std::uint32_t worker, std::int64_t place) {
    at[Axis::data] = worker * size + place;
    return grid.rank(at);
  };
  for (const GossipRound& round : spec.rounds) {
    for (const std::vector<GossipRound::Edge>& colour : round.colours) {
      grid.for_each_group({Axis::data}, [&](const RankCoordinates& at) {
        for (const GossipRound::Edge edge : colour) {
          for (std::int64_t place = 0; place < spec.exchanging_replicas; ++place)
            to.add_pair(rank_of(at, edge.from, place), rank_of(at, edge.to, place), slot, slot + 1);
        }
      });
      to.add_loners(slot);
      to.add_loners(slot + 1);
      slot += 2;
    }
  }
}

}  // namespace

constinit const CommunicatorKind kGossipPairs{"gossip", Dimension::data, Slot::neighbours, {},
                                              true,     gossip_slots,    form_gossip_pairs};

}  // namespace orrery
