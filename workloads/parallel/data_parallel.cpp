#include "workloads/parallel/data_parallel.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

/// The optimizer step over `parameters` in `tensors` tensors.
std::uint32_t add_optimizer(const Software& software, std::int64_t parameters, std::int64_t tensors,
                            Workload& workload) {
  const double bytes = static_cast<double>(parameters) * software.optimizer_bytes_per_parameter;
  const Int128 issue = Int128{from_microseconds(software.parameter_issue_us)} * tensors;
  constexpr Picoseconds kLongest = std::numeric_limits<Picoseconds>::max();
  return find_work(workload, {memory(static_cast<Bytes>(bytes + 0.5))},
                   issue < kLongest ? static_cast<Picoseconds>(issue) : kLongest);
}

/// Whether the optimizer takes the mean gradient of all replicas.
bool averages_gradients(const DataParallelSync& sync) {
  return sync.method == SyncMethod::all_reduce || sync.method == SyncMethod::parameter_server;
}

bool reduces_gradients(const Experiment& experiment, const SyncLayout& layout, std::int64_t copies) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  if (copies == 1 || sync.method == SyncMethod::none) return false;
  return averages_gradients(sync) || layout.by_node();
}

std::int64_t of_block(const PlacedBlock& block, Weights of, std::int64_t PlacedBlock::*all) {
  return of == Weights::experts ? block.experts : block.*all - block.experts;
}

}  // namespace

DataParallel::DataParallel(const Experiment& experiment, const SyncLayout& layout, const ModelBlocks& blocks,
                           const Stage& stage, Workload& workload, ProgramWriter& writer)
    : experiment_(experiment),
      plan_(experiment.plan),
      layout_(layout),
      by_tensor_(experiment.software.gathers_tensors),
      reduces_{reduces_gradients(experiment, layout, plan_.weight_copies()),
               stage.experts() > 0 && reduces_gradients(experiment, layout, plan_.expert_copies())},
      enabled_(reduces_[0] || reduces_[1]),
      everywhere_(averages_gradients(experiment.data_parallel_sync)),
      in_a_row_(experiment.simulation.detail == Detail::stage &&
                experiment.simulation.network == Network::alpha_beta),
      blocks_(blocks),
      stage_(stage),
      workload_(workload),
      writer_(writer),
      element_(element_bytes(plan_.precision)),
      gradient_(gradient_bytes(experiment)),
      bucket_elements_(bucket_elements(plan_)),
      message_host_(from_microseconds(experiment.software.collective_issue_us)),
      gather_efficiency_(experiment.software.parameter_gather_efficiency),
      averaging_(experiment, layout, workload, writer),
      models_(experiment, layout,
              {stage.trained(), std::max<std::int64_t>(1, stage.trained_tensors(blocks)), 4}, averaging_),
      backward_passes_(stage.chunks.size()) {
  const std::int64_t parameters = owned(Weights::common) + owned(Weights::experts);
  optimizer_work_ = add_optimizer(experiment.software, parameters, stage.trained_tensors(blocks), workload);
}

std::int64_t DataParallel::copies(Weights of) const {
  return of == Weights::experts ? plan_.expert_copies() : plan_.sharding_ranks();
}

std::int64_t DataParallel::trained(Weights of) const {
  return of == Weights::experts ? stage_.experts() : stage_.trained() - stage_.experts();
}

std::int64_t DataParallel::owned(Weights of) const {
  const std::int64_t all = trained(of);
  return plan_.zero_stage >= 1 && all > 0 ? divide_up(all, copies(of)) : all;
}

/// How many messages of `pieces` that follow each other right away are one operation.
std::uint32_t DataParallel::together(std::int64_t pieces) const {
  return in_a_row_ ? static_cast<std::uint32_t>(pieces) : 1;
}

OpId DataParallel::collective(Collective what, Weights of, std::int64_t parameters, Part part, Phase phase,
                              const Pass* pass, OpId dep, std::int64_t pieces) {
  const Bytes width = what == Collective::all_gather ? element_ : gradient_;
  Op op;
  op.kind = Op::Kind::communicate;
  op.stream = Stream::data;
  op.phase = phase;
  op.part = part;
  if (of == Weights::experts) {
    op.slot = layout_.slot(Slot::expert_data);
  } else {
    op.slot = what == Collective::all_reduce ? layout_.copies_slot() : layout_.sharding_slot();
  }
  const Message one{what, divide_up(parameters, pieces) * width, Dimension::data, message_host_,
                    what == Collective::all_gather ? gather_efficiency_ : 1};
  const std::uint32_t times = together(pieces);
  op.work = add_message(workload_, in_a_row(one, times));
  op.step = step_;
  if (pass != nullptr) {
    op.micro_batch = pass->micro_batch;
    op.chunk = pass->chunk;
  }
  OpId last = kNoOp;
  for (std::int64_t i = 0; i < pieces; i += times) last = writer_.add(op, {dep});
  return last;
}

const Block& DataParallel::block_at(const Pass& pass, std::size_t block) const {
  return blocks_.kinds[stage_.chunks[static_cast<std::size_t>(pass.chunk)].blocks[block].kind];
}

/// In how many collectives ZeRO-3 moves the parameters or gradients of a block in `tensors`.
std::int64_t DataParallel::pieces_of(std::int64_t tensors) const {
  return by_tensor_ ? std::max<std::int64_t>(1, tensors) : 1;
}

std::int64_t DataParallel::pieces_of(Weights of, const Block& block) const {
  return pieces_of(of == Weights::experts ? block.expert_tensors : block.tensors - block.expert_tensors);
}

OpId DataParallel::begin_step(std::int32_t step) {
  step_ = step;
  bucket_ = {};
  backward_passes_.assign(stage_.chunks.size(), 0);
  gathered_.clear();
  last_block_ = block_before_last_ = kNoOp;
  if (enabled_ && plan_.overlap_parameter_gather && (plan_.zero_stage == 1 || plan_.zero_stage == 2))
    for (const Weights of : kAllWeights) gather_ahead(of);
  models_.begin_step(step, ready_);
  return ready_;
}

/// Ranks with the same stages of two copies of the model have them as different chunks.
std::vector<std::size_t> DataParallel::chunks_in_model_order() const {
  std::vector<std::size_t> chunks(stage_.chunks.size());
  std::iota(chunks.begin(), chunks.end(), std::size_t{0});
  std::ranges::sort(chunks, {}, [this](std::size_t chunk) {
    return stage_.map.virtual_stage({stage_.index, static_cast<std::int64_t>(chunk)});
  });
  return chunks;
}

/// ZeRO-1 and 2 with overlap: parameters are gathered bucket by bucket while the first forward
/// passes run; each block waits for its own bucket only.
void DataParallel::gather_ahead(Weights of) {
  gathered_.resize(stage_.chunks.size());
  for (const std::size_t c : chunks_in_model_order()) {
    const auto& chunk = stage_.chunks[c].blocks;
    gathered_[c].resize(chunk.size(), kNoOp);
    if (!reduces(of)) continue;
    std::int64_t parameters = 0;
    std::size_t first = 0;
    for (std::size_t b = 0; b < chunk.size(); ++b) {
      parameters += of_block(chunk[b], of, &PlacedBlock::trained);
      const bool full = bucket_elements_ > 0 && parameters >= bucket_elements_;
      if (parameters == 0 || (!full && b + 1 < chunk.size())) continue;
      const OpId gather = collective(Collective::all_gather, of, parameters, Part::bucket, Phase::synchronize,
                                     nullptr, ready_);
      for (; first <= b; ++first) gathered_[c][first] = std::max(gathered_[c][first], gather);
      parameters = 0;
    }
  }
}

bool DataParallel::meets(const Pass& pass) const {
  if (!enabled_ && !models_.by_bucket()) return false;
  if (pass.kind == Pass::Kind::forward) return plan_.zero_stage >= 3 || meets_first(pass);
  if (pass.kind == Pass::Kind::backward_input) return plan_.zero_stage >= 3;
  const bool last = is_last(pass);
  if (models_.by_bucket()) return last;
  return plan_.zero_stage >= 2 || (last && plan_.overlap_gradient_reduce && bucket_elements_ > 0);
}

OpId DataParallel::before_block(const Pass& pass, std::size_t block) {
  const auto chunk = static_cast<std::size_t>(pass.chunk);
  if (!enabled_ || pass.kind == Pass::Kind::backward_weight) return kNoOp;
  if (!gathered_.empty()) return pass.kind == Pass::Kind::forward ? gathered_[chunk][block] : kNoOp;
  if (plan_.zero_stage < 3) return kNoOp;
  // Gathering ahead, one block is fetched while the one before it runs.
  const OpId after = std::max(plan_.overlap_parameter_gather ? block_before_last_ : last_block_, ready_);
  const OpId common = gather_block(Weights::common, pass, block, after);
  return std::max(common, gather_block(Weights::experts, pass, block, after));
}

OpId DataParallel::gather_block(Weights of, const Pass& pass, std::size_t block, OpId after) {
  const PlacedBlock& placed = stage_.chunks[static_cast<std::size_t>(pass.chunk)].blocks[block];
  const std::int64_t parameters = of_block(placed, of, &PlacedBlock::used);
  if (!reduces(of) || parameters == 0) return kNoOp;
  const Phase phase = pass.kind == Pass::Kind::forward ? Phase::forward : Phase::backward;
  return collective(Collective::all_gather, of, parameters, Part::layer, phase, &pass, after,
                    pieces_of(of, block_at(pass, block)));
}

OpId DataParallel::after_block(const Pass& pass, std::size_t block, OpId done) {
  block_before_last_ = last_block_;
  last_block_ = done;
  const bool moves = enabled_ || models_.by_bucket();
  return moves && completes_gradients(pass.kind) ? reduce_block(pass, block, done) : kNoOp;
}

/// Only in the last micro-batch there is something to do: where gradients are reduced, or parameters
/// gathered, with each, it meets all passes.
void DataParallel::after_blocks(const Pass& pass, OpId done) {
  const auto chunk = static_cast<std::size_t>(pass.chunk);
  const bool last_micro_batch = is_last(pass);
  for (std::size_t b = stage_.chunks[chunk].blocks.size(); last_micro_batch && b-- > 0;)
    after_block(pass, b, done);
}

/// Adds the gradients of a block to the bucket and reduces that when it is full.
OpId DataParallel::reduce_block(const Pass& pass, std::size_t block, OpId done) {
  const auto chunk = static_cast<std::size_t>(pass.chunk);
  const bool last_micro_batch = is_last(pass);
  if (plan_.zero_stage < 2 && !last_micro_batch) return kNoOp;
  const PlacedBlock& placed = stage_.chunks[chunk].blocks[block];
  const Block& of_kind = block_at(pass, block);
  const bool now = plan_.overlap_gradient_reduce || plan_.zero_stage == 2 || models_.by_bucket();
  OpId reduced = kNoOp;
  for (const Weights of : kAllWeights) {
    bucket(of) += of_block(placed, of, &PlacedBlock::trained);
    const bool full = bucket_elements_ > 0 && bucket(of) >= bucket_elements_;
    if (plan_.zero_stage < 3 && !(full && now)) continue;
    const std::int64_t tensors =
        of == Weights::experts ? of_kind.expert_tensors : of_kind.trained_tensors() - of_kind.expert_tensors;
    reduced = std::max(reduced, flush(of, &pass, done, plan_.zero_stage == 3 ? pieces_of(tensors) : 1));
  }
  return reduced;
}

OpId DataParallel::after_backward_pass(const Pass& pass, OpId done) {
  ++backward_passes_[static_cast<std::size_t>(pass.chunk)];
  return enabled_ && plan_.zero_stage >= 2 ? flush_all(&pass, done) : kNoOp;
}

OpId DataParallel::flush_all(const Pass* pass, OpId done) {
  const OpId common = flush(Weights::common, pass, done);
  return std::max(common, flush(Weights::experts, pass, done));
}

/// Reduces the gradients collected so far; what later compute has to wait for.
OpId DataParallel::flush(Weights of, const Pass* pass, OpId done, std::int64_t pieces) {
  const bool moves = reduces(of) || (of == Weights::common && models_.by_bucket());
  if (bucket(of) == 0 || !moves) return kNoOp;
  if (plan_.zero_stage > 0) {
    last_reduce_ = reduce_shards(of, pass, done, pieces);
  } else if (of == Weights::experts) {
    last_reduce_ = collective(Collective::all_reduce, of, bucket(of), Part::bucket, Phase::synchronize, pass,
                              done, pieces);
  } else {
    last_reduce_ = average(pass, done, pieces);
  }
  bucket(of) = 0;
  return plan_.overlap_gradient_reduce || models_.by_bucket() ? kNoOp : last_reduce_;
}

/// Leaves each replica the summed gradients of its shard: summed among those that share a copy, then among
/// those that hold the same shard of theirs.
OpId DataParallel::reduce_shards(Weights of, const Pass* pass, OpId done, std::int64_t pieces) {
  const OpId scattered = collective(Collective::reduce_scatter, of, bucket(of), Part::bucket,
                                    Phase::synchronize, pass, done, pieces);
  if (!plan_.shards_in_groups()) return scattered;
  const std::int64_t shard = divide_up(divide_up(bucket(of), pieces), plan_.sharding_ranks());
  return collective(Collective::all_reduce, of, shard * pieces, Part::bucket, Phase::synchronize, pass,
                    scattered, pieces);
}

/// Averages the gradients of the bucket, or of so many alike. Where models travel by bucket, its part of the
/// model is updated and leaves.
OpId DataParallel::average(const Pass* pass, OpId done, std::int64_t pieces) {
  Op like;
  like.part = Part::bucket;
  like.step = step_;
  if (pass != nullptr) {
    like.micro_batch = pass->micro_batch;
    like.chunk = pass->chunk;
  }
  const std::int64_t tensors = std::max<std::int64_t>(1, stage_.trained_tensors(blocks_));
  const std::int64_t values = divide_up(bucket(Weights::common), pieces);
  const Payload gradients{values, divide_up(tensors * values, std::max<std::int64_t>(1, stage_.trained())),
                          gradient_};
  OpId at = done;
  if (reduces(Weights::common))
    at = everywhere_ ? averaging_.everywhere(gradients, like, done, static_cast<std::uint32_t>(pieces))
                     : averaging_.in_worker(gradients, like, done);
  if (!models_.by_bucket()) return at;
  const std::uint32_t work =
      add_optimizer(experiment_.software, gradients.values, gradients.tensors, workload_);
  const OpId updated = update(work, pass, {at});
  models_.send_bucket({gradients.values, gradients.tensors, 4}, like, updated);
  return updated;
}

OpId DataParallel::update(std::uint32_t work, const Pass* pass, std::initializer_list<OpId> deps) {
  Op op;
  op.phase = Phase::optimize;
  op.part = Part::optimizer;
  op.work = work;
  op.step = step_;
  if (pass != nullptr) {
    op.micro_batch = pass->micro_batch;
    op.chunk = pass->chunk;
  }
  return writer_.add(op, deps);
}

/// Splits what has not been reduced yet into buckets and flushes.
OpId DataParallel::reduce_rest(OpId last) {
  if (enabled_ || models_.by_bucket())
    for (const Weights of : kAllWeights) reduce_rest_of(of, last);
  sum_tied_embedding(last);
  return last_reduce_;
}

void DataParallel::reduce_rest_of(Weights of, OpId last) {
  std::int64_t left = bucket(of);
  while (left > 0) {
    const std::int64_t full = bucket_elements_ > 0 ? left / bucket_elements_ : 0;
    const bool alone = plan_.zero_stage > 0 || of == Weights::experts ||
                       (!models_.by_bucket() && averaging_.sends_all_at_once());
    const std::int64_t pieces = alone ? std::max<std::int64_t>(1, together(full)) : 1;
    bucket(of) = bucket_elements_ > 0 ? std::min(left, pieces * bucket_elements_) : left;
    left -= bucket(of);
    flush(of, nullptr, last, pieces);
  }
}

void DataParallel::sum_tied_embedding(OpId last) {
  const bool end = stage_.index == 0 || stage_.index == stage_.stages - 1;
  if (blocks_.tied_parameters == 0 || !blocks_.tied_are_trained || stage_.map.ends_meet() || !end) return;
  Op op;
  op.kind = Op::Kind::communicate;
  op.stream = Stream::data;
  op.phase = Phase::synchronize;
  op.part = Part::embedding;
  op.slot = layout_.slot(Slot::embedding);
  // From ZeRO-1 on, a replica holds the summed gradients of its own shard only.
  const Bytes whole = blocks_.tied_parameters * gradient_;
  const Bytes bytes =
      reduces(Weights::common) && plan_.zero_stage >= 1 ? divide_up(whole, plan_.sharding_ranks()) : whole;
  op.work = add_message(workload_, {Collective::all_reduce, bytes, Dimension::pipeline, message_host_});
  op.step = step_;
  last_reduce_ = writer_.add(op, {last, last_reduce_});
}

OpId DataParallel::optimize(OpId last) {
  ready_ = models_.by_bucket()
               ? last_reduce_
               : update(optimizer_work_, nullptr, {last, last_reduce_, models_.before_update(last)});
  ready_ = models_.after_update(ready_);
  const bool gathers = plan_.zero_stage == 1 || plan_.zero_stage == 2;
  if (!gathers || plan_.overlap_parameter_gather) return ready_;
  const OpId updated = ready_;
  for (const Weights of : kAllWeights) ready_ = std::max(ready_, gather_updated(of, updated));
  return ready_;
}

OpId DataParallel::gather_updated(Weights of, OpId updated) {
  if (!reduces(of) || trained(of) == 0) return kNoOp;
  return collective(Collective::all_gather, of, trained(of), Part::bucket, Phase::synchronize, nullptr,
                    updated);
}

}  // namespace orrery
