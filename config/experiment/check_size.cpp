// Upper bounds, in floating point, of what a step computes and moves: whoever comes later counts in
// 64-bit integers (FLOPs of an operation, bytes per GPU, picoseconds) and 32-bit task numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "config/experiment/read_parts.hpp"
#include "topologies/regions/site_lines.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

constexpr double kMaxCount = 9e18;       // below 2^63
constexpr double kMaxSeconds = 1e6;      // of all steps; 2^63 ps are 9.2e6 s
constexpr double kMaxLayerPasses = 2e7;  // micro-batches x layers x steps: some 1e9 tasks

double real(std::int64_t value) { return static_cast<double>(value); }

/// The most that a layer has.
double most(const Model& m, std::int64_t LayerRun::*of_run, std::int64_t of_all) {
  for (const LayerRun& run : m.layer_pattern) of_all = std::max(of_all, run.*of_run);
  return real(of_all);
}

double heads(const Model& m) { return most(m, &LayerRun::heads, m.heads); }

double ffn(const Model& m) { return most(m, &LayerRun::ffn_hidden, m.ffn_hidden); }

/// With those of multi-token prediction.
double all_layers(const Model& m) { return real(m.all_layers() + m.multi_token_prediction); }

double longest(const Model& m) { return real(std::max(m.seq_length, m.encoder_seq_length)); }

/// Weights of one layer at most.
double layer_weights(const Model& m) {
  if (m.kind == ModelKind::convnet) return real(m.parameters) / real(m.layers);
  if (m.kind == ModelKind::mlp) {
    const double widest = real(*std::max_element(m.widths.begin(), m.widths.end()));
    return widest * widest;
  }
  const double ranks = real(m.latent_attention.q_rank + m.latent_attention.kv_rank);
  const double attention =
      2 * (heads(m) + most(m, &LayerRun::kv_heads, m.kv_heads)) * real(m.head_dim) + 2 * ranks;
  const double from_latent = ranks * heads(m) * real(m.query_dim() + m.value_dim());
  const double adapters = real(m.lora_rank) * (4 * real(m.hidden) + attention + 3 * real(m.ffn_hidden));
  const double experts = 3 * real(m.experts + m.shared_experts) * real(m.expert_ffn_hidden) + real(m.experts);
  const double cross = m.encoder_layers > 0 ? 2 : 1;  // with cross-attention
  return real(m.hidden) * (cross * attention + 3 * ffn(m) + experts) + adapters + from_latent;
}

struct StepBounds {
  double weights = 0;       ///< of the whole model
  double flops = 0;         ///< of a step, over all GPUs
  double kept_weights = 0;  ///< bytes of weights, gradients and states that a GPU may send or keep in a step
  double activations = 0;   ///< bytes of activations, the same

  [[nodiscard]] double bytes() const { return kept_weights + activations; }
};

/// Of a weight with its gradient and states.
constexpr double kWeightBytes = 24;

/// Values of the rows that a token becomes at experts, on the rank that gets most, at most.
double routed_width(const Experiment& e) {
  const bool even = e.plan.token_imbalance == TokenImbalance::uniform;
  const double load = even ? 1 : real(e.plan.expert_parallel);
  return load * real(e.model.experts_per_token) *
         (4 * real(e.model.hidden) + 4 * real(e.model.expert_ffn_hidden));
}

StepBounds bounds_of(const Experiment& e) {
  const Model& m = e.model;
  const bool transformer = m.attends();
  StepBounds b;
  b.weights = all_layers(m) * layer_weights(m) + real(m.other_parameters);
  const double losses = 1 + real(m.multi_token_prediction);
  const double depths = 2 * real(m.multi_token_prediction) * real(m.hidden);
  if (transformer) b.weights += real(m.hidden) * (2 * real(m.vocab) + real(m.max_positions) + depths);
  const double tokens = real(e.plan.global_batch_size) * longest(m);
  const bool stored = transformer && m.attention == Attention::core;
  const double scores = transformer ? longest(m) * heads(m) * real(m.head_dim) : 0;
  if (m.kind == ModelKind::convnet) {
    b.flops = real(e.plan.global_batch_size) * 3 * m.forward_gflops_per_sample * 1e9;
    const double kept =
        real(e.plan.global_batch_size) / real(e.plan.data_parallel) * real(m.activations_per_sample);
    b.kept_weights = kWeightBytes * b.weights;
    b.activations = 64 * kept;
    return b;
  }
  b.flops = tokens * (8 * losses * b.weights + (m.encoder_layers > 0 ? 32 : 16) * all_layers(m) * scores);
  double width = 0;
  if (transformer) {
    width = 8 * real(m.hidden) + 4 * ffn(m) + 6 * heads(m) * real(m.head_dim) +
            (stored ? 3 * heads(m) * longest(m) : 0) + 4 * losses * real(m.vocab) / real(m.layers) +
            routed_width(e);
  } else {
    width = 4 * real(*std::max_element(m.widths.begin(), m.widths.end()));
  }
  b.kept_weights = kWeightBytes * b.weights;
  b.activations = 16 * tokens / real(e.plan.data_parallel) * all_layers(m) * width;
  return b;
}

/// Neighbours that the busiest worker may send to or receive from.
double most_neighbours(const Experiment& e) {
  constexpr double kSparse = 64;  // of the topologies whose degree grows with log n at most
  const DataParallelSync& sync = e.data_parallel_sync;
  const bool dense = sync.topology == "star" || sync.topology == "complete" ||
                     sync.topology == "erdos-renyi" || !sync.neighbours.empty();
  return dense ? real(e.plan.data_parallel) : kSparse;
}

/// Models that a worker, or the busiest of them, sends or receives in all steps at most: twice its own for an
/// average over all.
double models_exchanged(const Experiment& e) {
  const DataParallelSync& sync = e.data_parallel_sync;
  const SyncMethodRow& method = sync_method(sync.method);
  if (method.by_servers) return 2 * real(e.plan.data_parallel * e.simulation.steps);
  if (method.meets == Meets::in_pairs) return 2 * real(e.plan.data_parallel * e.simulation.steps);
  if (method.meets == Meets::at_centre)
    return 2 * real(e.plan.data_parallel * e.simulation.steps) / real(sync.period);
  if (method.departures == nullptr) return 0;
  double models = 0;
  for (std::int64_t step = 0; step < e.simulation.steps; ++step) {
    for (const Departure& one : method.departures(sync, step))
      models += (one.to == Departure::To::all ? 2 : most_neighbours(e)) / real(one.fragments);
  }
  return models;
}

/// Bytes/s of a line between sites, in its slower direction.
double slowest_way(const SiteLink& line) {
  const double back = line.down_gbps > 0 ? line.down_gbps : line.up_gbps;
  return usable_bytes_per_s(std::min(line.up_gbps, back), line);
}

/// Bytes/s of the slowest link that messages between nodes may take.
double slowest_link(const Cluster& c) {
  double rate = std::numeric_limits<double>::max();
  if (c.graph) {
    for (const GraphLink& link : c.graph->links) rate = std::min(rate, link.gb_per_s * 1e9);
    return rate;
  }
  if (c.node.kind != "none") rate = std::min(rate, c.node.link_gb_per_s * c.node.efficiency * 1e9);
  if (c.nodes > 1)
    rate = std::min(rate, c.fabric.nic_gbps * c.fabric.efficiency / c.fabric.oversubscription * 1e9 / 8);
  if (c.regions)
    for (const SiteLink& line : c.regions->links) rate = std::min(rate, slowest_way(line));
  return rate;
}

/// The same of messages within a worker.
double slowest_link_in_worker(const Experiment& e) {
  Cluster inner = e.cluster;
  inner.regions.reset();
  if (e.data_parallel_sync.level == SyncLevel::node && inner.node.kind != "none") inner.nodes = 1;
  return slowest_link(inner);
}

/// What messages of one GPU take in all steps at most. The gradients of workers that exchange models stay
/// within them, and so does a replica without stages in a node.
double seconds_on_links(const Experiment& e, const StepBounds& b) {
  const std::int64_t of_replica = e.plan.gpus() / e.plan.data_parallel;
  const bool replica_in_node = e.plan.pipeline_parallel == 1 && of_replica <= e.cluster.gpus_per_node;
  const bool joined = e.data_parallel_sync.joins_replicas();
  double within = 0;
  double between = 0;
  (replica_in_node && joined ? within : between) += of_replica > 1 ? b.activations : 0;
  if (sync_method(e.data_parallel_sync.method).travels == Travels::gradients) {
    between += b.kept_weights;
  } else if (joined || e.plan.zero_stage > 0) {
    (joined ? within : between) += b.kept_weights;
  }
  const double slowest = slowest_link(e.cluster);
  return (within / slowest_link_in_worker(e) + between / slowest) * real(e.simulation.steps) +
         4 * b.weights * models_exchanged(e) / slowest;
}

/// The slowest of the products: a plan of fewer bits has 16-bit ones too.
double slowest_peak(const Gpu& gpu, Precision precision) {
  if (!is_narrow(precision)) return gpu.peak(precision);
  const double bf16 = gpu.peak(Precision::bf16);
  return std::min(gpu.peak(precision), bf16 > 0 ? bf16 : gpu.peak(Precision::fp16));
}

/// Layers that a rank runs through in a step, over its micro-batches.
double layer_passes(const Experiment& e) {
  return real(e.plan.micro_batches()) *
         (real(e.model.all_layers()) / real(e.plan.pipeline_parallel) + real(e.model.multi_token_prediction));
}

double seconds_of_compute(const Experiment& e, const StepBounds& b, const Gpu& gpu) {
  double efficiency = gpu.gemm_efficiency;
  for (const double share : {gpu.gemm_efficiency_fp8, gpu.gemm_efficiency_fp8_blockwise,
                             gpu.gemm_efficiency_fp4, gpu.flash_efficiency, gpu.flash3_efficiency})
    if (share > 0) efficiency = std::min(efficiency, share);
  double clock = gpu.sustained_clock;
  for (const double share : {gpu.sustained_clock_fp8, gpu.sustained_clock_attention})
    if (share > 0) clock = std::min(clock, share);
  const double peak = slowest_peak(gpu, e.plan.precision);
  return b.flops / real(e.cluster.gpus()) / (peak * 1e12 * efficiency * clock) +
         b.bytes() / real(e.plan.tensor_parallel * e.plan.pipeline_parallel) /
             (gpu.memory_gb_per_s * gpu.memory_efficiency * 1e9);
}

/// On the slowest class of GPU.
double seconds_of_compute(const Experiment& e, const StepBounds& b) {
  double seconds = 0;
  for (std::size_t c = 0; c < e.cluster.gpu_classes(); ++c)
    seconds = std::max(seconds, seconds_of_compute(e, b, e.cluster.gpu_of_class(c)));
  return seconds;
}

double seconds_of_latency(const Experiment& e) {
  double link = std::max(e.cluster.node.latency_us, e.cluster.fabric.latency_us);
  if (e.cluster.graph) {
    for (const GraphLink& edge : e.cluster.graph->links) link = std::max(link, edge.latency_us);
  }
  double kernel = 0;
  for (std::size_t c = 0; c < e.cluster.gpu_classes(); ++c) {
    const Gpu& gpu = e.cluster.gpu_of_class(c);
    kernel = std::max(kernel,
                      gpu.kernel_launch_us + gpu.memory_ramp_us + 2 * gpu.gemm_start_us + gpu.gemm_tile_us);
  }
  return layer_passes(e) * (60 * kernel + 8 * link) * 1e-6;
}

/// What a constant of the software adds to a step.
struct SoftwareTime {
  const char* pointer;
  double seconds = 0;
};

/// Kernels and collectives of a layer at most, with the tensors of its parameters.
constexpr double kLayerKernels = 64;
constexpr double kLayerCollectives = 8;
constexpr double kLayerTensors = 16;

std::vector<SoftwareTime> times_of_software(const Experiment& e) {
  const Software& s = e.software;
  const double layers = all_layers(e.model) / real(e.plan.pipeline_parallel);
  const double passes = layer_passes(e);
  const double chunks = 2 * real(e.plan.micro_batches() * e.plan.virtual_stages);
  const double ranks = real(e.plan.tensor_parallel);
  const double tensor_calls = ranks > 1 ? kLayerCollectives * passes : 0;
  const double waits = e.plan.data_parallel > 1 ? 1e-3 : 0;
  return {{"/software/forward_issue_us", kLayerKernels * passes * s.forward_issue_us * 1e-6},
          {"/software/backward_issue_us", kLayerKernels * passes * s.backward_issue_us * 1e-6},
          {"/software/collective_issue_us", (tensor_calls + 2 * chunks) * s.collective_issue_us * 1e-6},
          {"/software/tensor_skew_us", tensor_calls * ranks * ranks * s.tensor_skew_us * 1e-6},
          {"/software/tensor_wait_us", tensor_calls * ranks * s.tensor_wait_us * 1e-6},
          {"/software/parameter_issue_us", kLayerTensors * layers * s.parameter_issue_us * 1e-6},
          {"/software/pass_overhead_us", chunks * s.pass_overhead_us * 1e-6},
          {"/software/step_overhead_ms", s.step_overhead_ms * 1e-3},
          {"/software/many_nodes_wait_ms", e.cluster.nodes > 1 ? s.many_nodes_wait_ms * 1e-3 : 0},
          {"/software/data_reduce_wait_ms", waits * s.data_reduce_wait_ms},
          {"/software/exchange_wait_ms", waits * s.exchange_wait_ms}};
}

/// At the constant that adds most.
void check_software(const Experiment& e, Findings& findings) {
  const std::vector<SoftwareTime> times = times_of_software(e);
  double seconds = 0;
  for (const SoftwareTime& time : times) seconds += time.seconds * real(e.simulation.steps);
  if (seconds <= kMaxSeconds) return;
  const auto largest = std::ranges::max_element(times, {}, &SoftwareTime::seconds);
  findings.add(largest->pointer,
               fmt::format("found {:.2g} simulated seconds of software, allowed at most {:.2g}", seconds,
                           kMaxSeconds));
}

}  // namespace

void check_size(const Experiment& e, Findings& findings) {
  const StepBounds b = bounds_of(e);
  const double steps = real(e.simulation.steps);
  const double passes = real(e.plan.micro_batches()) * all_layers(e.model) * steps;
  const auto refuse = [&](const char* pointer, const char* what, double found, double limit) {
    findings.add(pointer, fmt::format("found {} of {:.2g}, allowed at most {:.2g}", what, found, limit));
  };
  if (passes > kMaxLayerPasses) {
    refuse("/plan/global_batch_size", "micro-batches x layers x steps", passes, kMaxLayerPasses);
  }
  // Attention is counted over whole sequences before ranks share it.
  const double flops =
      b.flops / real(e.cluster.gpus()) / real(e.plan.micro_batches()) * real(e.plan.context_parallel);
  if (flops > kMaxCount) refuse("/model", "FLOPs per GPU and micro-batch", flops, kMaxCount);
  check_gossip(e, b.weights, findings);
  if (b.bytes() * steps > kMaxCount) refuse("/model", "bytes per replica", b.bytes() * steps, kMaxCount);
  const double compute = seconds_of_compute(e, b) * steps;
  if (compute > kMaxSeconds) refuse("/cluster/gpu", "simulated seconds of computing", compute, kMaxSeconds);
  check_software(e, findings);
  if (e.cluster.gpus() == 1) return;
  const double shared = real(e.plan.tensor_parallel * e.plan.pipeline_parallel);
  const double network = seconds_on_links(e, b) / shared + seconds_of_latency(e) * steps;
  if (network > kMaxSeconds) refuse("/cluster", "simulated seconds of communication", network, kMaxSeconds);
}

}  // namespace orrery
