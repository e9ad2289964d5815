#include "workloads/weights/weight_collectives.hpp"

#include <algorithm>

#include "workloads/models/step_builder.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

bool reduces_gradients(const Experiment& experiment, const CommunicatorLayout& layout, std::int64_t copies) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  if (copies == 1 || sync.method == SyncMethod::none) return false;
  return averages_gradients(sync) || layout.joins_replicas();
}

}  // namespace

std::int64_t of_block(const PlacedBlock& block, Weights of, std::int64_t PlacedBlock::*all) {
  return of == Weights::experts ? block.experts : block.*all - block.experts;
}

bool averages_gradients(const DataParallelSync& sync) {
  return sync_method(sync.method).travels == Travels::gradients;
}

WeightCollectives::WeightCollectives(const Experiment& experiment, const CommunicatorLayout& layout,
                                     const ModelBlocks& blocks, const Stage& stage, Workload& workload,
                                     ProgramWriter& writer)
    : layout_(layout),
      blocks_(blocks),
      stage_(stage),
      workload_(workload),
      writer_(writer),
      reduces_{reduces_gradients(experiment, layout, experiment.plan.weight_copies()),
               stage.experts() > 0 && reduces_gradients(experiment, layout, experiment.plan.expert_copies())},
      by_tensor_(experiment.software.gathers_tensors),
      in_a_row_(experiment.simulation.detail == Detail::stage &&
                experiment.simulation.network == Network::alpha_beta),
      element_(element_bytes(experiment.plan.precision)),
      gradient_(gradient_bytes(experiment)),
      parameters_(experiment.plan.wire_precision.parameters, element_, experiment.plan.precision),
      gradients_(experiment.plan.wire_precision.data, gradient_, Precision::bf16),
      message_host_(from_microseconds(experiment.software.collective_issue_us)),
      gather_efficiency_(experiment.software.parameter_gather_efficiency),
      cast_host_(from_microseconds(experiment.software.backward_issue_us)) {}

Op WeightCollectives::label(Stream stream, const Pass* pass) const {
  Op op;
  op.stream = stream;
  op.phase = Phase::synchronize;
  op.part = Part::bucket;
  op.step = step_;
  if (pass != nullptr) {
    op.micro_batch = pass->micro_batch;
    op.chunk = pass->chunk;
  }
  return op;
}

OpId WeightCollectives::cast(const Kernel& kernel, Stream stream, const Pass* pass, OpId dep) {
  Op op = label(stream, pass);
  op.kind = Op::Kind::compute;
  op.work = find_work(workload_, {kernel}, cast_host_);
  return writer_.add(op, {dep});
}

OpId WeightCollectives::cast_gradients(std::int64_t parameters, const Pass* pass, OpId dep) {
  return gradients_.casts() ? cast(gradients_.cast(parameters * gradient_), Stream::data, pass, dep) : dep;
}

OpId WeightCollectives::add(Collective what, Weights of, std::int64_t parameters, Part part, Phase phase,
                            const Pass* pass, OpId dep, std::int64_t pieces) {
  const bool gathers = what == Collective::all_gather;
  const bool over_copies = what == Collective::all_reduce && of == Weights::common;
  Op op = label(gathers ? Stream::gather : over_copies ? Stream::copies : Stream::data, pass);
  op.kind = Op::Kind::communicate;
  op.phase = phase;
  op.part = part;
  if (of == Weights::experts) {
    op.slot = layout_.slot(Slot::expert_data);
  } else {
    op.slot = over_copies ? layout_.copies_slot() : layout_.sharding_slot();
  }
  const WireWidth& width = gathers ? parameters_ : gradients_;
  const Message one{what, width.of(divide_up(parameters, pieces)), Dimension::data, message_host_,
                    gathers ? gather_efficiency_ : 1};
  const std::uint32_t times = together(pieces);
  op.work = add_message(workload_, in_a_row(one, times));
  OpId last = kNoOp;
  for (std::int64_t i = 0; i < pieces; i += times) last = writer_.add(op, {dep});
  return gathers && width.casts() ? cast(width.cast(parameters * element_), op.stream, pass, last) : last;
}

std::int64_t WeightCollectives::pieces_of(Weights of, const Chunk& chunk, const FsdpUnit& unit,
                                          bool trained) const {
  if (!by_tensor_) return 1;
  std::int64_t tensors = 0;
  for (const PlacedBlock& placed : chunk.blocks.subspan(unit.first, unit.end - unit.first)) {
    const Block& block = blocks_.kinds[placed.kind];
    const std::int64_t all = trained ? block.trained_tensors() : block.tensors;
    tensors += of == Weights::experts ? block.expert_tensors : all - block.expert_tensors;
  }
  return std::max<std::int64_t>(1, tensors);
}

}  // namespace orrery
