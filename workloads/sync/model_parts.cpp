#include "workloads/sync/model_parts.hpp"

#include <algorithm>

#include "orrery/fragments.hpp"

namespace orrery {

ModelParts::ModelParts(const Experiment& experiment, const ModelBlocks& blocks, const Stage& stage,
                       Bytes width, std::int64_t shards)
    : sync_(experiment.data_parallel_sync),
      layers_(experiment.model.all_layers()),
      blocks_(blocks),
      stage_(stage),
      all_{stage.trained(), std::max<std::int64_t>(1, stage.trained_tensors(blocks)), width},
      shards_(shards) {}

/// The embedding travels with the first layer, the head with the last.
bool ModelParts::holds(const Departure& departure, const PlacedBlock& block) const {
  if (departure.fragments == 1) return true;
  std::int64_t layer = block.layer;
  if (layer < 0) layer = block.part == Part::embedding ? 0 : layers_ - 1;
  return fragment_of_layer(sync_, layer, layers_) == departure.fragment;
}

Payload ModelParts::of(const Departure& departure) const {
  const Payload all = whole(departure);
  return {divide_up(all.values, shards_), divide_up(all.tensors, shards_), all.width};
}

/// Returns the payload of all shards together.
Payload ModelParts::whole(const Departure& departure) const {
  if (departure.fragments == 1 || !fragments_by_layer(sync_))
    return {divide_up(all_.values, departure.fragments), divide_up(all_.tensors, departure.fragments),
            all_.width};
  Payload part{0, 0, all_.width};
  for (const Chunk& chunk : stage_.chunks) {
    for (const PlacedBlock& block : chunk.blocks) {
      if (!holds(departure, block)) continue;
      part.values += block.trained;
      part.tensors += blocks_.kinds[block.kind].trained_tensors();
    }
  }
  part.tensors = std::max<std::int64_t>(1, part.tensors);
  return part;
}

}  // namespace orrery
