// The keys of a plan that say how weights and their states are spread over replicas.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/experiment/read_parts.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

class ShardingCompletion {
 public:
  ShardingCompletion(Experiment& experiment, const Json& given, Findings& findings)
      : experiment_(experiment), plan_(experiment.plan), given_(given), findings_(findings) {}

  void run() {
    complete_group();
    complete_reduction();
    complete_prefetch();
    refuse_idle("reshard_after_forward", !plan_.reshard_after_forward);
    refuse_idle("fsdp_unit_layers", plan_.fsdp_unit_layers > 1);
    check_optimizer();
    check_wire();
    check_offload();
  }

 private:
  [[nodiscard]] bool has(std::string_view key) const { return given_.contains(key); }

  /// Replicas that share a node with the first one.
  [[nodiscard]] std::int64_t replicas_in_node() const {
    const RankGrid grid(plan_);
    const std::int64_t in_node = experiment_.cluster.gpus_per_node;
    std::int64_t replicas = 1;
    while (replicas < plan_.data_parallel && grid.rank({{Axis::data, replicas}}) < in_node) ++replicas;
    return replicas;
  }

  /// Completes the ZeRO group that a plan leaves open. It follows the software's default if a node holds
  /// several replicas and all nodes hold equally many.
  void complete_group() {
    if (experiment_.data_parallel_sync.joins_replicas() && plan_.zero_stage > 0) return complete_worker();
    if (has("zero_group_size") && !plan_.choose_zero_group) return check_group();
    const Software& software = experiment_.software;
    const bool choose = plan_.choose_zero_group || (software.chooses_sharding && !has("zero_group_size"));
    plan_.choose_zero_group = false;
    if (!(choose || software.shards_in_nodes) || plan_.zero_stage == 0 || plan_.model_copies() > 1) return;
    if (experiment_.model.experts > 0) return;  // which are sharded over all ranks that hold the same ones
    const std::vector<std::int64_t>& sizes = plan_.replica_batch_sizes;
    const bool unequal = std::ranges::adjacent_find(sizes, std::not_equal_to{}) != sizes.end();
    if (unequal || plan_.balance_replica_batches) return;
    const std::int64_t together = replicas_in_node();
    if (together == 1 || plan_.data_parallel % together != 0) return;
    plan_.zero_group_size = together;
    plan_.choose_zero_group = choose && together < plan_.data_parallel;
  }

  /// The replicas of a worker share one copy of its model; workers differ.
  void complete_worker() {
    try {
      const std::int64_t together = sync_workers(experiment_).replicas_per_worker;
      if (has("zero_group_size") && !plan_.choose_zero_group && plan_.zero_group_size != together)
        findings_.add("/plan/zero_group_size",
                      fmt::format("found {}, allowed the {} replicas of a worker of data_parallel_sync",
                                  plan_.zero_group_size, together));
      plan_.zero_group_size = together;
      plan_.choose_zero_group = false;
    } catch (const InputError& error) {
      for (const Diagnostic& problem : error.diagnostics()) findings_.add(problem);
    }
  }

  void check_group() {
    if (plan_.zero_stage == 0)
      return findings_.add_idle("/plan/zero_group_size",
                                "found a value that does nothing with zero_stage 0, allowed from 1 on");
    if (plan_.data_parallel % plan_.zero_group_size == 0) return;
    findings_.add("/plan/zero_group_size", fmt::format("found {}, allowed a divisor of data_parallel {}",
                                                       plan_.zero_group_size, plan_.data_parallel));
  }

  /// Replicas that may differ exchange models, once a step.
  void complete_reduction() {
    const SyncMethod method = experiment_.data_parallel_sync.method;
    const bool sharded = plan_.zero_stage > 0 && experiment_.data_parallel_sync.joins_replicas();
    const bool alike = sharded || method == SyncMethod::all_reduce || method == SyncMethod::parameter_server;
    if (has("gradient_reduction") && plan_.reduces_every_micro_batch() && !alike)
      findings_.add(
          "/plan/gradient_reduction",
          fmt::format("found \"every-micro-batch\" with data_parallel_sync.method \"{}\", allowed every-step",
                      kSyncMethodNames[static_cast<std::size_t>(method)]));
    plan_.gradient_reduction = plan_.reduces_every_micro_batch() ? GradientReduction::every_micro_batch
                                                                 : GradientReduction::every_step;
  }

  /// `prefetch` is `overlap_parameter_gather` with a number.
  void complete_prefetch() {
    refuse_idle("prefetch", has("prefetch"));
    if (plan_.zero_stage < 3) return;
    const bool ahead = plan_.units_ahead() > 0;
    if (has("prefetch") && has("overlap_parameter_gather") && ahead != plan_.overlap_parameter_gather)
      return findings_.add(
          "/plan/prefetch",
          fmt::format("found {} with overlap_parameter_gather {}, allowed {}", plan_.prefetch,
                      plan_.overlap_parameter_gather, ahead ? "0" : "1 or more"));
    plan_.overlap_parameter_gather = ahead;
    plan_.prefetch = plan_.units_ahead();
  }

  void check_optimizer() {
    const auto refuse = [this](std::string_view key, std::string_view beside) {
      findings_.add_idle("/plan/" + std::string(key),
                         fmt::format("found a value that does nothing with {}", beside));
    };
    if (plan_.optimizer == Optimizer::muon) check_muon();
    const bool moments = plan_.optimizer != Optimizer::sgd && plan_.optimizer != Optimizer::adam_8bit;
    if (plan_.moment_precision != Precision::fp32 && !moments)
      refuse("moment_precision",
             fmt::format("optimizer \"{}\"", kOptimizerNames[static_cast<std::size_t>(plan_.optimizer)]));
    const bool wide = plan_.precision == Precision::fp32 || plan_.precision == Precision::tf32;
    if (plan_.main_weight_precision != Precision::fp32 && wide)
      refuse("main_weight_precision",
             fmt::format("precision \"{}\"", kPrecisionNames[static_cast<std::size_t>(plan_.precision)]));
  }

  /// Matrices of layers, whose gradients are summed over all replicas.
  void check_muon() {
    const auto refuse = [this](std::string_view beside) {
      findings_.add("/plan/optimizer",
                    fmt::format("found \"muon\" {}, allowed are the others there", beside));
    };
    if (!experiment_.model.attends()) refuse("for a model that is no transformer");
    if (experiment_.model.lora_rank > 0) refuse("with model.lora_rank");
    if (plan_.offload == Offload::optimizer) refuse("with offload \"optimizer\"");
    if (experiment_.data_parallel_sync.method != SyncMethod::all_reduce)
      refuse("where data_parallel_sync is not an all-reduce");
  }

  /// Compressors have widths of their own; gradients or models travel, as the method says.
  void check_wire() {
    check_wire_of("data", plan_.wire_precision.data, Travels::gradients);
    check_wire_of("models", plan_.wire_precision.models, Travels::models);
  }

  void check_wire_of(std::string_view key, const std::optional<Precision>& width, Travels travels) {
    if (!width) return;
    const DataParallelSync& sync = experiment_.data_parallel_sync;
    const std::string place = fmt::format("/plan/wire_precision/{}", key);
    if (sync.compression.method != Compression::Method::none)
      findings_.add(place, "found a precision beside data_parallel_sync.compression, allowed one of them");
    if (sync_method(sync.method).travels == travels) return;
    std::string allowed;
    for (std::size_t i = 0; i < kSyncMethodNames.size(); ++i) {
      if (sync_method(static_cast<SyncMethod>(i)).travels != travels) continue;
      allowed += fmt::format("{}{}", allowed.empty() ? "" : " | ", kSyncMethodNames[i]);
    }
    findings_.add(place,
                  fmt::format("found a precision with data_parallel_sync.method \"{}\", allowed with {}",
                              kSyncMethodNames[static_cast<std::size_t>(sync.method)], allowed));
  }

  void check_offload() {
    if (plan_.offload == Offload::none) {
      if (plan_.offload_fraction != 1)
        findings_.add_idle("/plan/offload_fraction", "found a value that does nothing with offload \"none\"");
      return;
    }
    const Cluster& cluster = experiment_.cluster;
    bool linked = true;
    for (std::size_t c = 0; c < cluster.gpu_classes(); ++c)
      linked = linked && cluster.gpu_of_class(c).host_link_gb_per_s > 0;
    const auto found = [this](std::string_view allowed) {
      findings_.add("/plan/offload",
                    fmt::format("found \"{}\", allowed {}",
                                kOffloadNames[static_cast<std::size_t>(plan_.offload)], allowed));
    };
    if (!linked) return found("where cluster.gpu.host_link_gb_per_s is known");
    const bool averages = experiment_.data_parallel_sync.method == SyncMethod::all_reduce;
    if (plan_.offload == Offload::optimizer && !averages)
      found("with data_parallel_sync.method \"all-reduce\"");
    if (plan_.offload == Offload::activations && plan_.overlap_expert_parallel)
      found("without overlap_expert_parallel");
    const bool grouped = plan_.recompute_method == RecomputeMethod::uniform && plan_.recompute_layers > 1;
    if (plan_.offload == Offload::activations && grouped)
      found("with recompute of layers one by one, of which each has an input on its own");
  }

  void refuse_idle(std::string_view key, bool set) {
    if (!set || plan_.zero_stage >= 3) return;
    findings_.add_idle(
        "/plan/" + std::string(key),
        fmt::format("found a value that does nothing with zero_stage {}, allowed with 3", plan_.zero_stage));
  }

  Experiment& experiment_;
  Plan& plan_;
  const Json& given_;
  Findings& findings_;
};

}  // namespace

void complete_sharding(Experiment& experiment, const Json& plan, Findings& findings) {
  ShardingCompletion(experiment, plan, findings).run();
}

}  // namespace orrery
