// How many tokens go where in a mixture of experts: on the rank that has most of them, and to how many ranks
// and nodes each token goes.
#pragma once

#include <cstdint>

#include "orrery/experiment.hpp"

namespace orrery {

/// Sum of Plan::token_histogram.
[[nodiscard]] std::int64_t histogram_tokens(const Plan& plan);

/// Tokens on the rank that gets most, over those on a rank if all got equally many. All ranks of a layer wait
/// for that one. At most Plan::capacity_factor where that is given, and less than 1 where it drops tokens of
/// all.
///   uniform    1
///   zipf       expert k gets 1 / k of what the first gets; a rank has neighbouring experts, so the first has
///   most worst      all tokens choose the experts of one rank: min(K, E / n) n / K for K of E experts on n
///   ranks
[[nodiscard]] double token_load(const Model& model, const Plan& plan);

/// To how many of `holders` ranks or nodes a token goes, in the mean over all choices of K experts, where
/// each holds E / holders of them. In groups (node-limited routing) a token chooses from some groups only,
/// all equally often.
[[nodiscard]] double holders_per_token(const Model& model, std::int64_t holders);

/// Of the ranks that share experts, how many lie in a node (or in an NVLink domain), side by side; 0 where
/// that is not the same everywhere.
[[nodiscard]] std::int64_t expert_ranks_in_node(const Experiment& experiment);

}  // namespace orrery
