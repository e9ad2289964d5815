// Prices the way of new weights from the ranks that train them to the ranks that generate with them, on the
// links of the cluster.
#pragma once

#include "config/experiment/read_post_training.hpp"
#include "orrery/units.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

struct WeightSync {
  Bytes model_bytes = 0;        ///< weights of the whole model, as they travel
  Bytes rollout_gpu_bytes = 0;  ///< those that a rollout GPU keeps
  std::int64_t tensors = 0;     ///< as checkpoints have them
  Picoseconds host_ps = 0;      ///< to export them one by one, and load them
  Picoseconds gather_ps = 0;    ///< trainer ranks put their shards together
  Picoseconds send_ps = 0;      ///< to the rollouts' nodes
  Picoseconds load_ps = 0;      ///< into their GPUs
  Picoseconds total_ps = 0;     ///< of all, where buckets of them run side by side less than their sum
};

/// Returns the number of tensors of a model's checkpoint: each matrix of an attention, an MLP or an expert is
/// one.
[[nodiscard]] std::int64_t checkpoint_tensors(const Model& model);

/// Returns the number of parameters of an engine's model, which joins the matrices of queries, keys and
/// values, of a gate and its neighbour, and of all experts.
[[nodiscard]] std::int64_t engine_parameters(const Model& model);

/// @param parameters  of the model
/// @param rollout_gpu_bytes  weights on a GPU of the rollouts' fullest stage
[[nodiscard]] WeightSync weight_sync(const PostTrainingExperiment& experiment, std::int64_t parameters,
                                     Bytes rollout_gpu_bytes, Memo& memo);

}  // namespace orrery
