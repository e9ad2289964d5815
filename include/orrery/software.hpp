// Describes how a training framework executes a model: the cost of its host thread, the kernels it fuses and
// the precisions it keeps. One set per software generation (`stack`), from a calibration. Read by workloads/
// (which kernels there are) and sim/cost/ (their cost and that of their issue).
#pragma once

#include <algorithm>
#include <cstdint>

namespace orrery {

struct Software {
  // The host: one CPU thread per GPU issues every kernel, in program order.
  double forward_issue_us = 0;     ///< CPU time to issue one kernel of a forward pass or a recomputation
  double backward_issue_us = 0;    ///< the same in a backward pass
  double collective_issue_us = 0;  ///< CPU time to issue one collective or message
  double expert_issue_us = 0;      ///< CPU time to issue the product of one expert; 0: as other kernels
  /// CPU time to sort the rows of one expert that come from one rank, or go back, where that is not one
  /// kernel but a slice each.
  double row_slice_issue_us = 0;
  double tensor_skew_us = 0;  ///< more for a tensor-parallel collective, times the square of its ranks
  double tensor_wait_us = 0;  ///< a tensor-parallel collective waits for its ranks, times those beyond one
  double parameter_issue_us = 0;  ///< CPU time of the optimizer step per parameter tensor
  double pass_overhead_us = 0;    ///< CPU time before each pass of a micro-batch through a chunk
  double step_overhead_ms = 0;    ///< CPU time per step outside its passes: data, logging, checks
  double many_nodes_wait_ms = 0;  ///< the same where there are several nodes; no calibration knows of such
  /// Time that a step waits on average for each image of a GPU, beyond what its loaders prepare ahead
  /// (Training::data).
  double image_loading_us = 0;
  double image_loading_jitter = 0;  ///< added to `jitter` there: loaders are not always in time
  bool synchronize_passes = false;  ///< the host waits for the GPU before each pass
  /// The host waits for the router of each layer of experts, to learn how many tokens go where, unless an
  /// expert takes a given number (capacity_factor).
  bool dispatch_waits_for_host = false;

  // Kernels beside the products, in bytes of memory traffic.
  double elementwise_traffic = 1;  ///< of elementwise kernels, over that of fully fused ones
  /// Small kernels of routing in a forward pass through a layer of experts, and half as many backward, beside
  /// the kernels that move rows.
  std::int64_t routing_kernels = 0;
  double forward_bytes_per_logit = 4;           ///< of the loss, forward
  double backward_bytes_per_logit = 4;          ///< of the loss, backward
  double optimizer_bytes_per_parameter = 28;    ///< of the optimizer step, gradient clipping included
  double accumulation_bytes_per_parameter = 0;  ///< per micro-batch, to add its gradients up
  bool fuses_accumulation = false;              ///< products that make gradients do so themselves
  /// The fused softmax of unfused attention needs micro-batch x heads of a rank to be a multiple of this;
  /// elsewhere scaling, masking, softmax and casts are kernels of their own. 1: it always applies.
  std::int64_t fused_softmax_multiple = 1;
  /// The gradient of a linear layer's bias is a kernel that reads the gradient of the output; else the
  /// product that makes the gradient of the weight adds it up on the way.
  bool bias_gradient_kernels = false;
  /// Biases behind the second product of experts are kernels of their own, two for each expert.
  bool expert_bias_kernels = false;
  std::int64_t gradient_bytes = 2;  ///< width in which gradients are kept and reduced

  // The next members describe memory.
  double kept_bytes_per_logit = 4;   ///< from the forward pass of the loss to its backward pass
  double loss_bytes_per_logit = 2;   ///< more while either of them runs: copies in other widths, gradients
  bool keeps_narrow_inputs = false;  ///< inputs of products are kept as they were cast, in 8 or 4 bits
  bool keeps_cast_weights = false;  ///< weights are cast to 8 or 4 bits once a step, not for each micro-batch
  bool keeps_narrow_activation_inputs = false;  ///< inputs of an MLP's activation function, in 8 bits
  std::int64_t bf16_gradient_memory_bytes = 0;  ///< of each gradient in bf16 training; 0: as wide as they are
  std::int64_t fp16_gradient_memory_bytes = 0;  ///< the same in fp16 training
  bool keeps_weight_gradients =
      false;  ///< 16-bit gradients of weights, one of each shape, are never given back
  /// RMS norms and gates of MLPs are single operations of PyTorch, each of which keeps its inputs.
  bool eager_layers = false;
  /// ZeRO-3 holds what this generation of PyTorch's FSDP does: shards in 32 bits alone, gradients from their
  /// reduction to the update, and a copy of a unit's gradients as it is reduced; 0: none of this.
  std::int64_t fsdp_version = 0;
  double update_gradient_bytes = 0;    ///< more of each 16-bit gradient while it updates: copies in 32 bits
  double update_group_parameters = 0;  ///< ZeRO-3: most parameters of a rank updated at once; 0: all
  double allocator_overhead = 0;       ///< reserved beyond the allocated bytes, over these
  double framework_gb = 0;     ///< allocated beside the model's tensors: workspaces of libraries, padding
  double context_gb = 0;       ///< of a process outside the allocator: CUDA context, code of kernels
  double communicator_mb = 0;  ///< outside the allocator, for each communicator of a GPU
  /// Deciles of measured over predicted peak memory, less one, of runs that a fit had not seen. Both 0 where
  /// none are known.
  double memory_error_p10 = 0;
  double memory_error_p90 = 0;

  std::int64_t flash_version = 2;  ///< generation of the fused attention kernel, 1 to 3; 0: the fastest
  /// Its fused attention kernels are cuDNN's on GPUs that have them, those with a flash3_efficiency.
  bool cudnn_attention = false;
  double gemm_speed = 1;   ///< of its matrix library, over the one the GPU's constants were measured with
  double flash_speed = 1;  ///< of the fused attention kernel, over that of its generation
  /// Columns of scores that a kernel for packed samples works off for each block of rows beside those of its
  /// sample: it is laid out for the longest one.
  double packed_attention_columns = 0;
  double convolution_speed = 1;  ///< of convolutions, over large products
  /// Products of experts run one after another, each in waves of its own; else as one kernel.
  bool experts_in_turn = false;
  /// In CUDA graphs of whole steps one kernel computes a product of all experts, their activation and the
  /// cast of its result.
  bool fuses_expert_mlp = false;

  // Serving.
  double iteration_us = 0;  ///< CPU time between two iterations: which requests and tokens come next
  double request_us = 0;    ///< the same for each request in flight
  /// Time from a request's arrival to its place in the engine's queue, and back with its first token:
  /// connections, tokenising, processes in between.
  double front_end_ms = 0;
  /// CPU time of the one process of a front end, which requests and messages queue for: for each request, to
  /// tokenise and hand it over, and for each message of new tokens to a client.
  double front_end_request_us = 0;
  double front_end_message_us = 0;
  /// Shares of Gpu::memory_efficiency: at which products read stored weights, those of them that are widened
  /// on the way into the product, and attention the keys and values of its cache.
  double weight_read_share = 1;
  double widened_read_share = 1;
  double cached_attention_share = 1;
  /// The share of repeated reads that is kept on chip, as query heads of one key and value head read the KV
  /// cache again; 0: each head reads all of it from memory.
  double grouped_query_reuse = 1;
  /// Speed of products whose weights lie in fewer bits than are multiplied, over others.
  double widened_product_speed = 1;
  /// Start of an all-reduce of activations in which each GPU of a node reads the others' data, a kernel of
  /// the engine's own; 0: the communication library runs it.
  double one_shot_reduce_us = 0;

  /// Share of the links' pace that ZeRO's parameter gathers reach.
  double parameter_gather_efficiency = 1;
  /// Share of the links' pace that data-parallel collectives reach in groups over several nodes that have
  /// more than one, but not all, GPUs of a node: before 2.18 NCCL may choose NICs badly for such groups.
  double split_node_efficiency = 1;
  /// Share of the links' pace that reductions over data-parallel workers on several nodes reach.
  double data_reduce_efficiency = 1;
  double data_reduce_wait_ms = 0;  ///< of the first such reduction of a step, until the last worker has come
  double exchange_wait_ms = 0;     ///< of the first exchange with gossip neighbours in a step, likewise

  // The next members describe a background thread that collects ready messages, as Horovod's and BlueFog's
  // do.
  double fusion_buffer_mb = 0;  ///< 1e6 bytes, the default of plan.bucket_mb; 0: that has its own
  /// Parameters of a gradient bucket where plan.bucket_mb does not say: at least so many, and so many for
  /// each copy of the weights; 0: as fusion_buffer_mb.
  double bucket_parameters = 0;
  double bucket_parameters_per_copy = 0;
  double cycle_time_ms = 0;  ///< from one check for ready messages to the next
  /// Time of the coordinating rank for each rank and tensor of a message: all ranks report their tensors, it
  /// finds those that all have and tells them.
  double negotiation_us_per_tensor = 0;

  /// Gpu::communication_interference under this software; -1: the GPU's.
  double communication_interference = -1;

  /// Stragglers: all kernels of a GPU in a step take 1 + jitter E times as long, E exponential with mean 1
  /// and drawn for every GPU and step.
  double jitter = 0;
  /// Mean delay by chance of a node's kernels in a step, as a share of their time: a step waits for the
  /// slowest of its nodes.
  double straggler_share = 0;

  // The next members describe overlap.
  bool overlaps_tensor_parallel = false;   ///< the default of plan.overlap_tensor_parallel
  bool overlaps_parameter_gather = false;  ///< the default of plan.overlap_parameter_gather
  /// The default of plan.overlap_gradient_reduce; models of gossip then leave bucket by bucket as well.
  bool overlaps_gradient_reduce = false;
  bool shards_in_nodes = false;   ///< the default of plan.zero_group_size is the replicas of a node, not all
  bool chooses_sharding = false;  ///< that default is auto
  /// With Plan::overlap_tensor_chunks, the share of sequence parallelism's collectives that products hide.
  double tensor_overlap = 0;
  /// ZeRO-3 gathers and reduces every parameter tensor on its own, not a layer at once.
  bool gathers_tensors = false;

  /// Deciles of measured step time over predicted, less one: of runs of the stack that a fit had not seen, on
  /// one node and on many; of all runs of stacks, GPUs and links that a fit had not seen. All 0 where none
  /// are known.
  double error_p10_one_node = 0;
  double error_p90_one_node = 0;
  double error_p10_many_nodes = 0;
  double error_p90_many_nodes = 0;
  double error_p10_new_stack = 0;
  double error_p90_new_stack = 0;
  double error_p10_new_gpu = 0;
  double error_p90_new_gpu = 0;
  double error_p10_new_fabric = 0;
  double error_p90_new_fabric = 0;

  /// Bytes for each gradient that a product moves to add it up, beside the 16 bits of a result; 0: a kernel
  /// of its own does so.
  [[nodiscard]] double fused_sum_bytes() const {
    return fuses_accumulation ? std::max(accumulation_bytes_per_parameter - 2, 0.0) : 0;
  }

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(
        forward_issue_us, backward_issue_us, collective_issue_us, tensor_skew_us, tensor_wait_us,
        parameter_issue_us, pass_overhead_us, step_overhead_ms, many_nodes_wait_ms, image_loading_us,
        image_loading_jitter, fusion_buffer_mb, bucket_parameters, bucket_parameters_per_copy, cycle_time_ms,
        negotiation_us_per_tensor, synchronize_passes, dispatch_waits_for_host, expert_issue_us,
        row_slice_issue_us, routing_kernels, elementwise_traffic, forward_bytes_per_logit,
        backward_bytes_per_logit, optimizer_bytes_per_parameter, accumulation_bytes_per_parameter,
        fuses_accumulation, fused_softmax_multiple, gradient_bytes, kept_bytes_per_logit,
        loss_bytes_per_logit, keeps_narrow_inputs, keeps_cast_weights, keeps_narrow_activation_inputs,
        bf16_gradient_memory_bytes, fp16_gradient_memory_bytes, keeps_weight_gradients, eager_layers,
        fsdp_version, update_gradient_bytes, update_group_parameters, allocator_overhead, framework_gb,
        context_gb, communicator_mb, memory_error_p10, memory_error_p90, flash_version, cudnn_attention,
        gemm_speed, flash_speed, packed_attention_columns, convolution_speed, experts_in_turn,
        fuses_expert_mlp, iteration_us, request_us, front_end_ms, front_end_request_us, front_end_message_us,
        weight_read_share, widened_read_share, cached_attention_share, grouped_query_reuse,
        widened_product_speed, one_shot_reduce_us, parameter_gather_efficiency, split_node_efficiency,
        data_reduce_efficiency, data_reduce_wait_ms, exchange_wait_ms, communication_interference, jitter,
        straggler_share, bias_gradient_kernels, expert_bias_kernels, overlaps_tensor_parallel,
        overlaps_parameter_gather, overlaps_gradient_reduce, shards_in_nodes, chooses_sharding,
        tensor_overlap, gathers_tensors, error_p10_one_node, error_p90_one_node, error_p10_many_nodes,
        error_p90_many_nodes, error_p10_new_stack, error_p90_new_stack, error_p10_new_gpu, error_p90_new_gpu,
        error_p10_new_fabric, error_p90_new_fabric);
  }
  friend bool operator==(const Software&, const Software&) = default;
};

}  // namespace orrery
