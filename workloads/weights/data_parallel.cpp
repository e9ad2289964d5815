#include "workloads/weights/data_parallel.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "workloads/models/step_builder.hpp"
#include "workloads/models/weight_products.hpp"
#include "workloads/weights/muon.hpp"
#include "workloads/weights/optimizer_states.hpp"

namespace orrery {
namespace {

/// The optimizer step over `parameters` in `tensors` tensors, after `kernels` of its own, and the cast of
/// `cast` new weights to the precision of their products.
std::uint32_t add_optimizer(const Experiment& experiment, std::int64_t parameters, std::int64_t tensors,
                            std::int64_t cast, Workload& workload, std::vector<Kernel> kernels = {}) {
  const double bytes = static_cast<double>(parameters) * update_bytes_per_parameter(experiment);
  const Int128 issue = Int128{from_microseconds(experiment.software.parameter_issue_us)} * tensors;
  constexpr Picoseconds kLongest = std::numeric_limits<Picoseconds>::max();
  kernels.push_back(memory(static_cast<Bytes>(bytes + 0.5)));
  if (cast > 0) {
    // Read in 16 bits, written as they are and transposed.
    const double width = 2 + 2 * value_bytes(experiment.plan.precision);
    kernels.push_back(memory(static_cast<Bytes>(width * static_cast<double>(cast) + 0.5)));
  }
  return find_work(workload, std::move(kernels),
                   issue < kLongest ? static_cast<Picoseconds>(issue) : kLongest);
}

}  // namespace

DataParallel::DataParallel(const Experiment& experiment, const CommunicatorLayout& layout,
                           const ModelBlocks& blocks, const Stage& stage, Workload& workload,
                           ProgramWriter& writer)
    : experiment_(experiment),
      plan_(experiment.plan),
      layout_(layout),
      blocks_(blocks),
      stage_(stage),
      workload_(workload),
      writer_(writer),
      collectives_(experiment, layout, blocks, stage, workload, writer),
      gathers_(plan_, stage, collectives_),
      everywhere_(averages_gradients(experiment.data_parallel_sync)),
      gradient_(gradient_bytes(experiment)),
      bucket_elements_(bucket_elements(experiment)),
      message_host_(from_microseconds(experiment.software.collective_issue_us)),
      offload_(experiment, owned(Weights::common) + owned(Weights::experts), workload, writer),
      averaging_(experiment, layout, workload, writer),
      models_(experiment, layout, blocks, stage, averaging_),
      backward_passes_(stage.chunks.size()) {
  const std::int64_t parameters = owned(Weights::common) + owned(Weights::experts) - offload_.parameters();
  const std::int64_t cast = weights_cast_once(experiment) ? collectives_.trained(Weights::common) +
                                                                collectives_.trained(Weights::experts)
                                                          : 0;
  optimizer_work_ = add_optimizer(experiment, parameters, stage.trained_tensors(blocks), cast, workload,
                                  muon_kernels(plan_, stage, blocks));
}

/// Parameters of them that a rank updates.
std::int64_t DataParallel::owned(Weights of) const {
  const std::int64_t all = collectives_.trained(of);
  const std::int64_t copies = of == Weights::experts ? plan_.expert_copies() : plan_.sharding_ranks();
  return plan_.zero_stage >= 1 && all > 0 ? divide_up(all, copies) : all;
}

OpId DataParallel::begin_step(std::int32_t step) {
  step_ = step;
  bucket_ = {};
  backward_passes_.assign(stage_.chunks.size(), 0);
  collectives_.begin_step(step);
  gathers_.begin_step(ready_);
  models_.begin_step(step, ready_);
  return ready_;
}

bool DataParallel::meets(const Pass& pass) const {
  if (models_.meets(pass)) return true;
  if (!enabled() && !models_.by_bucket()) return false;
  if (gathers_.meets(pass)) return true;
  if (!completes_gradients(pass.kind)) return false;
  const bool last = is_last(pass);
  if (models_.by_bucket()) return last;
  return plan_.moves_weights_every_micro_batch() ||
         (last && plan_.overlap_gradient_reduce && bucket_elements_ > 0);
}

OpId DataParallel::after_block(const Pass& pass, std::size_t block, OpId done, OpId begin) {
  const bool moves = enabled() || models_.by_bucket();
  const OpId held = moves && completes_gradients(pass.kind) ? reduce_block(pass, block, done, begin) : kNoOp;
  gathers_.after_block(pass, block, std::max(done, held));
  return held;
}

/// Only in the last micro-batch there is something to do: where gradients are reduced, or parameters
/// gathered, with each, it meets all passes.
void DataParallel::after_blocks(const Pass& pass, OpId done) {
  const auto chunk = static_cast<std::size_t>(pass.chunk);
  const bool last_micro_batch = is_last(pass);
  for (std::size_t b = stage_.chunks[chunk].blocks.size(); last_micro_batch && b-- > 0;)
    after_block(pass, b, done);
}

/// Adds the gradients of a block to the bucket and reduces full buckets, or under ZeRO-3 a unit.
OpId DataParallel::reduce_block(const Pass& pass, std::size_t block, OpId done, OpId begin) {
  if (!plan_.reduces_every_micro_batch() && !is_last(pass)) return kNoOp;
  const Chunk& chunk = stage_.chunks[static_cast<std::size_t>(pass.chunk)];
  const bool by_unit = plan_.zero_stage >= 3;
  const bool now = plan_.overlap_gradient_reduce || plan_.reduces_every_micro_batch() || models_.by_bucket();
  OpId reduced = kNoOp;
  bucket_begins_ = {pass.chunk, block};
  for (const Weights of : kAllWeights) {
    const std::int64_t gradients = of_block(chunk.blocks[block], of, &PlacedBlock::trained);
    bucket(of) += gradients;
    OpId of_these = kNoOp;
    if (by_unit) {
      if (!gathers_.ends_unit(pass, block)) continue;
      const std::int64_t pieces = collectives_.pieces_of(of, chunk, gathers_.unit_of(pass, block), true);
      of_these = flush(of, &pass, done, pieces);
    } else if (models_.by_bucket()) {
      const bool full = bucket_elements_ > 0 && bucket(of) >= bucket_elements_;
      if (full || models_.ends_bucket({pass.chunk, block})) of_these = flush(of, &pass, done);
    } else if (now) {
      of_these = reduce_full(of, pass, gradients, done, begin);
    }
    reduced = std::max(reduced, of_these);
  }
  return reduced;
}

/// Reduces the buckets that the gradients of a block fill. These come evenly over its part of the pass, so
/// the last bucket is full when that ends. The others follow each other from when the first is full: taken to
/// be when the part begins or ends, whichever is nearer.
OpId DataParallel::reduce_full(Weights of, const Pass& pass, std::int64_t gradients, OpId done, OpId begin) {
  if (!collectives_.reduces(of) || bucket_elements_ == 0 || bucket(of) < bucket_elements_) return kNoOp;
  const std::int64_t full = bucket(of) / bucket_elements_;
  const std::int64_t rest = bucket(of) % bucket_elements_;
  const std::int64_t until_first = bucket_elements_ - (bucket(of) - gradients);
  const bool early = plan_.overlap_gradient_reduce && begin != kNoOp && 2 * until_first < gradients;
  reduce_buckets(of, &pass, full - 1, early ? begin : done);
  const OpId reduced = reduce_buckets(of, &pass, 1, done);
  bucket(of) = rest;
  return reduced;
}

/// Reduces `buckets` full buckets. Buckets that are a single message each on one stream become one operation
/// if messages in a row do.
OpId DataParallel::reduce_buckets(Weights of, const Pass* pass, std::int64_t buckets, OpId done) {
  const bool travels_as_kept = !collectives_.gradient_width().casts();
  const bool alone = travels_as_kept && !plan_.shards_in_groups() &&
                     (plan_.zero_stage > 0 || of == Weights::experts ||
                      (!models_.by_bucket() && averaging_.sends_all_at_once()));
  OpId reduced = kNoOp;
  while (buckets > 0) {
    const std::int64_t pieces = alone ? std::int64_t{collectives_.together(buckets)} : 1;
    bucket(of) = pieces * bucket_elements_;
    reduced = flush(of, pass, done, pieces);
    buckets -= pieces;
  }
  return reduced;
}

OpId DataParallel::after_backward_pass(const Pass& pass, OpId done) {
  ++backward_passes_[static_cast<std::size_t>(pass.chunk)];
  return enabled() && plan_.reduces_every_micro_batch() ? flush_all(&pass, done) : kNoOp;
}

OpId DataParallel::flush_all(const Pass* pass, OpId done) {
  const OpId common = flush(Weights::common, pass, done);
  return std::max(common, flush(Weights::experts, pass, done));
}

/// Reduces the gradients collected so far; returns the operation that later compute has to wait for.
OpId DataParallel::flush(Weights of, const Pass* pass, OpId done, std::int64_t pieces) {
  const bool moves = collectives_.reduces(of) || (of == Weights::common && models_.by_bucket());
  if (bucket(of) == 0 || !moves) return kNoOp;
  done = collectives_.cast_gradients(bucket(of), pass, done);
  if (plan_.zero_stage > 0) {
    last_reduce_ = reduce_shards(of, pass, done, pieces);
  } else if (of == Weights::experts) {
    last_reduce_ = collectives_.add(Collective::all_reduce, of, bucket(of), Part::bucket, Phase::synchronize,
                                    pass, done, pieces);
  } else {
    last_reduce_ = average(pass, done, pieces);
  }
  bucket(of) = 0;
  return plan_.overlap_gradient_reduce || models_.by_bucket() ? kNoOp : last_reduce_;
}

/// Reduces gradients so that each replica has the sum of its shard: first among replicas that share a copy,
/// then among those that hold the same shard of other copies.
OpId DataParallel::reduce_shards(Weights of, const Pass* pass, OpId done, std::int64_t pieces) {
  const OpId scattered = collectives_.add(Collective::reduce_scatter, of, bucket(of), Part::bucket,
                                          Phase::synchronize, pass, done, pieces);
  if (!plan_.shards_in_groups() || !everywhere_) return scattered;
  const std::int64_t shard = divide_up(divide_up(bucket(of), pieces), plan_.sharding_ranks());
  if (experiment_.data_parallel_sync.joins_replicas()) return average_shards(shard, pass, scattered, pieces);
  return collectives_.add(Collective::all_reduce, of, shard * pieces, Part::bucket, Phase::synchronize, pass,
                          scattered, pieces);
}

Op DataParallel::label(const Pass* pass) const {
  Op op;
  op.part = Part::bucket;
  op.step = step_;
  if (pass != nullptr) {
    op.micro_batch = pass->micro_batch;
    op.chunk = pass->chunk;
  }
  return op;
}

/// Averages shards over workers as their method does.
OpId DataParallel::average_shards(std::int64_t shard, const Pass* pass, OpId scattered, std::int64_t pieces) {
  const std::int64_t tensors = std::max<std::int64_t>(1, stage_.trained_tensors(blocks_));
  const std::int64_t of_shard = divide_up(tensors * shard, std::max<std::int64_t>(1, stage_.trained()));
  const Payload payload{shard, of_shard, gradient_};
  OpId at = scattered;
  for (std::int64_t piece = 0; piece < pieces; ++piece)
    at = averaging_.everywhere(payload, label(pass), scattered);
  return at;
}

/// Averages the gradients of the bucket, or of `pieces` equal ones. If models travel by bucket, its part of
/// the model is updated and sent.
OpId DataParallel::average(const Pass* pass, OpId done, std::int64_t pieces) {
  const Op like = label(pass);
  const std::int64_t tensors = std::max<std::int64_t>(1, stage_.trained_tensors(blocks_));
  const std::int64_t values = divide_up(bucket(Weights::common), pieces);
  const std::int64_t of_bucket = divide_up(tensors * values, std::max<std::int64_t>(1, stage_.trained()));
  Payload gradients{values, of_bucket, gradient_};
  if (plan_.wire_precision.data) gradients = {collectives_.gradient_width().of(values), of_bucket, 1};
  OpId at = done;
  if (collectives_.reduces(Weights::common))
    at = everywhere_ ? averaging_.everywhere(gradients, like, done, static_cast<std::uint32_t>(pieces))
                     : averaging_.in_worker(gradients, like, done);
  if (!models_.by_bucket()) return at;
  const std::uint32_t work =
      add_optimizer(experiment_, values, of_bucket, weights_cast_once(experiment_) ? values : 0, workload_);
  const OpId updated = update(work, pass, {at});
  models_.send_bucket({values, of_bucket, 4}, bucket_begins_, updated);
  return updated;
}

OpId DataParallel::update(std::uint32_t work, const Pass* pass, std::initializer_list<OpId> deps) {
  Op op = label(pass);
  op.phase = Phase::optimize;
  op.part = Part::optimizer;
  op.work = work;
  return writer_.add(op, deps);
}

/// Splits the remaining gradients into buckets and flushes.
OpId DataParallel::reduce_rest(OpId last) {
  if (enabled() || models_.by_bucket())
    for (const Weights of : kAllWeights) reduce_rest_of(of, last);
  sum_tied_embedding(last);
  return last_reduce_;
}

void DataParallel::reduce_rest_of(Weights of, OpId last) {
  const std::int64_t left = bucket(of);
  const std::int64_t full = bucket_elements_ > 0 ? left / bucket_elements_ : 0;
  reduce_buckets(of, nullptr, full, last);
  bucket(of) = left - full * bucket_elements_;
  flush(of, nullptr, last);
}

void DataParallel::sum_tied_embedding(OpId last) {
  const std::vector<std::int64_t>& tied = layout_.spec().tied;
  if (std::ranges::find(tied, stage_.index) == tied.end()) return;
  Op op;
  op.kind = Op::Kind::communicate;
  op.stream = Stream::data;
  op.phase = Phase::synchronize;
  op.part = Part::embedding;
  op.slot = layout_.slot(Slot::embedding);
  // From ZeRO-1 on, a replica holds the summed gradients of its own shard only.
  const Bytes whole = collectives_.gradient_width().of(blocks_.tied_parameters);
  const Bytes bytes = collectives_.reduces(Weights::common) && plan_.zero_stage >= 1
                          ? divide_up(whole, plan_.sharding_ranks())
                          : whole;
  op.work = add_message(workload_, {Collective::all_reduce, bytes, Dimension::pipeline, message_host_});
  op.step = step_;
  last_reduce_ = writer_.add(op, {last, last_reduce_});
}

/// Muon takes whole matrices: ranks that share states gather the momentum of the others.
OpId DataParallel::gather_momentum(OpId last) {
  OpId gathered = std::max(last, last_reduce_);
  if (plan_.optimizer != Optimizer::muon || plan_.zero_stage < 1) return gathered;
  for (const Weights of : kAllWeights) {
    const std::int64_t matrices = muon_parameters(stage_, blocks_, of);
    if (!collectives_.reduces(of) || matrices == 0) continue;
    gathered = collectives_.add(Collective::all_gather, of, matrices, Part::optimizer, Phase::synchronize,
                                nullptr, gathered);
  }
  return gathered;
}

/// Says that the update holds copies of gradients, and frees those that have come in the step.
void DataParallel::hold_update(OpId own) {
  const std::int64_t parameters = owned(Weights::common) + owned(Weights::experts) - offload_.parameters();
  Bytes freed = 0;
  for (const Chunk& chunk : stage_.chunks) freed += chunk.arriving;
  const Bytes copies = update_memory(experiment_, parameters);
  writer_.at(own).memory_at_start += copies;
  writer_.at(own).memory_at_finish -= copies + freed;
}

/// Writes the updates on the GPU, and beside them those on the host.
OpId DataParallel::update_all(OpId last) {
  const bool all = offload_.parameters() > 0 && plan_.offload_fraction == 1;
  const OpId own = all ? kNoOp
                       : update(optimizer_work_, nullptr,
                                {last, last_reduce_, gather_momentum(last), models_.before_update(last)});
  if (own != kNoOp) hold_update(own);
  return offload_.parameters() == 0 ? own : offload_.update(step_, {last, last_reduce_}, own);
}

OpId DataParallel::optimize(OpId last) {
  ready_ = models_.by_bucket() ? last_reduce_ : update_all(last);
  ready_ = models_.after_update(ready_);
  return ready_ = gathers_.after_update(ready_);
}

}  // namespace orrery
