// Upper bounds, in floating point, of what a step computes and moves: whoever comes later counts in
// 64-bit integers (FLOPs per GPU, bytes per GPU, picoseconds) and 32-bit task numbers.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "config/experiment/read_parts.hpp"

namespace orrery {
namespace {

constexpr double kMaxCount = 9e18;       // below 2^63
constexpr double kMaxSeconds = 1e6;      // of all steps; 2^63 ps are 9.2e6 s
constexpr double kMaxLayerPasses = 2e7;  // micro-batches x layers x steps: some 1e9 tasks

double real(std::int64_t value) { return static_cast<double>(value); }

/// Weights of one layer at most.
double layer_weights(const Model& m) {
  if (m.kind == ModelKind::convnet) return real(m.parameters) / real(m.layers);
  if (m.kind == ModelKind::mlp) {
    const double widest = real(*std::max_element(m.widths.begin(), m.widths.end()));
    return widest * widest;
  }
  const double attention = 2 * (real(m.heads) + real(m.kv_heads)) * real(m.head_dim);
  const double adapters = real(m.lora_rank) * (4 * real(m.hidden) + attention + 3 * real(m.ffn_hidden));
  return real(m.hidden) * (attention + 3 * real(m.ffn_hidden)) + adapters;
}

struct StepBounds {
  double weights = 0;  ///< of the whole model
  double flops = 0;    ///< of a step, over all GPUs
  double bytes = 0;    ///< that one GPU may send or keep in a step
};

StepBounds bounds_of(const Experiment& e) {
  const Model& m = e.model;
  const bool transformer = m.kind == ModelKind::transformer;
  StepBounds b;
  b.weights = real(m.layers) * layer_weights(m) + real(m.other_parameters);
  if (transformer) b.weights += real(m.hidden) * (2 * real(m.vocab) + real(m.max_positions));
  const double tokens = real(e.plan.global_batch_size) * real(m.seq_length);
  const bool stored = transformer && m.attention == Attention::core;
  const double scores = transformer ? real(m.seq_length) * real(m.heads) * real(m.head_dim) : 0;
  if (m.kind == ModelKind::convnet) {
    b.flops = real(e.plan.global_batch_size) * 3 * m.forward_gflops_per_sample * 1e9;
    const double kept =
        real(e.plan.global_batch_size) / real(e.plan.data_parallel) * real(m.activations_per_sample);
    b.bytes = 24 * b.weights + 64 * kept;
    return b;
  }
  b.flops = tokens * (8 * b.weights + 16 * real(m.layers) * scores);
  double width = 0;
  if (transformer) {
    width = 8 * real(m.hidden) + 4 * real(m.ffn_hidden) + 6 * real(m.heads) * real(m.head_dim) +
            (stored ? 3 * real(m.heads) * real(m.seq_length) : 0) + 4 * real(m.vocab) / real(m.layers);
  } else {
    width = 4 * real(*std::max_element(m.widths.begin(), m.widths.end()));
  }
  b.bytes = 24 * b.weights + 16 * tokens / real(e.plan.data_parallel) * real(m.layers) * width;
  return b;
}

/// Models that a worker, or the busiest of them, may send or receive in a step beyond an all-reduce.
double models_exchanged(const Experiment& e) {
  constexpr double kSparse = 64;  // neighbours of the topologies whose degree grows with log n at most
  const DataParallelSync& sync = e.data_parallel_sync;
  if (sync.method == SyncMethod::parameter_server) return 2 * real(e.plan.data_parallel);
  if (!sync.gossips()) return 0;
  const bool dense = sync.topology == "star" || sync.topology == "complete" ||
                     sync.topology == "erdos-renyi" || !sync.neighbours.empty();
  return dense ? real(e.plan.data_parallel) : kSparse;
}

/// Bytes/s of the slowest link that traffic may take.
double slowest_link(const Cluster& c) {
  double rate = std::numeric_limits<double>::max();
  if (c.graph) {
    for (const GraphLink& link : c.graph->links) rate = std::min(rate, link.gb_per_s * 1e9);
    return rate;
  }
  if (c.node.kind != "none") rate = std::min(rate, c.node.link_gb_per_s * c.node.efficiency * 1e9);
  if (c.nodes > 1)
    rate = std::min(rate, c.fabric.nic_gbps * c.fabric.efficiency / c.fabric.oversubscription * 1e9 / 8);
  return rate;
}

double seconds_of_compute(const Experiment& e, const StepBounds& b) {
  const Gpu& gpu = e.cluster.gpu;
  const double peak = gpu.peak_tflops[static_cast<std::size_t>(e.plan.precision)];
  double efficiency = gpu.gemm_efficiency;
  for (const double share : {gpu.gemm_efficiency_fp8, gpu.flash_efficiency, gpu.flash3_efficiency})
    if (share > 0) efficiency = std::min(efficiency, share);
  return b.flops / real(e.cluster.gpus()) / (peak * 1e12 * efficiency * gpu.sustained_clock) +
         b.bytes / real(e.plan.tensor_parallel * e.plan.pipeline_parallel) /
             (gpu.memory_gb_per_s * gpu.memory_efficiency * 1e9);
}

double seconds_of_latency(const Experiment& e) {
  double link = std::max(e.cluster.node.latency_us, e.cluster.fabric.latency_us);
  if (e.cluster.graph) {
    for (const GraphLink& edge : e.cluster.graph->links) link = std::max(link, edge.latency_us);
  }
  const double passes = real(e.plan.micro_batches()) * real(e.model.layers) / real(e.plan.pipeline_parallel);
  const Gpu& gpu = e.cluster.gpu;
  const double kernel = gpu.kernel_launch_us + gpu.memory_ramp_us + 2 * gpu.gemm_start_us + gpu.gemm_tile_us;
  return (passes * 60 * kernel + passes * 8 * link) * 1e-6;
}

}  // namespace

void check_size(const Experiment& e, Findings& findings) {
  const StepBounds b = bounds_of(e);
  const double steps = real(e.simulation.steps);
  const double passes = real(e.plan.micro_batches()) * real(e.model.layers) * steps;
  const auto refuse = [&](const char* pointer, const char* what, double found, double limit) {
    findings.add(pointer, fmt::format("found {} of {:.2g}, allowed at most {:.2g}", what, found, limit));
  };
  if (passes > kMaxLayerPasses) {
    refuse("/plan/global_batch_size", "micro-batches x layers x steps", passes, kMaxLayerPasses);
  }
  const double flops = b.flops / real(e.cluster.gpus()) * steps;
  if (flops > kMaxCount) refuse("/model", "FLOPs per GPU", flops, kMaxCount);
  if (b.bytes * steps > kMaxCount) refuse("/model", "bytes per replica", b.bytes * steps, kMaxCount);
  const double compute = seconds_of_compute(e, b) * steps;
  if (compute > kMaxSeconds) refuse("/cluster/gpu", "simulated seconds of computing", compute, kMaxSeconds);
  if (e.cluster.gpus() == 1) return;
  const double shared = real(e.plan.tensor_parallel * e.plan.pipeline_parallel);
  const double bytes = b.bytes + 4 * b.weights * models_exchanged(e);
  const double network = (bytes / shared / slowest_link(e.cluster) + seconds_of_latency(e)) * steps;
  if (network > kMaxSeconds) refuse("/cluster", "simulated seconds of communication", network, kMaxSeconds);
}

}  // namespace orrery
