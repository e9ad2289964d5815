// Describes an iteration of a serving replica and its time. It is the border between requests (this room),
// which decide the batch, and the model (workloads/inference/, sim/run/), which gives the batch its time.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "orrery/iteration_batch.hpp"
#include "orrery/units.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Holds the time that a stage spends on a batch, by activity.
struct StageWork {
  Picoseconds products_ps = 0;   ///< products of matrices: weights are read for them
  Picoseconds attention_ps = 0;  ///< keys and values are read for it
  Picoseconds kernels_ps = 0;    ///< all other kernels
  Picoseconds launch_ps = 0;     ///< between kernels, and where the host takes longer than the GPU
  std::array<Picoseconds, kDimensionCount> messages_ps{};  ///< collectives of its ranks, by dimension

  [[nodiscard]] Picoseconds total_ps() const {
    Picoseconds sum = products_ps + attention_ps + kernels_ps + launch_ps;
    for (const Picoseconds one : messages_ps) sum += one;
    return sum;
  }
};

/// Returns the times of iterations of identical replicas. Deterministic; called often, so results are cached.
class IterationCost {
 public:
  virtual ~IterationCost() = default;
  /// Pipeline stages of the replica.
  [[nodiscard]] virtual std::uint32_t stages() const = 0;
  [[nodiscard]] virtual StageWork stage_work(std::uint32_t stage, const IterationBatch& batch) = 0;
  [[nodiscard]] Picoseconds stage_ps(std::uint32_t stage, const IterationBatch& batch) {
    return stage_work(stage, batch).total_ps();
  }
  /// Returns the time from the end of a stage to the beginning of the next one.
  [[nodiscard]] virtual Picoseconds handover_ps(std::uint32_t stage, const IterationBatch& batch) = 0;
  /// The host between two iterations: choosing tokens and requests.
  /// @param pass  time of the iteration on its slowest stage, beside which the host may work
  [[nodiscard]] virtual Picoseconds between_ps(const IterationBatch& batch, Picoseconds pass) = 0;
  /// Returns the time to transfer the KV cache of `tokens` tokens from one replica to another, of any kind.
  [[nodiscard]] virtual Picoseconds transfer_ps(std::uint32_t from, std::uint32_t to,
                                                std::int64_t tokens) = 0;
};

/// Holds the memory of a replica, per GPU of its fullest stage.
struct ServingMemory {
  Bytes weights = 0;
  Bytes workspace = 0;          ///< activations of the largest iteration
  Bytes cache_per_token = 0;    ///< keys and values of a token
  Bytes usable = 0;             ///< for all of it; 0: unknown
  Bytes state_per_request = 0;  ///< of layers that recur, whatever its length
  std::string place{};          ///< of that stage, where not all GPUs are of one class
};

}  // namespace orrery
