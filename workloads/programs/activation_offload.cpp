#include "workloads/programs/activation_offload.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

constexpr Bytes kLayersOnTheWay = 3;

}  // namespace

void offload_layers(const Plan& plan, ModelBlocks& blocks) {
  if (plan.offload != Offload::activations) return;
  std::map<std::uint32_t, std::uint32_t> offloaded;  // by kind
  std::size_t first = 0;
  for (const std::int64_t layers :
       layers_per_virtual_stage(plan, static_cast<std::int64_t>(blocks.layers.size()))) {
    const auto some =
        static_cast<std::size_t>(std::ceil(plan.offload_fraction * static_cast<double>(layers)));
    for (std::size_t layer = first; layer < first + some; ++layer) {
      const std::uint32_t kind = blocks.layers[layer];
      const auto [known, anew] = offloaded.try_emplace(kind, static_cast<std::uint32_t>(blocks.kinds.size()));
      if (anew) {
        Block block = blocks.kinds[kind];
        block.offloaded = block.activations.total();
        block.activations = {};
        block.same_steps = static_cast<std::int32_t>(kind);
        blocks.kinds.push_back(std::move(block));
      }
      blocks.layers[layer] = known->second;
    }
    first += static_cast<std::size_t>(layers);
  }
}

void copy_steps_to_offloaded(ModelBlocks& blocks) {
  for (Block& block : blocks.kinds) {
    if (block.same_steps < 0) continue;
    const Block& like = blocks.kinds[static_cast<std::size_t>(block.same_steps)];
    block.steps = like.steps;
    block.recompute = like.recompute;
  }
}

Bytes offload_buffers(const Stage& stage) {
  Bytes largest = 0;
  for (const Chunk& chunk : stage.chunks) {
    for (const PlacedBlock& block : chunk.blocks) largest = std::max(largest, block.offloaded);
  }
  return kLayersOnTheWay * largest;
}

ActivationOffload::ActivationOffload(const Plan& plan, const ModelBlocks& blocks, const Stage& stage,
                                     Workload& workload, ProgramWriter& writer)
    : stage_(stage), workload_(workload), writer_(writer) {
  for (const Chunk& chunk : stage.chunks) {
    first_block_.push_back(blocks_);
    blocks_ += chunk.blocks.size();
  }
  if (plan.offload != Offload::activations) return;
  out_.assign(static_cast<std::size_t>(plan.micro_batches()) * blocks_, kNoOp);
  for (const Block& block : blocks.kinds) {  // numbered whatever the order of passes is
    if (block.offloaded > 0) find_work(workload, {host_copy(block.offloaded)}, 0);
  }
}

void ActivationOffload::begin_step(std::int32_t step) {
  step_ = step;
  latest_out_.fill(kNoOp);
  ends_.fill(kNoOp);
}

bool ActivationOffload::meets(const Pass& pass) const {
  if (out_.empty() || !hands_on(pass.kind)) return false;
  const auto& blocks = stage_.chunks[static_cast<std::size_t>(pass.chunk)].blocks;
  return std::ranges::any_of(blocks, [](const PlacedBlock& block) { return block.offloaded > 0; });
}

OpId& ActivationOffload::copy_out(const Pass& pass, std::size_t block) {
  const std::size_t at = first_block_[static_cast<std::size_t>(pass.chunk)] + block;
  return out_[static_cast<std::size_t>(pass.micro_batch) * blocks_ + at];
}

OpId ActivationOffload::before_block(const Pass& pass, std::size_t block) {
  if (out_.empty() || !hands_on(pass.kind) || offloaded(pass, block) == 0) return kNoOp;
  if (pass.kind == Pass::Kind::forward) return latest_out_.front();
  return copy(Stream::copy_from_host, pass, block, copy_out(pass, block), ends_.front());
}

void ActivationOffload::after_block(const Pass& pass, std::size_t block, OpId done) {
  if (out_.empty()) return;
  ends_ = {ends_.back(), done};
  if (pass.kind != Pass::Kind::forward || offloaded(pass, block) == 0) return;
  const OpId out = copy_out(pass, block) = copy(Stream::copy_to_host, pass, block, done, kNoOp);
  latest_out_ = {latest_out_.back(), out};
}

OpId ActivationOffload::copy(Stream stream, const Pass& pass, std::size_t block, OpId dep, OpId after) {
  Op op;
  op.stream = stream;
  op.phase = phase_of(pass.kind);
  op.part = Part::layer;
  op.work = find_work(workload_, {host_copy(offloaded(pass, block))}, 0);
  op.layer = stage_.chunks[static_cast<std::size_t>(pass.chunk)].blocks[block].layer;
  op.micro_batch = pass.micro_batch;
  op.chunk = pass.chunk;
  op.step = step_;
  return writer_.add(op, {dep, after});
}

}  // namespace orrery
