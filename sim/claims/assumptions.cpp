#include "sim/claims/assumptions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "sim/cost/price_list.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/schedules/schedules.hpp"
#include "workloads/sync/sync_method.hpp"
#include "workloads/weights/optimizer_states.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, kOptimizerNames.size()> kOptimizers{
    "Adam", "Adam in 8 bits",
    "Lion", "SGD with momentum",
    "SGD",  "Muon, beside Adam's second moment of embeddings and norms,"};

std::string network(const Experiment& experiment) {
  return experiment.simulation.network == Network::flow
             ? "transfers share links max-min fairly (network: flow)"
             : "transfers do not slow each other down (network: alpha-beta)";
}

std::string of_class(const Gpu& gpu) {
  return "on the nodes with " + (gpu.name.empty() ? "other GPUs" : gpu.name) + ": ";
}

std::string compute(const Gpu& gpu, double gemm_speed, const std::string& of = "") {
  return fmt::format(
      "{}large GEMMs sustain up to {:.0f} % of peak, memory-bound kernels {:.0f} % of the memory bandwidth, "
      "{} us between kernels",
      of, 100 * std::min(1.0, gpu.gemm_efficiency * gpu.clock_of_products(Precision::bf16) * gemm_speed),
      100 * gpu.memory_efficiency, gpu.kernel_launch_us);
}

/// Returns true if GPUs communicate over the links of a node.
bool wired(const Cluster& cluster) {
  return !cluster.graph && cluster.gpus_per_domain() > 1 && cluster.node.kind != "none";
}

/// Returns true if GPUs communicate over the links of the fabric.
bool joined(const Cluster& cluster) {
  return !cluster.graph && (cluster.gpus() > cluster.gpus_per_domain() || !wired(cluster));
}

/// One sentence on whose measurements apply; "" where no part of the experiment has a calibration.
std::string calibrations(const Experiment& experiment) {
  const Cluster& cluster = experiment.cluster;
  std::string text;
  const auto add = [&](std::string_view part, const std::string& name) {
    if (!name.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part, name);
  };
  for (std::size_t c = 0; c < cluster.gpu_classes(); ++c) add("gpu", cluster.gpu_of_class(c).calibration);
  if (wired(cluster)) add("node", cluster.node.calibration);
  if (joined(cluster) && cluster.gpus() > 1) add("fabric", cluster.fabric.calibration);
  add("software stack", experiment.stack);
  return text.empty() ? "" : "constants not given are those of the calibrations: " + text;
}

/// Names the constants of a part's links that are assumed perfect because nothing was measured; "" if all are
/// given.
template <class Links>
std::string perfect(std::string_view part, const Links& links) {
  std::string text;
  const auto add = [&](bool missing, std::string_view what) {
    if (missing) text += fmt::format("{}{}", text.empty() ? "" : ", ", what);
  };
  add(links.base_latency_us == 0, "no base latency (base_latency_us)");
  add(links.latency_us == 0, "no latency a hop (latency_us)");
  add(links.efficiency == 1, "all of their bandwidth (efficiency)");
  return text.empty() ? "" : fmt::format("links of {} are taken to have {}", part, text);
}

/// One sentence on links without a calibration that are better than any that were measured; "" where there
/// are none. A calibration of links of that kind puts it right.
std::string perfect_links(const Experiment& experiment) {
  const Cluster& cluster = experiment.cluster;
  if (cluster.graph || cluster.gpus() == 1) return "";
  std::string text;
  if (wired(cluster) && cluster.node.calibration.empty()) text = perfect("a node", cluster.node);
  if (joined(cluster) && cluster.fabric.calibration.empty()) {
    const std::string between = perfect("the fabric", cluster.fabric);
    text += text.empty() || between.empty() ? between : "; " + between;
  }
  return text.empty() ? "" : text + "; real ones take longer (orrery list calibrations has measured ones)";
}

std::string stragglers(const Experiment& experiment) {
  const double jitter = experiment.jitter();
  if (jitter == 0) return "";
  const bool loaders = jitter != experiment.software.jitter;
  return fmt::format("chance adds {:.3g} % on average to the kernels of each GPU in each step (software.{})",
                     100 * jitter, loaders ? "image_loading_jitter" : "jitter");
}

std::string slow_nodes(const Experiment& experiment) {
  const double slowest = slowest_node(experiment);
  if (slowest == 1) return "";
  return fmt::format(
      "kernels take {:.2g} % longer than on one node, as a step waits for the slowest of its "
      "nodes (software.straggler_share)",
      100 * (slowest - 1));
}

/// Averages that neighbours in turn never finish; "" where they do, or never were to.
std::string inexact(const Experiment& experiment) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  const std::uint32_t workers = sync_workers(experiment).workers;
  if (!sync.gossips() || !sync.neighbours.empty() || sync.topology != "one-peer-exponential") return "";
  if (std::has_single_bit(workers)) return "";
  return fmt::format(
      "a round of one-peer-exponential over {} workers does not average exactly: that takes a power of two "
      "(base-k averages exactly over any number)",
      workers);
}

std::string folding(const Experiment& experiment, const Report& report) {
  const auto gpus = static_cast<std::uint64_t>(report.gpus);
  if (experiment.simulation.folding == Folding::off) return "every GPU is simulated on its own";
  if (gpus == 1) return "the only rank is simulated";
  if (report.stats.ranks == gpus) return fmt::format("all {} ranks are simulated: no two are alike", gpus);
  return fmt::format("{} of {} ranks are simulated; the others cannot differ from them", report.stats.ranks,
                     gpus);
}

/// Says how an uneven number of layers is divided over stages; "" if it is even, or if stages are set
/// otherwise.
std::string dealt_layers(const Plan& plan, std::int64_t layers) {
  const auto stages = static_cast<std::int64_t>(plan.stage_layers.size());
  if (stages == 0 || layers % stages == 0 || plan.stage_layers != deal_layers(layers, stages)) return "";
  return fmt::format(
      "{} layers do not divide by {} stages: the last one, which has the head, and then the first ones have "
      "one "
      "fewer (plan.stage_layers; \"auto\" finds the fastest)",
      layers, stages);
}

/// Names the collective algorithms that are left to the default; "" if a single GPU has none.
std::string automatic_collectives(const Plan& plan) {
  const auto reduce = static_cast<std::size_t>(Collective::all_reduce);
  const auto gather = static_cast<std::size_t>(Collective::all_gather);
  if (plan.gpus() == 1 || (plan.collectives[reduce] != "auto" && plan.collectives[gather] != "auto"))
    return "";
  return "collectives run by the fastest algorithm that NCCL has for them; hierarchical, halving-doubling or "
         "direct ones can be faster (plan.collectives)";
}

/// Links that carry more than they can, which alpha-beta does not see; "" where there are none.
std::string overloaded_links(const Report& report) {
  const auto busiest = std::ranges::max_element(report.links, {}, &LinkUtilization::peak);
  if (busiest == report.links.end() || busiest->peak <= 1.005) return "";
  return fmt::format(
      "the busiest {} link would have to carry {:.0f} % of what it can: transfers meet there, which network "
      "alpha-beta leaves out, so the step takes longer",
      kLinkKindNames[static_cast<std::size_t>(busiest->kind)], 100 * busiest->peak);
}

/// Overrides that let kernels be faster than their GPU; "" where none does.
std::string beyond_peak(const Cluster& cluster) {
  std::string text;
  for (const GpuOverride& override : cluster.overrides)
    if (override.speed > 1)
      text += fmt::format("{}cluster.overrides speed {:.3g}", text.empty() ? "" : ", ", override.speed);
  return text;
}

/// An MFU that no GPU reaches; "" where it is one.
std::string impossible_mfu(const Experiment& experiment, const Report& report) {
  if (report.makespan_ps == 0 || !(report.mfu() > 1)) return "";
  const std::string why = beyond_peak(experiment.cluster);
  return fmt::format(
      "an MFU of {:.0f} % is more than the peak of the GPU allows: {}", 100 * report.mfu(),
      why.empty() ? "attention is counted in full though its kernel skips what is masked" : why);
}

/// Says how much of sequence parallelism's collectives the products hide; "" if the software hides none.
std::string hidden_collectives(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  const double share = experiment.software.tensor_overlap;
  const bool asked = plan.tensor_parallel > 1 && plan.sequence_parallel && plan.overlap_tensor_parallel;
  if (share == 0 || !asked) return "";
  if (!plan.hides_tensor_collectives())
    return "gathers and scatters of tensor ranks are not hidden behind products, which was measured inside "
           "NVLink domains alone (plan.overlap_tensor_chunks: false)";
  return fmt::format(
      "{:.3g} % of the gathers and scatters of tensor ranks are hidden behind products "
      "(software.tensor_overlap), as measured inside NVLink domains",
      100 * share);
}

/// Says how far a step under the bounding stack is a lower bound; "" under another stack.
std::string bound(const Experiment& experiment) {
  const bool alone = experiment.plan.gpus() == 1 || experiment.simulation.network == Network::alpha_beta;
  if (experiment.stack != "ideal" || alone) return "";
  return "no stack is faster than ideal under network alpha-beta; where transfers share links (flow) they "
         "can meet "
         "at worse times in a faster step";
}

/// Says how much compute slows down beside communication; "" if it does not.
std::string interference(const Experiment& experiment) {
  const double share = communication_interference(experiment);
  if (experiment.plan.gpus() == 1 || share == 0) return "";
  return fmt::format(
      "compute loses {:.3g} % of its speed while tensor, data or expert traffic runs beside it "
      "(communication_interference)",
      100 * share);
}

/// Says how much of a GPU's memory is left to other uses; "" if no reserve is given.
std::string memory_reserve(const Gpu& gpu) {
  if (gpu.memory_reserve_gb == 0) return "";
  return fmt::format("{:.4g} GB of a GPU's memory {} left for the CUDA context and NCCL (memory_reserve_gb)",
                     gpu.memory_reserve_gb, gpu.memory_reserve_gb == 1 ? "is" : "are");
}

std::string recurrences(const Model& model) {
  if (model.mamba2.heads == 0 && model.gated_delta_net.key_heads == 0) return "";
  return "MFU and HFU count states as Megatron-LM does; kernels work in chunks, whose products are priced as "
         "if "
         "those of a sequence could all run at once";
}

}  // namespace

std::string memory_assumption(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  const bool wide = plan.precision == Precision::fp32 || plan.precision == Precision::tf32;
  constexpr std::int64_t kMany = 2048;
  const double states = static_cast<double>(optimizer_state_bytes(plan, kMany)) / static_cast<double>(kMany);
  const double overhead = experiment.software.allocator_overhead;
  return fmt::format("{} keeps {:.3g} bytes of state a parameter beside {} for parameter and gradient; {}",
                     kOptimizers[static_cast<std::size_t>(plan.optimizer)], states, wide ? 8 : 4,
                     overhead > 0 ? fmt::format("the allocator reserves {:.3g} % more than tensors take "
                                                "(software.allocator_overhead)",
                                                100 * overhead)
                                  : "memory is counted without fragmentation");
}

std::vector<std::string> assumptions(const Experiment& experiment, const Report& report) {
  std::vector<std::string> list{network(experiment),
                                compute(experiment.cluster.gpu, experiment.software.gemm_speed),
                                folding(experiment, report), memory_assumption(experiment)};
  if (!experiment.plan_reason.empty()) list.insert(list.begin(), experiment.plan_reason);
  for (const Gpu& gpu : experiment.cluster.other_gpus)
    list.push_back(compute(gpu, experiment.software.gemm_speed, of_class(gpu)));
  if (experiment.model.attends() && experiment.model.attention == Attention::flash) {
    list.emplace_back(
        "MFU and HFU count attention in full, as is usual, though a causal flash kernel skips half of it");
  }
  if (std::string sentence = recurrences(experiment.model); !sentence.empty())
    list.push_back(std::move(sentence));
  for (std::string sentence : {calibrations(experiment), perfect_links(experiment)})
    if (!sentence.empty()) list.push_back(std::move(sentence));
  if (experiment.data_parallel_sync.method == SyncMethod::none && experiment.plan.data_parallel > 1)
    list.emplace_back("gradients are not exchanged between replicas (data_parallel_sync.method: none)");
  if (sync_method(experiment.data_parallel_sync.method).meets != Meets::in_step &&
      experiment.plan.data_parallel > 1)
    list.emplace_back(
        "workers keep no step with each other: their local steps are those of workers that never meet, "
        "exchanges "
        "do not slow them down, and the run ends with as many steps of all as steps in common would be");
  if (std::string sentence = inexact(experiment); !sentence.empty()) list.push_back(std::move(sentence));
  for (std::string sentence :
       {dealt_layers(experiment.plan, experiment.model.all_layers()), stragglers(experiment),
        slow_nodes(experiment), hidden_collectives(experiment), interference(experiment), bound(experiment),
        memory_reserve(experiment.cluster.gpu), automatic_collectives(experiment.plan),
        overloaded_links(report), impossible_mfu(experiment, report)})
    if (!sentence.empty()) list.push_back(std::move(sentence));
  if (!report.feasible) list.emplace_back("times are those of a GPU with enough memory");
  return list;
}

}  // namespace orrery
