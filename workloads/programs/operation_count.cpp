#include "workloads/programs/operation_count.hpp"

#include <algorithm>

#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/programs/fused_pass.hpp"

namespace orrery {

std::int64_t count_operations(const Experiment& experiment, const CommunicatorLayout& layout,
                              const ModelBlocks& blocks, const Stage& stage) {
  const std::int64_t micro_batches = experiment.plan.micro_batches();
  const bool whole = has_fused_passes(experiment) && !experiment.plan.moves_weights_every_micro_batch() &&
                     experiment.plan.offload != Offload::activations;
  const std::int64_t per_pass = whole ? 32 : 8;  // receive, gather, send, host; ends and body of a whole pass
  const std::int64_t spelt_out = whole ? 1 : micro_batches;  // passes that data-parallel collectives meet
  std::int64_t operations = 0;
  for (const Chunk& chunk : stage.chunks) {
    operations += per_pass * micro_batches;
    std::int64_t steps = 0;
    for (const PlacedBlock& placed : chunk.blocks) {
      const Block& block = blocks.kinds[placed.kind];
      // gathers, reduction, copies
      const std::int64_t moves = 3 * std::max<std::int64_t>(1, block.tensors) + (block.offloaded > 0 ? 2 : 0);
      steps += moves + static_cast<std::int64_t>(block.recompute.list.size());
      for (const Steps& one : block.steps) steps += static_cast<std::int64_t>(one.list.size());
    }
    operations += steps * spelt_out;
  }
  const std::int64_t bucket = bucket_elements(experiment);
  const std::int64_t buckets = bucket > 0 ? stage.trained() / bucket + 1 : 1;
  std::size_t neighbours = 0;
  for (const CommunicatorLayout::Round& round : layout.rounds())
    neighbours = std::max(neighbours, round.colours.size());
  const std::int64_t times = experiment.plan.reduces_every_micro_batch() ? micro_batches : 1;
  // per bucket: two messages with each neighbour for low-rank; reduction, shares, compression, sums
  const auto per_bucket = static_cast<std::int64_t>(4 * neighbours + 12);
  return (operations + buckets * times * per_bucket) * experiment.simulation.steps;
}

}  // namespace orrery
