#include "workloads/weights/weight_movements.hpp"

#include "workloads/communicators/wire_width.hpp"
#include "workloads/weights/weight_collectives.hpp"

namespace orrery {
namespace {

class StageMovements {
 public:
  StageMovements(const Experiment& experiment, const CommunicatorLayout& layout, const Stage& stage)
      : experiment_(experiment), plan_(experiment.plan), layout_(layout), stage_(stage) {}

  std::vector<WeightMovement> list() {
    for (const Weights of : kAllWeights) {
      const std::int64_t trained = sum(of, &PlacedBlock::trained);
      if (copies(of) == 1 || trained == 0) continue;
      reduce(of, trained);
      gather(of, trained);
    }
    return std::move(movements_);
  }

 private:
  [[nodiscard]] std::int64_t copies(Weights of) const {
    return of == Weights::experts ? plan_.expert_copies() : plan_.weight_copies();
  }
  [[nodiscard]] std::int64_t sum(Weights of, std::int64_t PlacedBlock::*all) const {
    std::int64_t parameters = 0;
    for (const Chunk& chunk : stage_.chunks)
      for (const PlacedBlock& block : chunk.blocks) parameters += of_block(block, of, all);
    return parameters;
  }
  [[nodiscard]] std::int64_t micro_batches() const { return plan_.micro_batches_per_copy(); }

  void reduce(Weights of, std::int64_t trained) {
    const Bytes kept = gradient_bytes(experiment_);
    const WireWidth width(plan_.wire_precision.data, kept, Precision::bf16);
    const Collective what = plan_.zero_stage > 0 ? Collective::reduce_scatter : Collective::all_reduce;
    const std::int64_t times = plan_.reduces_every_micro_batch() ? micro_batches() : 1;
    add(of, {what, width.of(trained), Dimension::data, 0, 1}, times, !plan_.overlap_gradient_reduce);
  }

  void gather(Weights of, std::int64_t trained) {
    if (plan_.zero_stage == 0) return;
    const WireWidth width(plan_.wire_precision.parameters, element_bytes(plan_.precision), plan_.precision);
    const double efficiency = experiment_.software.parameter_gather_efficiency;
    const bool by_unit = plan_.zero_stage >= 3;
    const std::int64_t parameters = by_unit ? sum(of, &PlacedBlock::used) : trained;
    const std::int64_t times = by_unit && plan_.reshard_after_forward ? 2 * micro_batches() : 1;
    add(of, {Collective::all_gather, width.of(parameters), Dimension::data, 0, efficiency}, times,
        !by_unit && !plan_.overlap_parameter_gather);
  }

  void add(Weights of, const Message& message, std::int64_t times, bool exposed) {
    const std::uint16_t slot =
        of == Weights::experts ? layout_.slot(Slot::expert_data) : layout_.sharding_slot();
    movements_.push_back({slot, message, times, exposed});
  }

  const Experiment& experiment_;
  const Plan& plan_;
  const CommunicatorLayout& layout_;
  const Stage& stage_;
  std::vector<WeightMovement> movements_;
};

}  // namespace

std::vector<WeightMovement> weight_movements(const Experiment& experiment, const CommunicatorLayout& layout,
                                             const Stage& stage) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  const bool plain =
      sync.method == SyncMethod::all_reduce && sync.compression == Compression{} && !layout.joins_replicas();
  return plain ? StageMovements(experiment, layout, stage).list() : std::vector<WeightMovement>{};
}

}  // namespace orrery
