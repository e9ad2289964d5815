// Averages with neighbours, of all workers at once. Inside studies/converge/ and its tests.
#pragma once

#include "orrery/gossip_graph.hpp"
#include "studies/converge/objective.hpp"

namespace orrery {

/// Column i: self_i own_i + sum_j w_ij others_j.
[[nodiscard]] Matrix mix(const Mixing& mixing, const Matrix& own, const Matrix& others, unsigned threads);

/// Column i: sum_j w_ij others_j, without the worker's own share.
[[nodiscard]] Matrix received(const Mixing& mixing, const Matrix& others, unsigned threads);

/// Multiplies column i by self_i.
void keep_own_share(const Mixing& mixing, Matrix& own);

}  // namespace orrery
