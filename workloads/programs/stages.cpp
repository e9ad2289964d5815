#include "workloads/programs/stages.hpp"

#include <algorithm>

#include "workloads/programs/fsdp_shards.hpp"
#include "workloads/programs/fsdp_units.hpp"

namespace orrery {
namespace {

/// ZeRO-3 holds the unit that runs and those gathered ahead of it, and the gradients of the one that runs
/// backward until they are reduced: beside the next unit, before which it waits for those of the unit before.
/// At the head most is held when the gradient of the logits is made, before its backward pass reaches a unit
/// and gathers ahead. Experts with a single copy are not sharded.
///
/// FSDP copies the gradients of a unit before it reduces them. Version 1 concatenates them into that of the
/// flat parameter, as wide as they are (autograd of torch.split in
/// torch/distributed/fsdp/_flat_param.py), and its allocator counts memory as free once the reduction is
/// issued (record_stream in _runtime_utils.py). Version 2 copies them into the input of the reduction,
/// in 32 bits, and holds that until the reduction before the next one (foreach_reduce and
/// reduce_scatter_state in torch/distributed/fsdp/_fully_shard).
class ShardedChunk {
 public:
  ShardedChunk(const Experiment& experiment, std::span<PlacedBlock> blocks)
      : experiment_(experiment),
        plan_(experiment.plan),
        version_(experiment.software.fsdp_version),
        blocks_(blocks),
        units_(fsdp_units(blocks, plan_.fsdp_unit_layers)) {}

  void hold_parameters() {
    const Bytes element = element_bytes(plan_.precision);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (plan_.reduces_every_micro_batch()) hold_gradients(b);
      if (!plan_.reshard_after_forward) continue;
      blocks_[b].gathered_ahead = element * gathered(b, true);
      blocks_[b].gathered_back = element * gathered(b, false);
    }
  }

 private:
  [[nodiscard]] std::int64_t sum(const FsdpUnit& unit, std::int64_t PlacedBlock::*member) const {
    std::int64_t sum = 0;
    for (std::size_t b = unit.first; b < unit.end; ++b)
      sum += blocks_[b].*member - (plan_.expert_copies() == 1 ? blocks_[b].experts : 0);
    return sum;
  }

  void hold_gradients(std::size_t b) {
    const Bytes element = element_bytes(plan_.precision);
    const FsdpUnit& unit = units_[b];
    const std::int64_t own = sum(unit, &PlacedBlock::trained);
    const bool on_its_way = plan_.overlap_gradient_reduce && unit.end < blocks_.size() && version_ != 1;
    const std::int64_t before = on_its_way ? sum(units_[unit.end], &PlacedBlock::trained) : 0;
    const Bytes copied = version_ == 2 ? std::max<Bytes>(4, element) : element;
    blocks_[b].unreduced = element * own + (version_ == 2 ? copied : element) * before;
    if (version_ == 0 || b != unit.first) return;
    blocks_[b].gathered_flat = (element + copied) * own;
    if (gradients_come_and_go(experiment_)) blocks_[b].arriving = shard_of(unit);
  }

  /// Returns the bytes of a rank's shard of the gradients of a unit.
  [[nodiscard]] Bytes shard_of(const FsdpUnit& unit) const {
    const std::int64_t experts = plan_.expert_copies() > 1 ? sum(unit, &PlacedBlock::experts) : 0;
    const std::int64_t others = sum(unit, &PlacedBlock::trained) - experts;
    const Bytes width = held_gradient_bytes(experiment_);
    return divide_up(others * width, plan_.sharding_ranks()) +
           (experts > 0 ? divide_up(experts * width, plan_.expert_copies()) : 0);
  }

  [[nodiscard]] std::int64_t gathered(std::size_t block, bool ahead) const {
    FsdpUnit unit = units_[block];
    std::int64_t all = sum(unit, &PlacedBlock::used);
    if (!ahead && blocks_[block].part == Part::head) return all;
    for (std::int64_t i = 0; i < plan_.units_ahead(); ++i) {
      if (ahead ? unit.end == blocks_.size() : unit.first == 0) break;
      unit = units_[ahead ? unit.end : unit.first - 1];
      all += sum(unit, &PlacedBlock::used);
    }
    return all;
  }

  const Experiment& experiment_;
  const Plan& plan_;
  std::int64_t version_;  ///< of FSDP
  std::span<PlacedBlock> blocks_;
  std::vector<FsdpUnit> units_;  ///< by block
};

bool alike_in_memory(const PlacedBlock& a, const PlacedBlock& b) {
  return a.kind == b.kind && a.gathered_ahead == b.gathered_ahead && a.gathered_back == b.gathered_back &&
         a.unreduced == b.unreduced && a.gathered_flat == b.gathered_flat && a.arriving == b.arriving;
}

/// Finds the peak of a pass. Blocks keep activations as they begin, and free them as they end. Among equal
/// blocks in a row the last one forward, and the first one backward, holds most, unless gradients come
/// meanwhile.
PassPeak find_pass_peak(const ModelBlocks& blocks, std::span<const PlacedBlock> placed, PassKind kind) {
  const bool ahead = kind == PassKind::forward;
  PassPeak peak;
  Bytes held = 0;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const std::size_t at = ahead ? i : placed.size() - 1 - i;
    const BlockMoment moment = fullest_moment(placed[at], blocks, kind);
    const bool another =
        at + 1 < placed.size() && placed[at].arriving == 0 && alike_in_memory(placed[at], placed[at + 1]);
    if (!another || kind == PassKind::backward_input) {
      const Bytes top = held + moment.at_start;
      if (i == 0 || top > peak.above) peak = {top, at};
    }
    held += moment.change;
  }
  return peak;
}

/// Finds the memory peak of each kind of pass in the schedule.
void find_pass_peaks(const ModelBlocks& blocks, BackwardSplit split, Chunk& chunk) {
  const auto find = [&](PassKind kind) {
    chunk.peaks[static_cast<std::size_t>(kind)] = find_pass_peak(blocks, chunk.blocks, kind);
  };
  find(PassKind::forward);
  for (const PassKind kind : backward_kinds(split)) find(kind);
}

/// Builds the virtual stage of the layers [from, to), with the ends of the model on the first and last. It is
/// appended to `placed`, which has room for it.
Chunk make_chunk(const ModelBlocks& blocks, std::int64_t from, std::int64_t to, bool first, bool last,
                 std::vector<PlacedBlock>& placed) {
  Chunk chunk;
  const std::size_t begin = placed.size();
  const auto place = [&](std::int64_t kind, std::int64_t layer, Part part) {
    if (kind < 0) return;
    const Block& block = blocks.kinds[static_cast<std::size_t>(kind)];
    placed.push_back({static_cast<std::uint32_t>(kind), static_cast<std::int32_t>(layer), part,
                      block.parameters, block.parameters, block.parameters - block.frozen,
                      block.expert_parameters, block.offloaded});
    chunk.activations += block.activations;
    chunk.for_weights += block.for_weights;
    chunk.parameters += block.parameters;
    chunk.trained += block.parameters - block.frozen;
    chunk.experts += block.expert_parameters;
    chunk.narrow += block.narrow;
  };
  if (first) place(blocks.embedding, -1, Part::embedding);
  for (std::int64_t layer = from; layer < to; ++layer) {
    if (layer == blocks.bridged_layer) place(blocks.bridge, -1, Part::embedding);
    place(blocks.layers[static_cast<std::size_t>(layer)], layer, Part::layer);
  }
  for (std::int64_t depth = 0; last && depth < blocks.depths; ++depth)
    place(blocks.depth, static_cast<std::int64_t>(blocks.layers.size()) + depth, Part::layer);
  if (last) place(blocks.head, -1, Part::head);
  chunk.blocks = std::span(placed).subspan(begin);
  chunk.input = blocks.boundaries[static_cast<std::size_t>(from)];
  chunk.output = blocks.boundaries[static_cast<std::size_t>(to)];
  return chunk;
}

/// A block computes with an embedding that others have as well; its rank holds a copy, but where it has the
/// embedding already.
void tie(const ModelBlocks& blocks, bool in_place, PlacedBlock& block, Chunk& chunk) {
  const std::int64_t copied = in_place ? 0 : blocks.tied_parameters;
  const std::int64_t trained = blocks.tied_are_trained ? copied : 0;
  block.parameters += copied;
  block.trained += trained;
  block.used += blocks.tied_parameters;
  chunk.parameters += copied;
  chunk.trained += trained;
}

}  // namespace

BlockMoment fullest_moment(const PlacedBlock& placed, const ModelBlocks& blocks, PassKind kind) {
  const Block& block = blocks.kinds[placed.kind];
  BlockMoment runs;
  runs.change = change(kind, block.activations.total(), block.for_weights);
  if (kind == PassKind::forward) runs.at_start = runs.change;
  BlockMoment ends{runs.change, runs.change, true, {}};
  const bool completes = completes_gradients(kind);
  if (completes) runs.change = ends.change = runs.change + placed.arriving;
  // An embedding hands no gradient on.
  const bool idle = kind == PassKind::backward_input || (kind == PassKind::backward && placed.trained == 0);
  if (placed.part == Part::embedding && idle) return runs;
  runs.workspace = block.in(kind);
  if (kind != PassKind::backward_weight)
    runs.workspace.gathered_parameters =
        kind == PassKind::forward ? placed.gathered_ahead : placed.gathered_back;
  if (completes) runs.workspace.gradient_buckets = placed.unreduced;
  runs.at_start += runs.workspace.total();
  if (!completes || placed.gathered_flat == 0) return runs;
  ends.workspace.gathered_parameters = runs.workspace.gathered_parameters;
  ends.workspace.gradient_buckets = placed.gathered_flat;
  if (kind == PassKind::backward) ends.workspace.activation_gradients = block.input_gradient;
  ends.at_start += ends.workspace.total();
  return ends.at_start > runs.at_start ? ends : runs;
}

namespace {

std::int64_t bucket_elements(const Plan& plan, Bytes width) {
  if (plan.bucket_mb == 0) return 0;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(plan.bucket_mb * 1e6) / width);
}

}  // namespace

std::int64_t bucket_elements(const Plan& plan) {
  return bucket_elements(plan, element_bytes(plan.precision));
}

std::int64_t bucket_elements(const Experiment& experiment) {
  return experiment.software.overlaps_gradient_reduce
             ? bucket_elements(experiment.plan, gradient_bytes(experiment))
             : bucket_elements(experiment.plan);
}

std::int64_t Stage::parameters() const {
  std::int64_t sum = 0;
  for (const Chunk& chunk : chunks) sum += chunk.parameters;
  return sum;
}

std::int64_t Stage::trained() const {
  std::int64_t sum = 0;
  for (const Chunk& chunk : chunks) sum += chunk.trained;
  return sum;
}

std::int64_t Stage::experts() const {
  std::int64_t sum = 0;
  for (const Chunk& chunk : chunks) sum += chunk.experts;
  return sum;
}

std::int64_t Stage::narrow() const {
  std::int64_t sum = 0;
  for (const Chunk& chunk : chunks) sum += chunk.narrow;
  return sum;
}

std::int64_t Stage::trained_tensors(const ModelBlocks& blocks) const {
  std::int64_t sum = 0;
  for (const Chunk& chunk : chunks) {
    for (const PlacedBlock& block : chunk.blocks) sum += blocks.kinds[block.kind].trained_tensors();
  }
  return sum;
}

Bytes gradient_bytes(const Experiment& experiment) {
  return std::max(element_bytes(experiment.plan.precision), Bytes{experiment.software.gradient_bytes});
}

bool alike(const Stage& a, const Stage& b) {
  const auto inner = [](const Stage& stage) { return stage.index > 0 && stage.index < stage.stages - 1; };
  const auto same_work = [](const PlacedBlock& x, const PlacedBlock& y) {
    return x.kind == y.kind && x.part == y.part && x.parameters == y.parameters && x.used == y.used &&
           x.trained == y.trained && x.experts == y.experts;
  };
  const auto same = [&](const Chunk& x, const Chunk& y) {
    return x.input == y.input && x.output == y.output && x.activations == y.activations &&
           x.for_weights == y.for_weights && std::ranges::equal(x.blocks, y.blocks, same_work);
  };
  return inner(a) && inner(b) && std::ranges::equal(a.chunks, b.chunks, same);
}

std::vector<Pass> passes_of(const Plan& plan, const Stage& stage) {
  return schedule_of(plan).order(schedule_shape(plan), stage.index);
}

Stages::Stages(const Experiment& experiment, const ModelBlocks& blocks, const Plan& plan) {
  const ChunkMap map = chunk_map(plan);
  const auto p = static_cast<std::size_t>(map.ranks);
  const auto chunks = static_cast<std::size_t>(map.chunks);
  const auto copies = static_cast<std::size_t>(map.copies());
  blocks_.reserve(
      copies * (blocks.layers.size() + static_cast<std::size_t>(blocks.depths) + 3));  // chunks refer to them
  chunks_.resize(p * chunks);
  for (std::int64_t copy = 0; copy < map.copies(); ++copy) place_model(experiment, blocks, plan, map, copy);
  stages_.reserve(p);
  for (std::size_t s = 0; s < p; ++s)
    stages_.push_back({static_cast<std::int64_t>(s), plan.pipeline_parallel,
                       std::span(chunks_).subspan(s * chunks, chunks), map});
}

void Stages::place_model(const Experiment& experiment, const ModelBlocks& blocks, const Plan& plan,
                         const ChunkMap& map, std::int64_t copy) {
  const auto counts = layers_per_virtual_stage(plan, static_cast<std::int64_t>(blocks.layers.size()));
  std::vector<bool> embeds(static_cast<std::size_t>(map.ranks), false);  // ranks that hold the embedding
  std::int64_t layer = 0;
  for (std::size_t virtual_stage = 0; virtual_stage < counts.size(); ++virtual_stage) {
    const bool last = virtual_stage + 1 == counts.size();
    const ChunkPlace at = map.place(static_cast<std::int64_t>(virtual_stage), copy);
    Chunk& chunk = chunks_[static_cast<std::size_t>(at.rank * map.chunks + at.chunk)];
    chunk = make_chunk(blocks, layer, layer + counts[virtual_stage], virtual_stage == 0, last, blocks_);
    const auto rank = static_cast<std::size_t>(at.rank);
    embeds[rank] = embeds[rank] || virtual_stage == 0 || (last && map.ends_meet());
    for (PlacedBlock& block : std::span(blocks_).last(chunk.blocks.size())) {
      const auto kind = static_cast<std::int32_t>(block.kind);
      if (kind != blocks.bridge && (kind != blocks.head || !blocks.tied_head)) continue;
      tie(blocks, embeds[rank], block, chunk);
      embeds[rank] = true;
    }
    if (plan.zero_stage == 3 && plan.sharding_ranks() > 1)
      ShardedChunk(experiment, std::span(blocks_).last(chunk.blocks.size())).hold_parameters();
    for (const PlacedBlock& block : chunk.blocks) chunk.arriving += block.arriving;
    find_pass_peaks(blocks, splits_backward(plan), chunk);
    layer += counts[virtual_stage];
  }
}

}  // namespace orrery
