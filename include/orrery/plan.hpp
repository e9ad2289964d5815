// Describes how a model is spread over ranks and how a training step runs. Read by workloads/.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/precision.hpp"
#include "orrery/recompute.hpp"

namespace orrery {

/// Precision of each kind of traffic; unset: as stored.
struct WirePrecision {
  std::optional<Precision> tensor_gather;  ///< activations and their gradients between tensor ranks
  std::optional<Precision> tensor_reduce;  ///< partial sums of them
  std::optional<Precision> pipeline;       ///< activations and their gradients between stages
  std::optional<Precision> context;        ///< between ranks that share sequences
  std::optional<Precision> dispatch;       ///< rows, or their gradients, to experts
  std::optional<Precision> combine;        ///< and back
  std::optional<Precision> data;           ///< gradients of weights
  std::optional<Precision> parameters;     ///< that ZeRO gathers
  std::optional<Precision> models;         ///< of replicas that differ, between workers

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(tensor_gather, tensor_reduce, pipeline, context, dispatch, combine, data, parameters,
                 models);
  }
  friend bool operator==(const WirePrecision&, const WirePrecision&) = default;
};

/// Names the tensors that lie in host memory.
enum class Offload : std::uint8_t {
  none,
  optimizer,    ///< states of the optimizer, where the host updates parameters
  activations,  ///< those of layers, from the forward pass to the backward pass
};
inline constexpr std::array<std::string_view, 3> kOffloadNames{"none", "optimizer", "activations"};

/// Names the states that are kept of each trained parameter beside itself and its gradient.
enum class Optimizer : std::uint8_t {
  adam,          ///< two moments (Kingma and Ba 2015)
  adam_8bit,     ///< the same in 8 bits, with a scale for every 2048 (Dettmers et al. 2022)
  lion,          ///< one moment (Chen et al. 2023)
  sgd_momentum,  ///< one moment
  sgd,           ///< nothing
  muon,  ///< one moment of matrices in layers, made orthogonal (Jordan et al. 2024); Adam for all else
};
inline constexpr std::array<std::string_view, 6> kOptimizerNames{"adam",         "adam-8bit", "lion",
                                                                 "sgd-momentum", "sgd",       "muon"};

/// Says when the gradients of a micro-batch are summed over replicas.
enum class GradientReduction : std::uint8_t {
  by_stage,           ///< every_micro_batch from zero_stage 2 on, every_step before
  every_step,         ///< added up over micro-batches first, whole on each replica
  every_micro_batch,  ///< each by itself
};
inline constexpr std::array<std::string_view, 2> kGradientReductionNames{"every-step", "every-micro-batch"};

/// Collective operations; send_recv moves one message from the first member of a group to the second.
enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  all_to_all,
  send_recv,
};
inline constexpr std::size_t kCollectiveCount = 6;
inline constexpr std::array<std::string_view, kCollectiveCount> kCollectiveNames{
    "all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all", "send-recv"};

/// Says how one matrix of an mlp chain is cut over the tensor-parallel ranks.
enum class MatrixPartition : std::uint8_t {
  column,  ///< along its output: every rank holds a slice of the outputs
  row,     ///< along its input: every rank holds a partial sum of all outputs
};

/// Says how ranks that share sequences run attention.
enum class ContextParallelType : std::uint8_t {
  ring,          ///< keys and values go around
  all_to_all,    ///< heads are exchanged for tokens
  hierarchical,  ///< heads within groups of the ranks, keys and values around between the groups
  all_gather,    ///< keys and values are gathered
};
inline constexpr std::array<std::string_view, 4> kContextParallelTypeNames{"ring", "all-to-all",
                                                                           "hierarchical", "all-gather"};

/// Says how tokens travel to their experts and back.
enum class Dispatcher : std::uint8_t {
  all_to_all,    ///< a copy of the token to each expert, straight
  hierarchical,  ///< a copy to each expert, between nodes first and then inside
  deduplicated,  ///< one copy to each node and each rank that has some of its experts
};
inline constexpr std::array<std::string_view, 3> kDispatcherNames{"all-to-all", "hierarchical",
                                                                  "deduplicated"};

/// Says which part of a step is replayed as CUDA graphs, which the host launches at once.
enum class CudaGraphs : std::uint8_t {
  none,
  layers,  ///< each part of a layer but the experts
  step,    ///< all passes of a step
};
inline constexpr std::array<std::string_view, 3> kCudaGraphsNames{"none", "layers", "step"};

/// Says how unequally tokens choose experts.
enum class TokenImbalance : std::uint8_t {
  uniform,    ///< equally many for each
  zipf,       ///< the k-th expert as often as 1 / k
  worst,      ///< all of them the experts of one rank
  histogram,  ///< as Plan::token_histogram says
};
inline constexpr std::array<std::string_view, 4> kTokenImbalanceNames{"uniform", "zipf", "worst",
                                                                      "histogram"};

/// The dimensions along which ranks are arranged; `kAxes` has a row for each.
enum class Axis : std::uint8_t { tensor, context, expert, data, pipeline };
inline constexpr std::size_t kAxisCount = 5;

/// Says how weights that are not trained are stored (with LoRA). They are widened to the plan's precision
/// before each product. nf4: 4 bits, a scale of 8 bits for 64 of them and one of 32 bits for 256 scales
/// (Dettmers et al. 2023, "QLoRA", double quantization).
enum class FrozenPrecision : std::uint8_t { as_computed, int8, nf4 };
inline constexpr std::array<std::string_view, 3> kFrozenPrecisionNames{"as-computed", "int8", "nf4"};

/// Returns the bytes of `weights` frozen weights, if they are not kept as they are computed.
[[nodiscard]] constexpr std::int64_t frozen_bytes(FrozenPrecision precision, std::int64_t weights) {
  if (precision == FrozenPrecision::int8) return weights;
  constexpr std::int64_t kBlock = 256 * 64;
  constexpr std::int64_t kBytes = kBlock / 2 + 256 + 4;
  return weights / kBlock * kBytes + (weights % kBlock * kBytes + kBlock - 1) / kBlock;
}

struct Plan {
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;
  std::int64_t data_parallel = 1;
  std::int64_t context_parallel = 1;  ///< ranks that share sequences
  ContextParallelType context_parallel_type = ContextParallelType::ring;
  /// Hierarchical: ranks of a group that exchanges heads for tokens; 0: of another type.
  std::int64_t hierarchical_context_parallel_size = 0;
  /// Ranks that share the experts of a layer. With the ranks that share each expert they are ranks of the
  /// other dimensions of a stage, counted again: as many groups of them as there is room for.
  std::int64_t expert_parallel = 1;
  std::int64_t expert_tensor_parallel = 1;  ///< ranks that share the matrices of an expert
  Dispatcher dispatcher = Dispatcher::all_to_all;
  double capacity_factor = 0;  ///< an expert takes at most this multiple of its mean share of tokens; 0: all
  TokenImbalance token_imbalance = TokenImbalance::uniform;
  std::vector<std::int64_t> token_histogram;  ///< tokens by expert
  /// A forward pass and the backward pass after it run side by side, one computes while tokens of the other
  /// travel. Schedules without two directions run one more forward pass ahead for it.
  bool overlap_expert_parallel = false;
  bool overlap_shared_experts = false;  ///< they compute while tokens travel to the other experts and back
  bool sequence_parallel = false;
  std::int64_t micro_batch_size = 1;  ///< samples
  /// Samples of each replica, where they have unequally many; empty: all as many.
  std::vector<std::int64_t> replica_batch_sizes;
  bool balance_replica_batches = false;    ///< those are chosen by how fast the replicas are
  std::int64_t global_batch_size = 1;      ///< samples over all replicas and micro-batches
  std::string pipeline_schedule = "1f1b";  ///< a name of `pipeline_schedules()`
  std::int64_t virtual_stages = 1;         ///< model chunks per pipeline rank
  /// Interleaved: micro-batches that go through a chunk in a row; 0: pipeline_parallel.
  std::int64_t micro_batch_group_size = 0;
  /// Forward passes of the first pipeline rank before its first backward pass; 0: as the schedule says.
  std::int64_t warmup_micro_batches = 0;
  std::vector<std::int64_t> stage_layers;  ///< layers of each (virtual) stage; empty: uniform
  bool balance_stages = false;             ///< stage_layers are chosen so that the slowest stage is fastest
  Recompute recompute = Recompute::none;
  ModuleSet recompute_modules;
  std::int64_t recompute_layers =
      0;  ///< in a group, or of each (virtual) stage; 0: each by itself, all of them
  RecomputeMethod recompute_method = RecomputeMethod::uniform;
  /// Block: layers of each (virtual) stage that are computed again; empty: recompute_layers of each.
  std::vector<std::int64_t> recompute_stage_layers;
  int zero_stage = 0;
  std::int64_t zero_group_size = 0;  ///< replicas that share one sharded copy under ZeRO; 0: all of them
  bool choose_zero_group = false;    ///< zero_group_size or all replicas, as the step is faster
  GradientReduction gradient_reduction = GradientReduction::by_stage;
  /// ZeRO-3: parameters gathered for a forward pass are dropped after it and gathered again for the backward
  /// pass.
  bool reshard_after_forward = true;
  std::int64_t prefetch = -1;         ///< ZeRO-3: units gathered ahead; -1: 1 with overlap_parameter_gather
  std::int64_t fsdp_unit_layers = 1;  ///< ZeRO-3: layers that are gathered and reduced together
  bool overlap_gradient_reduce = false;   ///< reduce a bucket while the backward pass goes on
  bool overlap_parameter_gather = false;  ///< ZeRO: gather parameters ahead of their use
  bool overlap_tensor_parallel = false;   ///< weight gradients while input gradients are reduced
  /// With sequence_parallel and overlap_tensor_parallel, products run chunk by chunk and hide a share of its
  /// collectives, Software::tensor_overlap.
  bool overlap_tensor_chunks = false;
  CudaGraphs cuda_graphs = CudaGraphs::none;
  bool scatter_gather = true;  ///< tensor ranks send 1/t of an activation each
  double bucket_mb = 40;       ///< gradient bucket, 1e6 bytes; 0: one bucket
  /// Algorithm per collective, a name of `collective_algorithms()` or "auto".
  std::array<std::string, kCollectiveCount> collectives{"auto", "auto", "auto", "auto", "auto", "auto"};
  std::string rank_order = "tp-cp-ep-dp-pp";  ///< dimensions, innermost first
  Precision precision = Precision::bf16;
  WirePrecision wire_precision;
  Optimizer optimizer = Optimizer::adam;
  Offload offload = Offload::none;
  double offload_fraction = 1;                   ///< of parameters, or of the layers of a stage
  Precision moment_precision = Precision::fp32;  ///< of the optimizer's moments
  /// The precision of the main copy of 16-bit parameters, which the optimizer updates; nullopt: there is no
  /// copy, and they are updated themselves.
  std::optional<Precision> main_weight_precision = Precision::fp32;
  std::vector<MatrixPartition> tensor_partition;  ///< mlp only: one per matrix
  /// Pieces of the tokens that go through output projection, loss and their gradients one after the other, in
  /// the forward pass: of the logits one piece is held at a time. 1: logits are held from forward to backward
  /// pass.
  std::int64_t loss_chunks = 1;
  FrozenPrecision frozen_precision = FrozenPrecision::as_computed;

  /// Returns true if part of sequence parallelism's collectives overlaps products.
  [[nodiscard]] bool hides_tensor_collectives() const {
    return tensor_parallel > 1 && sequence_parallel && overlap_tensor_chunks;
  }
  /// Micro-batches per replica and step; of the replica that has most.
  [[nodiscard]] std::int64_t micro_batches() const {
    const std::int64_t samples = replica_batch_sizes.empty() ? global_batch_size / data_parallel
                                                             : *std::ranges::max_element(replica_batch_sizes);
    return samples / micro_batch_size;
  }
  /// Copies of the model in one pipeline: DualPipe runs two of them in opposite directions.
  [[nodiscard]] std::int64_t model_copies() const { return pipeline_schedule == "dualpipe" ? 2 : 1; }
  [[nodiscard]] std::int64_t micro_batches_per_copy() const { return micro_batches() / model_copies(); }
  /// Ranks that hold the same weights and add up their gradients.
  [[nodiscard]] std::int64_t weight_copies() const;
  /// Returns the ranks of weight_copies() among which ZeRO shards: all ranks of as many replicas as its group
  /// holds.
  [[nodiscard]] std::int64_t sharding_ranks() const {
    return zero_group_size > 0 ? weight_copies() / data_parallel * zero_group_size : weight_copies();
  }
  /// Returns true if there are several copies of the tensors that ZeRO shards.
  [[nodiscard]] bool shards_in_groups() const { return zero_stage > 0 && sharding_ranks() < weight_copies(); }
  [[nodiscard]] bool reduces_every_micro_batch() const {
    return gradient_reduction == GradientReduction::by_stage
               ? zero_stage >= 2
               : gradient_reduction == GradientReduction::every_micro_batch;
  }
  /// Returns true if weights or their gradients are communicated in every micro-batch, not only at the ends
  /// of a step.
  [[nodiscard]] bool moves_weights_every_micro_batch() const {
    return zero_stage >= 3 || reduces_every_micro_batch();
  }
  /// ZeRO-3: units gathered while the ones before them run.
  [[nodiscard]] std::int64_t units_ahead() const {
    return prefetch >= 0 ? prefetch : overlap_parameter_gather ? 1 : 0;
  }
  /// Ranks of a stage: of all dimensions but the pipeline.
  [[nodiscard]] std::int64_t stage_ranks() const {
    return tensor_parallel * context_parallel * data_parallel;
  }
  /// Ranks that hold the same experts and add up their gradients.
  [[nodiscard]] std::int64_t expert_copies() const {
    return model_copies() * stage_ranks() / (expert_parallel * expert_tensor_parallel);
  }
  /// Ranks along an axis.
  [[nodiscard]] constexpr std::int64_t degree(Axis axis) const;
  [[nodiscard]] constexpr std::int64_t gpus() const;

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(tensor_parallel, pipeline_parallel, data_parallel, context_parallel, context_parallel_type,
                 hierarchical_context_parallel_size, expert_parallel, expert_tensor_parallel, dispatcher,
                 capacity_factor, token_imbalance, token_histogram, overlap_expert_parallel, cuda_graphs,
                 overlap_shared_experts, sequence_parallel, micro_batch_size, replica_batch_sizes,
                 balance_replica_batches, global_batch_size, pipeline_schedule, virtual_stages,
                 micro_batch_group_size, warmup_micro_batches, stage_layers, balance_stages, recompute,
                 recompute_modules, recompute_layers, recompute_method, recompute_stage_layers, zero_stage,
                 zero_group_size, choose_zero_group, gradient_reduction, reshard_after_forward, prefetch,
                 fsdp_unit_layers, overlap_gradient_reduce, overlap_parameter_gather, overlap_tensor_parallel,
                 overlap_tensor_chunks, scatter_gather, bucket_mb, collectives, rank_order, precision,
                 wire_precision, optimizer, offload, offload_fraction, moment_precision,
                 main_weight_precision, tensor_partition, loss_chunks, frozen_precision);
  }
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Gives the name of an axis and the plan's member with its degree.
struct AxisRow {
  std::string_view name;   ///< in Plan::rank_order
  std::string_view label;  ///< in words
  std::string_view key;    ///< of the degree
  std::int64_t Plan::*degree = nullptr;
  bool always_named = false;    ///< in reports also where the degree is 1
  bool copies_weights = false;  ///< its ranks have the same weights, and add up their gradients
  bool folded = false;          ///< its ranks are those of other axes, counted again
};

/// Axes in the order of Axis.
inline constexpr std::array<AxisRow, kAxisCount> kAxes{{
    {"tp", "tensor", "tensor_parallel", &Plan::tensor_parallel, true},
    {"cp", "context", "context_parallel", &Plan::context_parallel, false, true},
    {"ep", "expert", "expert_parallel", &Plan::expert_parallel, false, false, true},
    {"dp", "data", "data_parallel", &Plan::data_parallel, true, true},
    {"pp", "pipeline", "pipeline_parallel", &Plan::pipeline_parallel, true},
}};

constexpr std::int64_t Plan::degree(Axis axis) const {
  return this->*kAxes[static_cast<std::size_t>(axis)].degree;
}

inline std::int64_t Plan::weight_copies() const {
  std::int64_t product = model_copies();
  for (std::size_t axis = 0; axis < kAxisCount; ++axis)
    product *= kAxes[axis].copies_weights ? degree(static_cast<Axis>(axis)) : 1;
  return product;
}

constexpr std::int64_t Plan::gpus() const {
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis < kAxisCount; ++axis)
    product *= kAxes[axis].folded ? 1 : degree(static_cast<Axis>(axis));
  return product;
}

}  // namespace orrery
