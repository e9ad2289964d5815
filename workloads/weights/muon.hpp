// Implements Muon (Jordan et al. 2024; Liu et al. 2025, "Muon is Scalable for LLM Training"): the momentum of
// each matrix is made orthogonal by five Newton-Schulz iterations before it updates. Embeddings, output
// projection, norms and biases take Adam. Where states are sharded, each rank gathers whole matrices first
// (Distributed Muon, section 2.3 there) and keeps its part of the result; tensor ranks take their own part of
// a matrix for a whole one (Megatron-Core's mode "blockwise").
#pragma once

#include <vector>

#include "workloads/weights/weight_collectives.hpp"

namespace orrery {

/// Parameters of a stage that are of such matrices.
[[nodiscard]] std::int64_t muon_parameters(const Stage& stage, const ModelBlocks& blocks, Weights of);
/// Returns the bytes of second optimizer states for parameters that Muon does not update: Adam's second
/// moment, or this rank's share of it. The one moment that all parameters have is not counted. 0 with another
/// optimizer.
[[nodiscard]] Bytes second_moments_beside_muon(const Plan& plan, const Stage& stage,
                                               const ModelBlocks& blocks);
/// The iterations of all matrices of a stage, in bf16. None with another optimizer.
[[nodiscard]] std::vector<Kernel> muon_kernels(const Plan& plan, const Stage& stage,
                                               const ModelBlocks& blocks);

}  // namespace orrery
