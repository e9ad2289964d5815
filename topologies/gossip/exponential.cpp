// Shifts by powers of two (Assran et al. 2019; Ying et al. 2021, "Exponential graph is provably efficient
// for decentralized deep training"), and by powers of four both ways, as BlueFog has them.
#include "topologies/gossip/wiring.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kSymmetricBase = 4;

std::vector<std::int64_t> powers_of_two_below(std::uint32_t workers) {
  std::vector<std::int64_t> shifts;
  for (std::int64_t shift = 1; shift < workers; shift *= 2) shifts.push_back(shift);
  return shifts;
}

}  // namespace

Wiring wire_exponential(const DataParallelSync& sync, const GossipSize& size) {
  const std::vector<std::int64_t> shifts = powers_of_two_below(size.workers);
  check_edge_count(sync, size, static_cast<double>(shifts.size()) * size.workers);
  return one_round(shift_round(size.workers, shifts));
}

/// Round k of ceil(log2 n): a shift by 2^k. The product of the rounds is the average if and only if n is
/// a power of two.
Wiring wire_one_peer_exponential(const DataParallelSync& sync, const GossipSize& size) {
  const std::vector<std::int64_t> shifts = powers_of_two_below(size.workers);
  check_edge_count(sync, size, static_cast<double>(shifts.size()) * size.workers);
  Wiring wiring;
  for (const std::int64_t shift : shifts) wiring.rounds.push_back(shift_round(size.workers, {&shift, 1}));
  return wiring;
}

/// Every worker at a distance along the circle that is a power of four.
Wiring wire_symmetric_exponential(const DataParallelSync& sync, const GossipSize& size) {
  std::vector<std::int64_t> shifts;
  for (std::int64_t distance = 1; distance <= size.workers / 2; distance *= kSymmetricBase) {
    shifts.push_back(distance);
    shifts.push_back(-distance);
  }
  check_edge_count(sync, size, static_cast<double>(shifts.size()) * size.workers);
  return one_round(shift_round(size.workers, shifts));
}

}  // namespace orrery
