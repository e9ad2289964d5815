#include "workloads/memory/stage_peak.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "workloads/memory/passes_side_by_side.hpp"

namespace orrery {
namespace {

/// Counts micro-batches whose activations a chunk keeps, and those whose inputs of weight gradients it keeps.
struct Held {
  std::int64_t whole = 0;
  std::int64_t for_weights = 0;

  void run(PassKind kind) {
    whole += kind == PassKind::forward ? 1 : 0;
    whole -= kind == PassKind::backward || kind == PassKind::backward_input ? 1 : 0;
    for_weights += kind == PassKind::backward_input ? 1 : 0;
    for_weights -= kind == PassKind::backward_weight ? 1 : 0;
  }
};

PeakMoment::Pass pass_of(PassKind kind) {
  if (kind == PassKind::forward) return PeakMoment::Pass::forward;
  return hands_on(kind) ? PeakMoment::Pass::backward : PeakMoment::Pass::weight_gradient;
}

std::int32_t first_layer(const Chunk& chunk) {
  const auto first = std::ranges::find_if(chunk.blocks, [](const PlacedBlock& b) { return b.layer >= 0; });
  return first == chunk.blocks.end() ? 0 : first->layer;
}

class PeakSearch {
 public:
  PeakSearch(const Stage& stage, const ModelBlocks& blocks, bool side_by_side)
      : stage_(stage), blocks_(blocks), side_by_side_(side_by_side), held_(stage.chunks.size()) {}

  void run(std::span<const Pass> order) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool pair = side_by_side_ && i + 1 < order.size() && are_pair(order[i], order[i + 1]);
      pair ? run_pair(order[i], order[i + 1]) : run(order[i]);
      if (pair) ++i;
    }
  }

  /// A schedule holds that many micro-batches of the only chunk at most, and then runs backward.
  void run_forward(std::int64_t micro_batches) {
    held_[0].whole = micro_batches - 1;
    bytes_ = held_[0].whole * stage_.chunks[0].change(PassKind::forward);
    run(std::array<Pass, 2>{
        {{PassKind::forward, static_cast<std::int32_t>(micro_batches - 1), 0}, {PassKind::backward, 0, 0}}});
  }

  /// Number of the pass that has the peak.
  [[nodiscard]] std::size_t place() const { return place_; }

  [[nodiscard]] StagePeak found() const {
    StagePeak peak;
    if (most_ == 0) return peak;
    peak.arrived = arrived_at_peak_;
    for (std::size_t c = 0; c < at_peak_.size(); ++c) {
      peak.activations += at_peak_[c].whole * stage_.chunks[c].activations;
      peak.activations[ActivationKind::for_weights] += at_peak_[c].for_weights * stage_.chunks[c].for_weights;
    }
    if (pair_) {
      peak.activations += pair_->activations;
      peak.workspace = pair_->workspace;
      peak.moment = moment(pair_->block);
    } else {
      add_pass(peak);
    }
    return peak;
  }

 private:
  /// Tests passes in the order in which they are written: the backward pass does not wait for the whole
  /// forward pass.
  static bool are_pair(const Pass& one, const Pass& other) {
    return one.kind == PassKind::forward && other.kind == PassKind::backward &&
           (one.micro_batch != other.micro_batch || one.chunk != other.chunk);
  }
  [[nodiscard]] const Chunk& chunk_of(const Pass& pass) const {
    return stage_.chunks[static_cast<std::size_t>(pass.chunk)];
  }

  void run(const Pass& pass) {
    note(chunk_of(pass).peak(pass.kind).above, pass);
    end(pass);
  }

  void run_pair(const Pass& ahead, const Pass& back) {
    const auto [known, anew] = pairs_.try_emplace({ahead.chunk, back.chunk});
    PairPeak& pair = known->second;
    if (anew) pair = peak_side_by_side(chunk_of(ahead), chunk_of(back), blocks_);
    if (note(pair.above, pair.in_backward ? back : ahead)) {
      pair_ = pair;
      place_ += pair.in_backward ? 1 : 0;
    }
    end(ahead);
    end(back);
  }

  bool note(Bytes above, const Pass& pass) {
    if (bytes_ + above <= most_) return false;
    most_ = bytes_ + above;
    at_peak_ = held_;
    arrived_at_peak_ = arrived_;
    pass_ = pass;
    place_ = passes_;
    pair_.reset();
    return true;
  }

  void end(const Pass& pass) {
    bytes_ += chunk_of(pass).change(pass.kind);
    arrived_ += chunk_of(pass).arrived_in(pass.kind);
    held_[static_cast<std::size_t>(pass.chunk)].run(pass.kind);
    ++passes_;
  }

  [[nodiscard]] PeakMoment moment(std::size_t at) const {
    const Chunk& chunk = chunk_of(pass_);
    const std::int32_t layer = chunk.blocks[at].layer;
    return {pass_of(pass_.kind), pass_.micro_batch, pass_.chunk, layer < 0 ? -1 : layer - first_layer(chunk),
            at + 1 == chunk.blocks.size()};
  }

  /// Adds the memory that the pass has kept and freed before the block with the largest workspace.
  void add_pass(StagePeak& peak) const {
    const Chunk& chunk = chunk_of(pass_);
    const std::size_t at = chunk.peak(pass_.kind).block;
    const auto block = [&](std::size_t i) -> const Block& { return blocks_.kinds[chunk.blocks[i].kind]; };
    if (pass_.kind == PassKind::forward) {
      for (std::size_t i = 0; i <= at; ++i) peak.activations += block(i).activations;
    }
    for (std::size_t i = at + 1; pass_.kind != PassKind::forward && i < chunk.blocks.size(); ++i) {
      if (pass_.kind != PassKind::backward_weight) peak.activations -= block(i).activations;
      if (pass_.kind == PassKind::backward) continue;
      const Bytes kept = block(i).for_weights;
      peak.activations[ActivationKind::for_weights] += pass_.kind == PassKind::backward_input ? kept : -kept;
    }
    const BlockMoment fullest = fullest_moment(chunk.blocks[at], blocks_, pass_.kind);
    const bool whole = pass_.kind == PassKind::backward;
    if (fullest.freed && whole) peak.activations -= block(at).activations;
    if (fullest.freed && !whole) peak.activations[ActivationKind::for_weights] -= block(at).for_weights;
    if (completes_gradients(pass_.kind))
      for (std::size_t i = at + 1; i < chunk.blocks.size(); ++i) peak.arrived += chunk.blocks[i].arriving;
    peak.workspace = fullest.workspace;
    peak.moment = moment(at);
  }

  const Stage& stage_;
  const ModelBlocks& blocks_;
  bool side_by_side_;       ///< a forward and a backward pass in a row are
  std::vector<Held> held_;  ///< per chunk
  Bytes bytes_ = 0;
  Bytes most_ = 0;
  Bytes arrived_ = 0;                                                ///< of gradients
  std::vector<Held> at_peak_;                                        ///< before the pass
  Bytes arrived_at_peak_ = 0;                                        ///< likewise
  Pass pass_;                                                        ///< whose block begins at the peak
  std::optional<PairPeak> pair_;                                     ///< where it is one of two side by side
  std::map<std::pair<std::int32_t, std::int32_t>, PairPeak> pairs_;  ///< by their chunks
  std::size_t passes_ = 0;                                           ///< so far
  std::size_t place_ = 0;                                            ///< of pass_
};

/// Returns true if two orders are equal up to and with the pass at `place`, each counting micro-batches
/// within its copy of the model.
bool begin_alike(std::span<const Pass> a, std::span<const Pass> b, std::size_t place, std::int64_t of_copy_a,
                 std::int64_t of_copy_b) {
  for (std::size_t i = 0; i <= place; ++i) {
    if (a[i].kind != b[i].kind || a[i].chunk != b[i].chunk ||
        a[i].micro_batch % of_copy_a != b[i].micro_batch % of_copy_b)
      return false;
  }
  return true;
}

/// The peak of a step of fewer micro-batches, as its whole step numbers them. A peak that a longer step does
/// not come to after the same passes belongs to the end.
class WholeStep {
 public:
  WholeStep(const Plan& plan, const ScheduleShape& few, std::int64_t period)
      : schedule_(schedule_of(plan)),
        few_(few),
        all_(plan.micro_batches()),
        copies_(plan.model_copies()),
        period_(period) {}

  void number(std::int64_t stage, std::span<const Pass> order, std::size_t place, PeakMoment& moment) const {
    if (few_.micro_batches == all_) return;
    const std::int64_t of_copy = few_.micro_batches / copies_;
    const std::int64_t copy = moment.micro_batch / of_copy;
    std::int64_t number = moment.micro_batch % of_copy;
    ScheduleShape longer = few_;
    longer.micro_batches += period_;
    if (!begin_alike(order, schedule_.order(longer, stage), place, of_copy, longer.micro_batches / copies_))
      number += (all_ - few_.micro_batches) / copies_;
    moment.micro_batch = static_cast<std::int32_t>(copy * (all_ / copies_) + number);
  }

 private:
  const PipelineSchedule& schedule_;
  ScheduleShape few_;
  std::int64_t all_;     ///< micro-batches
  std::int64_t copies_;  ///< of the model
  std::int64_t period_;  ///< in micro-batches of all copies
};

}  // namespace

/// The warm-up of interleaved stages is less than 2p + vg passes of the vm there are, with groups of g,
/// unless a plan has one of its own; gradients of weights that are put off wait for less than 2p passes.
std::int64_t micro_batches_at_peak(const Plan& plan) {
  const std::int64_t group = std::max(plan.pipeline_parallel, plan.micro_batch_group_size);
  return std::min(plan.micro_batches(), 4 * group + plan.warmup_micro_batches);
}

StagePeak find_peak(const Stage& stage, const ModelBlocks& blocks, const Plan& plan) {
  PeakSearch search(stage, blocks, plan.overlap_expert_parallel);
  const PipelineSchedule& schedule = schedule_of(plan);
  if (stage.chunks.size() == 1 && schedule.split == BackwardSplit::whole) {
    search.run_forward(schedule.kept(schedule_shape(plan), stage.index));
    return search.found();
  }
  ScheduleShape shape = schedule_shape(plan);
  const std::int64_t all = shape.micro_batches;
  const std::int64_t period = schedule.steady_state(shape).period * plan.model_copies();
  const std::int64_t few = micro_batches_at_peak(plan);
  shape.micro_batches = few + (all - few) % period;  // whole periods are left out
  const std::vector<Pass> order = schedule.order(shape, stage.index);
  search.run(order);
  StagePeak peak = search.found();
  if (peak.moment.pass != PeakMoment::Pass::none)
    WholeStep(plan, shape, period).number(stage.index, order, search.place(), peak.moment);
  return peak;
}

}  // namespace orrery
