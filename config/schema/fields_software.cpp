#include "config/schema/fields.hpp"

namespace orrery {
namespace {

constexpr double kMaxMicroseconds = 1e7;
constexpr double kMaxBytes = 1e4;

}  // namespace

const std::vector<Field<Software>>& software_fields() {
  using S = Software;
  using T = FieldTable<S>;
  static const std::vector<Field<S>> fields{
      T::number("forward_issue_us", "us", 0, kMaxMicroseconds, &S::forward_issue_us, "0",
                "CPU time to issue one kernel of a forward pass or a recomputation"),
      T::number("backward_issue_us", "us", 0, kMaxMicroseconds, &S::backward_issue_us, "0",
                "CPU time to issue one kernel of a backward pass"),
      T::number("collective_issue_us", "us", 0, kMaxMicroseconds, &S::collective_issue_us, "0",
                "CPU time to issue one collective or message"),
      T::number("tensor_skew_us", "us", 0, kMaxMicroseconds, &S::tensor_skew_us, "0",
                "more for a tensor-parallel collective, times the square of its ranks"),
      T::number("tensor_wait_us", "us", 0, kMaxMicroseconds, &S::tensor_wait_us, "0",
                "GPU time a tensor-parallel collective waits for its last rank, times its ranks less one"),
      T::number("parameter_issue_us", "us", 0, kMaxMicroseconds, &S::parameter_issue_us, "0",
                "CPU time of the optimizer step per parameter tensor"),
      T::number("pass_overhead_us", "us", 0, kMaxMicroseconds, &S::pass_overhead_us, "0",
                "CPU time before each pass of a micro-batch through a chunk"),
      T::number("step_overhead_ms", "ms", 0, kMaxMicroseconds, &S::step_overhead_ms, "0",
                "CPU time per step outside its passes: data, logging, checks"),
      T::number("many_nodes_wait_ms", "ms", 0, kMaxMicroseconds, &S::many_nodes_wait_ms, "0",
                "more per step where there are several nodes, for the slowest of them"),
      T::flag("synchronize_passes", &S::synchronize_passes, "false",
              "the host waits for the GPU before each pass"),
      T::number("elementwise_traffic", "", 0.1, 100, &S::elementwise_traffic, "1",
                "memory traffic of elementwise kernels over that of fully fused ones"),
      T::number("forward_bytes_per_logit", "", 0, kMaxBytes, &S::forward_bytes_per_logit, "4",
                "memory traffic of the loss, forward"),
      T::number("backward_bytes_per_logit", "", 0, kMaxBytes, &S::backward_bytes_per_logit, "4",
                "memory traffic of the loss, backward"),
      T::number("optimizer_bytes_per_parameter", "", 0, kMaxBytes, &S::optimizer_bytes_per_parameter, "28",
                "memory traffic of the optimizer step, gradient clipping included"),
      T::number("accumulation_bytes_per_parameter", "", 0, kMaxBytes, &S::accumulation_bytes_per_parameter,
                "0", "memory traffic per micro-batch to add its gradients up"),
      T::integer("fused_softmax_multiple", 1, 1024, &S::fused_softmax_multiple, "1",
                 "the fused softmax needs micro-batch x heads of a rank to be a multiple of this"),
      T::integer("gradient_bytes", 2, 4, &S::gradient_bytes, "2",
                 "width in which 16-bit training keeps and reduces gradients"),
      T::number("kept_bytes_per_logit", "", 0, kMaxBytes, &S::kept_bytes_per_logit, "4",
                "memory held of each logit from the forward pass of the loss to its backward pass"),
      T::number("loss_bytes_per_logit", "", 0, kMaxBytes, &S::loss_bytes_per_logit, "2",
                "more of each logit while the loss runs: copies in other widths, gradients"),
      T::flag("keeps_narrow_inputs", &S::keeps_narrow_inputs, "false",
              "inputs of products with weights are kept as they were cast, in 8 or 4 bits"),
      T::integer("bf16_gradient_memory_bytes", 0, 16, &S::bf16_gradient_memory_bytes, "0",
                 "memory of each gradient in bf16 training, where copies of several widths are held; 0: one"),
      T::flag("keeps_weight_gradients", &S::keeps_weight_gradients, "false",
              "16-bit gradients of weights, one of each shape, are never given back"),
      T::number("allocator_overhead", "", 0, 10, &S::allocator_overhead, "0",
                "memory that the allocator reserves beyond what is allocated, over that"),
      T::integer("flash_version", 0, 3, &S::flash_version, "2",
                 "generation of the fused attention kernel; 0: the fastest of all"),
      T::number("gemm_speed", "", 0.01, 100, &S::gemm_speed, "1",
                "speed of the matrix library over the one the GPU's constants were measured with"),
      T::number("flash_speed", "", 0.01, 100, &S::flash_speed, "1",
                "speed of the fused attention kernel over that of its generation"),
      T::number(
          "packed_attention_columns", "tokens", 0, 1e6, &S::packed_attention_columns, "0",
          "columns of scores that attention over packed samples works off for each row, beside its sample's"),
      T::number("convolution_speed", "", 0.01, 100, &S::convolution_speed, "1",
                "speed of convolutions over that of large products"),
      T::number("parameter_gather_efficiency", "", 0.01, 1, &S::parameter_gather_efficiency, "1",
                "share of the links' pace that ZeRO's parameter gathers reach"),
      T::number("split_node_efficiency", "", 0.01, 1, &S::split_node_efficiency, "1",
                "share of the links' pace that data-parallel groups with some GPUs of each node reach"),
      T::number("data_reduce_efficiency", "", 0.01, 1, &S::data_reduce_efficiency, "1",
                "share of the links' pace that reductions over data-parallel workers on several nodes reach"),
      T::number("data_reduce_wait_ms", "ms", 0, kMaxMicroseconds, &S::data_reduce_wait_ms, "0",
                "the first reduction over data-parallel workers in a step waits for the last of them"),
      T::number("exchange_wait_ms", "ms", 0, kMaxMicroseconds, &S::exchange_wait_ms, "0",
                "the first exchange with gossip neighbours in a step waits for them"),
      T::number(
          "communication_interference", "", 0, 0.9, &S::communication_interference,
          "cluster.gpu.communication_interference",
          "share of its pace that compute loses while communication runs beside it, in place of the GPU's"),
      T::number(
          "jitter", "", 0, 10, &S::jitter, "0",
          "stragglers: mean of what chance adds to a GPU's kernels in a step, over their time; exponential"),
      T::flag("experts_in_turn", &S::experts_in_turn, "false",
              "products of experts run one after another, each in waves of its own; else as one kernel"),
      T::flag("overlaps_tensor_parallel", &S::overlaps_tensor_parallel, "false",
              "the default of plan.overlap_tensor_parallel"),
      T::flag("overlaps_parameter_gather", &S::overlaps_parameter_gather, "false",
              "the default of plan.overlap_parameter_gather"),
      T::flag("shards_in_nodes", &S::shards_in_nodes, "false",
              "the default of plan.zero_group_size is the replicas of a node, not all"),
      T::flag("chooses_sharding", &S::chooses_sharding, "false",
              "the default of plan.zero_group_size is auto"),
      T::number("tensor_overlap", "", 0, 1, &S::tensor_overlap, "0",
                "with overlap_tensor_chunks, share of sequence parallelism's collectives hidden by products"),
      T::flag("gathers_tensors", &S::gathers_tensors, "false",
              "ZeRO-3 gathers and reduces every parameter tensor on its own, not a layer at once"),
      T::number("error_p10_one_node", "", -1, 100, &S::error_p10_one_node, "0",
                "lower decile of measured over predicted step time less one, on one node"),
      T::number("error_p90_one_node", "", -1, 100, &S::error_p90_one_node, "0", "upper decile, on one node"),
      T::number("error_p10_many_nodes", "", -1, 100, &S::error_p10_many_nodes, "0",
                "lower decile, on several nodes"),
      T::number("error_p90_many_nodes", "", -1, 100, &S::error_p90_many_nodes, "0",
                "upper decile, on several nodes"),
  };
  return fields;
}

}  // namespace orrery
