// Describes the shards that PyTorch's FSDP holds under mixed precision (Software::fsdp_version), as opposed
// to those of other forms of ZeRO-3. Used by stages.cpp, workloads/memory/ and workloads/weights/.
#pragma once

#include "orrery/experiment.hpp"

namespace orrery {

/// Returns true if a rank holds its shard of the parameters in the width of the optimizer alone: they are
/// cast as they are gathered (MixedPrecision of torch.distributed.fsdp).
[[nodiscard]] bool shards_main_weights_alone(const Experiment& experiment);

/// Returns the bytes that a rank holds per gradient, before they are sharded: several copies in some
/// frameworks, and as wide as the shard of the parameters under FSDP.
[[nodiscard]] Bytes held_gradient_bytes(const Experiment& experiment);

/// Returns true if a rank holds gradients only from their reduction to the update: FSDP's optimizers free
/// them (zero_grad sets them to None), and the step has a single micro-batch, so that none are there before.
[[nodiscard]] bool gradients_come_and_go(const Experiment& experiment);

}  // namespace orrery
