// Computes the memory of a GPU by the accounting of the LLM Parallelism Explorer (Khare 2024), a coarse one,
// to set beside that of account_memory() and to repeat its tables. For the command line and for programs;
// knows nothing of stages.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "orrery/model.hpp"
#include "orrery/plan.hpp"

namespace orrery {

/// Names the tensors that data-parallel ranks shard, in the explorer's words, by ZeRO stage.
inline constexpr std::array<std::string_view, 4> kExplorerShardings{
    "NO_OP", "OPTIMIZER_STATES", "OPTIMIZER_STATES_AND_GRADS", "FULLY_SHARD"};

/// Holds the memory of one GPU; all GPUs have the same.
struct ExplorerMemory {
  std::int64_t dense_parameters = 0;   ///< of the embedding, attention and the MLPs of layers without experts
  std::int64_t expert_parameters = 0;  ///< of experts
  double states_bytes = 0;             ///< weights, gradients and optimizer
  double activations_bytes = 0;
  double pipeline_bubble = 0;  ///< (p - 1) / m
  double token_imbalance =
      1;  ///< tokens of the busiest rank over the mean, where experts lie on several ranks

  [[nodiscard]] double total_bytes() const { return states_bytes + activations_bytes; }
};

/// The figures of a transformer, with or without experts; docs/theory/memory.md has the equations.
/// @throws InputError for models of another kind, and where the explorer's equations divide by 0.
[[nodiscard]] ExplorerMemory explorer_memory(const Model& model, const Plan& plan);

}  // namespace orrery
