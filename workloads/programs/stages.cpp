#include "workloads/programs/stages.hpp"

#include <algorithm>

#include "workloads/parallel/optimizer_states.hpp"
#include "workloads/programs/activation_offload.hpp"
#include "workloads/programs/fsdp_units.hpp"
#include "workloads/sync/compressor.hpp"

namespace orrery {
namespace {

/// What a virtual stage of the layers [from, to) holds, on the first and last with the ends of the model; it
/// is appended to `placed`, which has room for it.
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
    chunk.activations += block.activations.total();
    chunk.for_weights += block.for_weights;
    chunk.workspace = std::max(chunk.workspace, block.workspace);
    chunk.parameters += block.parameters;
    chunk.trained += block.parameters - block.frozen;
    chunk.experts += block.expert_parameters;
  };
  if (first) place(blocks.embedding, -1, Part::embedding);
  for (std::int64_t layer = from; layer < to; ++layer) {
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

/// The last stage holds a copy of the tied embedding, but where its rank has the embedding already.
void tie_head(const ModelBlocks& blocks, bool in_place, PlacedBlock& head, Chunk& chunk) {
  const std::int64_t copied = in_place ? 0 : blocks.tied_parameters;
  const std::int64_t trained = blocks.tied_are_trained ? copied : 0;
  head.parameters += copied;
  head.trained += trained;
  head.used += blocks.tied_parameters;
  chunk.parameters += copied;
  chunk.trained += trained;
}

Bytes peak_activations(const Stage& stage, const Plan& plan) {
  const PipelineSchedule& schedule = schedule_of(plan);
  if (stage.chunks.size() == 1 && schedule.split == BackwardSplit::whole)
    return stage.chunks[0].activations * schedule.kept(schedule_shape(plan), stage.index);
  ScheduleShape shape = schedule_shape(plan);
  shape.micro_batches = micro_batches_at_peak(plan);
  Bytes held = 0;
  Bytes peak = 0;
  for (const Pass& pass : schedule.order(shape, stage.index)) {
    held += stage.chunks[static_cast<std::size_t>(pass.chunk)].change(pass.kind);
    peak = std::max(peak, held);
  }
  return peak;
}

/// ZeRO-3 holds the whole parameters of the unit that runs, and of those gathered ahead, counted at the size
/// of the largest; where they are kept after the forward pass, of all.
std::int64_t gathered_parameters(const Stage& stage, const Plan& plan) {
  if (plan.zero_stage < 3) return 0;
  std::int64_t all = 0;
  for (const Chunk& chunk : stage.chunks)
    all += sum_over(chunk, {0, chunk.blocks.size()}, &PlacedBlock::used);
  if (!plan.reshard_after_forward) return all;
  const std::int64_t largest = most_in_unit(stage, plan.fsdp_unit_layers, &PlacedBlock::used);
  return largest > all / (plan.units_ahead() + 1) ? all : (plan.units_ahead() + 1) * largest;
}

/// Sharded gradients are whole until they are reduced: a bucket of them (ZeRO-2) or a unit (ZeRO-3). Where
/// they are added up first, they are whole anyway.
std::int64_t unreduced_gradients(const Stage& stage, const Plan& plan) {
  if (!plan.reduces_every_micro_batch()) return 0;
  const std::int64_t unit =
      most_in_unit(stage, plan.zero_stage < 3 ? 1 : plan.fsdp_unit_layers, &PlacedBlock::trained);
  if (plan.zero_stage >= 3) return unit;
  const std::int64_t bucket = bucket_elements(plan) > 0 ? bucket_elements(plan) : stage.trained();
  return std::min(stage.trained(), std::max(bucket, unit));
}

Bytes workspace_of(const Stage& stage, const Plan& plan) {
  Bytes recomputed = 0;
  for (const Chunk& chunk : stage.chunks) recomputed = std::max(recomputed, chunk.workspace);
  if (plan.sharding_ranks() <= 1 || plan.zero_stage < 2) return recomputed;
  const std::int64_t held = gathered_parameters(stage, plan) + unreduced_gradients(stage, plan);
  return recomputed + held * element_bytes(plan.precision);
}

/// Experts are shared out among the ranks that hold the same ones.
Bytes optimizer_memory(const Stage& stage, const Plan& plan) {
  const auto of = [&](std::int64_t trained, std::int64_t ranks) {
    const Bytes all = divide_up(optimizer_state_bytes(plan, trained), ranks);
    const std::int64_t owned = divide_up(trained, ranks);
    const std::int64_t offloaded = offloaded_parameters(plan, owned);
    return offloaded == 0 ? all : optimizer_state_bytes(plan, owned - offloaded);
  };
  const std::int64_t experts = stage.experts();
  if (plan.zero_stage < 1) return of(stage.trained(), 1);
  return of(stage.trained() - experts, plan.sharding_ranks()) +
         (experts > 0 ? of(experts, plan.expert_copies()) : 0);
}

}  // namespace

std::int64_t bucket_elements(const Plan& plan) {
  if (plan.bucket_mb == 0) return 0;
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(plan.bucket_mb * 1e6) / element_bytes(plan.precision));
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

/// The warm-up of interleaved stages is less than 2p + vg passes of the vm there are, with groups of g,
/// unless a plan has one of its own; gradients of weights that are put off wait for less than 2p passes.
std::int64_t micro_batches_at_peak(const Plan& plan) {
  const std::int64_t group = std::max(plan.pipeline_parallel, plan.micro_batch_group_size);
  return std::min(plan.micro_batches(), 4 * group + plan.warmup_micro_batches);
}

Stages::Stages(const Plan& plan, const ModelBlocks& blocks) {
  const ChunkMap map = chunk_map(plan);
  const auto p = static_cast<std::size_t>(map.ranks);
  const auto chunks = static_cast<std::size_t>(map.chunks);
  const auto copies = static_cast<std::size_t>(map.copies());
  blocks_.reserve(
      copies * (blocks.layers.size() + static_cast<std::size_t>(blocks.depths) + 2));  // chunks refer to them
  chunks_.resize(p * chunks);
  for (std::int64_t copy = 0; copy < map.copies(); ++copy) place_model(plan, blocks, map, copy);
  stages_.reserve(p);
  for (std::size_t s = 0; s < p; ++s)
    stages_.push_back({static_cast<std::int64_t>(s), plan.pipeline_parallel,
                       std::span(chunks_).subspan(s * chunks, chunks), map});
}

void Stages::place_model(const Plan& plan, const ModelBlocks& blocks, const ChunkMap& map,
                         std::int64_t copy) {
  const auto counts = layers_per_virtual_stage(plan, static_cast<std::int64_t>(blocks.layers.size()));
  std::int64_t layer = 0;
  for (std::size_t virtual_stage = 0; virtual_stage < counts.size(); ++virtual_stage) {
    const bool last = virtual_stage + 1 == counts.size();
    const ChunkPlace at = map.place(static_cast<std::int64_t>(virtual_stage), copy);
    Chunk& chunk = chunks_[static_cast<std::size_t>(at.rank * map.chunks + at.chunk)];
    chunk = make_chunk(blocks, layer, layer + counts[virtual_stage], virtual_stage == 0, last, blocks_);
    if (last && blocks.head >= 0) tie_head(blocks, map.ends_meet(), blocks_.back(), chunk);
    layer += counts[virtual_stage];
  }
}

/// diloco keeps the model of the last period and an outer momentum, in fp32; compressors keep what they lost.
void add_sync_memory(const DataParallelSync& sync, const SyncLayout& layout, std::int64_t trained,
                     StageMemory& memory) {
  constexpr Bytes kOuterStates = 8;
  constexpr Bytes kModel = 4;
  Bytes states = Compressor(sync.compression).state_bytes_per_value();
  if (sync.method == SyncMethod::diloco) states += kOuterStates;
  memory.optimizer += states * trained;
  std::uint32_t neighbours = 0;
  for (const SyncLayout::Round& round : layout.rounds()) neighbours = std::max(neighbours, round.in_degree);
  memory.workspace += kModel * neighbours * trained;
}

StageMemory memory_of(const Stage& stage, const Experiment& experiment, const SyncLayout& layout) {
  const Plan& plan = experiment.plan;
  const Bytes element = element_bytes(plan.precision);
  constexpr int kNever = 4;
  // Experts are shared out among the ranks that hold the same ones.
  const std::int64_t experts = stage.experts();
  const auto sharded = [&](std::int64_t parameters, Bytes each, int from_stage) {
    if (plan.zero_stage < from_stage) return parameters * each;
    const Bytes of_experts = experts > 0 ? divide_up(experts * each, plan.expert_copies()) : 0;
    return divide_up((parameters - experts) * each, plan.sharding_ranks()) + of_experts;
  };
  const std::int64_t trained = stage.trained();
  StageMemory memory;
  memory.parameters_count = stage.parameters();
  memory.parameters = sharded(memory.parameters_count, element, 3);
  const int gradients_from = plan.reduces_every_micro_batch() ? 2 : kNever;
  memory.gradients = sharded(trained, gradient_bytes(experiment), gradients_from);
  memory.optimizer = optimizer_memory(stage, plan);
  memory.activations = peak_activations(stage, plan);
  memory.workspace = workspace_of(stage, plan) + offload_buffers(stage);
  if (plan.data_parallel > 1) add_sync_memory(experiment.data_parallel_sync, layout, trained, memory);
  return memory;
}

}  // namespace orrery
