#include "workloads/weights/parameter_gather.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {

ParameterGather::ParameterGather(const Plan& plan, const Stage& stage, WeightCollectives& collectives)
    : plan_(plan),
      stage_(stage),
      collectives_(collectives),
      ends_(static_cast<std::size_t>(plan.units_ahead()) + 1, kNoOp) {
  for (const Chunk& chunk : stage.chunks) units_.push_back(fsdp_units(chunk.blocks, plan.fsdp_unit_layers));
}

void ParameterGather::begin_step(OpId ready) {
  ready_ = ready;
  ahead_.clear();
  std::ranges::fill(ends_, kNoOp);
  whole_.clear();
  for (const auto& units : units_) whole_.emplace_back(units.size(), false);
  if (!collectives_.reduces_any() || !plan_.overlap_parameter_gather) return;
  if (plan_.zero_stage != 1 && plan_.zero_stage != 2) return;
  for (const Weights of : kAllWeights) gather_ahead(of);
}

/// Ranks with the same stages of two copies of the model have them as different chunks.
std::vector<std::size_t> ParameterGather::chunks_in_model_order() const {
  std::vector<std::size_t> chunks(stage_.chunks.size());
  std::iota(chunks.begin(), chunks.end(), std::size_t{0});
  std::ranges::sort(chunks, {}, [this](std::size_t chunk) {
    return stage_.map.virtual_stage({stage_.index, static_cast<std::int64_t>(chunk)});
  });
  return chunks;
}

/// ZeRO-1 and 2 with overlap: parameters are gathered bucket by bucket while the first forward
/// passes run; each block waits for its own bucket only.
void ParameterGather::gather_ahead(Weights of) {
  const std::int64_t bucket = bucket_elements(plan_);
  ahead_.resize(stage_.chunks.size());
  for (const std::size_t c : chunks_in_model_order()) {
    const auto& chunk = stage_.chunks[c].blocks;
    ahead_[c].resize(chunk.size(), kNoOp);
    if (!collectives_.reduces(of)) continue;
    std::int64_t parameters = 0;
    std::size_t first = 0;
    for (std::size_t b = 0; b < chunk.size(); ++b) {
      parameters += of_block(chunk[b], of, &PlacedBlock::trained);
      const bool full = bucket > 0 && parameters >= bucket;
      if (parameters == 0 || (!full && b + 1 < chunk.size())) continue;
      const OpId gather = collectives_.add(Collective::all_gather, of, parameters, Part::bucket,
                                           Phase::synchronize, nullptr, ready_);
      for (; first <= b; ++first) ahead_[c][first] = std::max(ahead_[c][first], gather);
      parameters = 0;
    }
  }
}

bool ParameterGather::meets(const Pass& pass) const {
  if (!collectives_.reduces_any() || pass.kind == Pass::Kind::backward_weight) return false;
  return plan_.zero_stage >= 3 || meets_first(pass);
}

OpId ParameterGather::before_block(const Pass& pass, std::size_t block) {
  const auto chunk = static_cast<std::size_t>(pass.chunk);
  if (!collectives_.reduces_any() || pass.kind == Pass::Kind::backward_weight) return kNoOp;
  const bool forward = pass.kind == Pass::Kind::forward;
  if (!ahead_.empty()) return forward ? ahead_[chunk][block] : kNoOp;
  const FsdpUnit& unit = unit_of(pass, block);
  if (plan_.zero_stage < 3 || !unit.begins_with(block, forward) || whole(pass, block)) return kNoOp;
  // While a unit runs, as many of the next ones are fetched as the plan says.
  const OpId after = std::max(ends_.front(), ready_);
  whole(pass, block) = !plan_.reshard_after_forward;
  const OpId common = gather_unit(Weights::common, pass, unit, after);
  return std::max(common, gather_unit(Weights::experts, pass, unit, after));
}

OpId ParameterGather::gather_unit(Weights of, const Pass& pass, const FsdpUnit& unit, OpId after) {
  const Chunk& chunk = stage_.chunks[static_cast<std::size_t>(pass.chunk)];
  std::int64_t parameters = 0;
  for (const PlacedBlock& block : chunk.blocks.subspan(unit.first, unit.end - unit.first))
    parameters += of_block(block, of, &PlacedBlock::used);
  if (!collectives_.reduces(of) || parameters == 0) return kNoOp;
  const Phase phase = pass.kind == Pass::Kind::forward ? Phase::forward : Phase::backward;
  return collectives_.add(Collective::all_gather, of, parameters, Part::layer, phase, &pass, after,
                          collectives_.pieces_of(of, chunk, unit, false));
}

/// FSDP drops parameters after a backward pass, but not while gradients are only added up (no_sync of units
/// that are not resharded after the forward pass).
void ParameterGather::after_block(const Pass& pass, std::size_t block, OpId done) {
  if (!ends_unit(pass, block)) return;
  std::shift_left(ends_.begin(), ends_.end(), 1);
  ends_.back() = done;
  const bool uses = pass.kind == Pass::Kind::backward || pass.kind == Pass::Kind::backward_input;
  if (uses && plan_.reduces_every_micro_batch()) whole(pass, block) = false;
}

OpId ParameterGather::after_update(OpId updated) {
  const bool sharded = plan_.zero_stage == 1 || plan_.zero_stage == 2;
  OpId last = updated;
  if (!sharded || plan_.overlap_parameter_gather) return last;
  for (const Weights of : kAllWeights) {
    const std::int64_t trained = collectives_.trained(of);
    if (!collectives_.reduces(of) || trained == 0) continue;
    last = std::max(last, collectives_.add(Collective::all_gather, of, trained, Part::bucket,
                                           Phase::synchronize, nullptr, updated));
  }
  return last;
}

}  // namespace orrery
