// Analyses a gossip graph: degrees, spectral gap, and the number of steps after which it averages exactly.
#pragma once

#include <cstdint>
#include <optional>

#include "orrery/gossip_graph.hpp"

namespace orrery {

/// Holds degrees over all workers and rounds.
struct GossipDegrees {
  std::uint32_t min_in = 0, max_in = 0, min_out = 0, max_out = 0;
};
[[nodiscard]] GossipDegrees gossip_degrees(const GossipGraph& graph);

/// Rows and columns add up to 1 within 1e-9, and no weight is negative.
[[nodiscard]] bool is_doubly_stochastic(const Mixing& mixing);
[[nodiscard]] bool is_doubly_stochastic(const GossipGraph& graph);

/// Returns 1 - ||W - 11^T/n||_2: the least share by which one step shrinks the distance to the average. For
/// graphs whose columns do not add up to 1 it may be negative.
/// @throws RunError if the iteration for large graphs does not converge.
[[nodiscard]] double spectral_gap(const Mixing& mixing);

/// 1 - ||W_{r-1} ... W_0 - 11^T/n||_2^(1/r): the same per step of a period of r rounds.
[[nodiscard]] double spectral_gap(const GossipGraph& graph);

/// The number of rounds, from the first, after which the product is 11^T/n up to 1e-12 (for more than 512
/// workers: up to that on random vectors); none if that does not come within a period.
[[nodiscard]] std::optional<std::uint32_t> averaging_period(const GossipGraph& graph);

/// Messages that all workers together send per step, on average over the rounds.
[[nodiscard]] double messages_per_step(const GossipGraph& graph);

}  // namespace orrery
