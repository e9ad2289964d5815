// Checks upper bounds of a step's compute and traffic, because later code counts in 64-bit integers (FLOPs of
// an operation, bytes per GPU, picoseconds) and 32-bit task numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "config/experiment/read_parts.hpp"
#include "config/experiment/size_bounds.hpp"
#include "topologies/gossip/gossip.hpp"
#include "topologies/regions/site_lines.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

constexpr double kMaxCount = 9e18;        // below 2^63
constexpr double kMaxSeconds = 1e6;       // of all steps; 2^63 ps are 9.2e6 s
constexpr double kMaxLayerPasses = 1e12;  // micro-batches x layers x steps: their operations are counted

/// Neighbours that the busiest worker may send to or receive from, without building their graph.
double most_neighbours(const Experiment& e) {
  constexpr double kSparse = 64;  // of the topologies whose degree grows with log n at most
  const DataParallelSync& sync = e.data_parallel_sync;
  const bool dense = sync.topology == "star" || sync.topology == "complete" ||
                     sync.topology == "erdos-renyi" || !sync.neighbours.empty();
  return dense ? real(e.plan.data_parallel) : kSparse;
}

/// That the busiest worker has in a round of the graph.
double neighbours_in_graph(const Experiment& e) {
  const SyncWorkers workers = sync_workers(e);
  if (workers.workers < 2) return 0;
  constexpr std::uint32_t kRandomRounds = 1;  // all have as many neighbours
  const GossipGraph graph = build_gossip_graph(
      e.data_parallel_sync, {workers.workers, workers.workers_per_node, kRandomRounds, e.simulation.seed});
  std::size_t most = 0;
  for (const Mixing& round : graph.rounds) {
    std::vector<std::size_t> receivers(round.workers(), 0);
    for (const std::uint32_t from : round.from) most = std::max(most, ++receivers[from]);
    for (std::uint32_t w = 0; w < round.workers(); ++w) most = std::max(most, round.neighbours(w).size());
  }
  return static_cast<double>(most);
}

/// Models that a worker, or the busiest of them, sends or receives in all steps at most: twice its own for an
/// average over all.
double models_exchanged(const Experiment& e, double neighbours) {
  const DataParallelSync& sync = e.data_parallel_sync;
  const SyncMethodRow& method = sync_method(sync.method);
  const double all = 2 * real(e.plan.data_parallel * e.simulation.steps);
  if (method.by_servers) return all / real(sync.servers) + 2 * real(e.simulation.steps);
  if (method.meets == Meets::in_pairs) return all;
  if (method.meets == Meets::at_centre) return all / real(sync.period);
  if (method.departures == nullptr) return 0;
  double models = 0;
  for (std::int64_t step = 0; step < e.simulation.steps; ++step) {
    for (const Departure& one : method.departures(sync, step))
      models += (one.to == Departure::To::all ? 2 : neighbours) / real(one.fragments);
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
  const bool has_levels = c.fabric.kind == "fat-tree" || c.fabric.kind == "rail-optimized";
  const double oversubscription = has_levels ? c.fabric.oversubscription : 1;
  if (c.nodes > 1)
    rate = std::min(rate, c.fabric.nic_gbps * c.fabric.efficiency / oversubscription * 1e9 / 8);
  if (c.regions)
    for (const SiteLink& line : c.regions->links) rate = std::min(rate, slowest_way(line));
  return rate;
}

/// Returns the bandwidth of the slowest link within a worker.
double slowest_link_in_worker(const Experiment& e) {
  Cluster inner = e.cluster;
  inner.regions.reset();
  if (e.data_parallel_sync.level == SyncLevel::node && inner.node.kind != "none") inner.nodes = 1;
  return slowest_link(inner);
}

/// Tensor ranks lie side by side in a node where they can, and then their messages do not leave it.
double slowest_link_of_tensor(const Experiment& e) {
  Cluster inner = e.cluster;
  const bool side_by_side = e.plan.rank_order.starts_with("tp");
  const bool in_node = side_by_side && inner.gpus_per_node % e.plan.tensor_parallel == 0;
  if (in_node && !inner.graph) inner.nodes = 1;
  return slowest_link(inner);
}

/// Replicas move weights and gradients once a step, or, under ZeRO, with each micro-batch.
double bytes_of_weights(const Experiment& e, const StepBounds& b) {
  if (e.plan.data_parallel * e.plan.context_parallel == 1) return 0;
  if (!e.plan.moves_weights_every_micro_batch()) return b.kept_weights;
  return b.kept_weights + kMovedBytes * b.weights * real(e.plan.micro_batches());
}

/// Returns an upper bound of the seconds that messages of one GPU take in all steps. Gradients of workers
/// that exchange models stay within the workers, and so does a replica without stages in a node.
double seconds_on_links(const Experiment& e, const StepBounds& b, double neighbours) {
  const double shared = real(e.plan.tensor_parallel * e.plan.pipeline_parallel);
  const std::int64_t of_replica = e.plan.gpus() / e.plan.data_parallel;
  const bool replica_in_node = e.plan.pipeline_parallel == 1 && of_replica <= e.cluster.gpus_per_node;
  const bool joined = e.data_parallel_sync.joins_replicas();
  const double weights = bytes_of_weights(e, b) / shared;
  double within = 0;
  double between = 0;
  (replica_in_node && joined ? within : between) += b.sent_in_replica;
  if (sync_method(e.data_parallel_sync.method).travels == Travels::gradients) {
    between += weights;
  } else if (joined || e.plan.zero_stage > 0) {
    (joined ? within : between) += weights;
  }
  const double slowest = slowest_link(e.cluster);
  const double of_step =
      within / slowest_link_in_worker(e) + between / slowest + b.sent_by_tensor / slowest_link_of_tensor(e);
  return of_step * real(e.simulation.steps) +
         4 * b.weights / shared * models_exchanged(e, neighbours) / slowest;
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
  const double clock = std::min({gpu.clock_of_products(e.plan.precision),
                                 gpu.clock_of_products(Precision::bf16), gpu.clock_of_attention()});
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

/// Holds the time that a constant of the software adds to a step.
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
  if (b.layer_flops > kMaxCount)
    refuse("/model", "FLOPs of a layer per GPU and micro-batch", b.layer_flops, kMaxCount);
  check_gossip(e, b.weights, findings);
  if (b.bytes() * steps > kMaxCount) refuse("/model", "bytes per replica", b.bytes() * steps, kMaxCount);
  const double compute = seconds_of_compute(e, b) * steps;
  if (compute > kMaxSeconds) refuse("/cluster/gpu", "simulated seconds of computing", compute, kMaxSeconds);
  check_software(e, findings);
  if (e.cluster.gpus() == 1) return;
  const double latency = seconds_of_latency(e) * steps;
  double network = seconds_on_links(e, b, most_neighbours(e)) + latency;
  if (network > kMaxSeconds && e.data_parallel_sync.gossips() && findings.empty())
    network = seconds_on_links(e, b, neighbours_in_graph(e)) + latency;
  if (network > kMaxSeconds) refuse("/cluster", "simulated seconds of communication", network, kMaxSeconds);
}

}  // namespace orrery
