// Counts the tokens of a mixture of experts: those on the rank that receives most, and the ranks and nodes
// that each token is sent to.
#pragma once

#include <cstdint>

#include "orrery/experiment.hpp"

namespace orrery {

/// Sum of Plan::token_histogram.
[[nodiscard]] std::int64_t histogram_tokens(const Plan& plan);

/// Returns the tokens on the rank that gets most, over those on a rank if all got equally many. All ranks of
/// a layer wait for that one. It is at most Plan::capacity_factor if that is given, and less than 1 if it
/// drops tokens of all.
///   uniform    1
///   zipf       expert k gets 1 / k of the first one's tokens; a rank has neighbouring experts, so the first
///              rank has most
///   worst      all tokens choose the experts of one rank: min(K, E / n) n / K for K of E experts on n ranks
[[nodiscard]] double token_load(const Model& model, const Plan& plan);

/// Returns to how many of `holders` ranks or nodes a token goes, in the mean over all choices of K experts,
/// if each holds E / holders of them. In groups (node-limited routing) a token chooses from some groups only,
/// all equally often.
[[nodiscard]] double holders_per_token(const Model& model, std::int64_t holders);

/// Returns how many of the ranks that share experts lie side by side in a node (or NVLink domain); 0 if that
/// number differs between nodes.
[[nodiscard]] std::int64_t expert_ranks_in_node(const Experiment& experiment);

}  // namespace orrery
