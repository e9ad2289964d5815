// Sets and checks the weights of gossip graphs. Internal to topologies/gossip/.
#pragma once

#include "topologies/gossip/wiring.hpp"

namespace orrery {

/// Every edge of every round goes both ways.
[[nodiscard]] bool goes_both_ways(const Wiring& wiring);

/// Returns, per worker, the number of workers it sends to.
[[nodiscard]] std::vector<std::uint32_t> out_degrees(const Mixing& round);

/// Weighs the rounds as `sync` wants it.
/// @throws InputError at /data_parallel_sync/weights.
void weigh(Wiring& wiring, const DataParallelSync& sync);

/// Sums of the columns of a weighted round.
[[nodiscard]] std::vector<double> column_sums(const Mixing& round);

}  // namespace orrery
