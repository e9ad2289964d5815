#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "config/experiment/read_parts.hpp"
#include "config/experiment/usual_stacks.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"
#include "orrery/rank_grid.hpp"
#include "workloads/communicators/batch_classes.hpp"
#include "workloads/communicators/ranks_in_node.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

/// Completes and checks one plan, step by step; each step relies on those before it.
class PlanCompletion {
 public:
  PlanCompletion(Experiment& experiment, const Json& given, const Menus& menus, Findings& findings)
      : experiment_(experiment),
        model_(experiment.model),
        cluster_(experiment.cluster),
        plan_(experiment.plan),
        sync_(experiment.data_parallel_sync),
        given_(given),
        menus_(menus),
        findings_(findings) {}

  void run() {
    complete_context();
    complete_precision();
    check_tensor_parallel();
    check_layers();
    check_sync();
    if (!has("expert_tensor_parallel") && model_.experts > 0)
      plan_.expert_tensor_parallel = plan_.tensor_parallel;
    if (!complete_data_parallel()) return;
    complete_overlap(experiment_, given_, menus_, findings_);
    const bool decodes_in_graphs = experiment_.inference && serving_engine(experiment_.stack) != nullptr;
    if (!has("cuda_graphs") && decodes_in_graphs) plan_.cuda_graphs = CudaGraphs::step;
    if (!has("optimizer")) plan_.optimizer = usual_optimizer(model_, experiment_.stack);
    complete_context_groups();
    check_dimensions();
    check_pieces(experiment_, findings_);
    complete_sharding(experiment_, given_, findings_);
    if (complete_batch()) check_schedule();
  }

 private:
  [[nodiscard]] bool has(std::string_view key) const { return given_.contains(key); }

  /// Adds the message at the first of `keys` that the plan gives, because the user can change that one.
  void add(std::initializer_list<std::string_view> keys, std::string message) {
    std::string_view at = *keys.begin();
    for (const std::string_view key : keys) {
      if (!has(key)) continue;
      at = key;
      break;
    }
    findings_.add("/plan/" + std::string(at), std::move(message));
  }

  void require_divisor(std::string_view what, std::int64_t value) {
    const std::int64_t t = plan_.tensor_parallel;
    if (value % t != 0)
      add({"tensor_parallel"}, fmt::format("found {}, allowed a divisor of {} {}", t, what, value));
  }

  [[nodiscard]] bool schedule_is_of(const std::vector<std::string>& names) const {
    return std::ranges::find(names, plan_.pipeline_schedule) != names.end();
  }
  /// Returns true if the schedule may be given several model chunks per rank.
  [[nodiscard]] bool interleaves() const { return schedule_is_of(menus_.interleaved_schedules); }

  /// That every GPU has: the least of them.
  [[nodiscard]] double peak(Precision precision) const {
    double least = cluster_.gpu.peak(precision);
    for (const Gpu& gpu : cluster_.other_gpus) least = std::min(least, gpu.peak(precision));
    return least;
  }

  void complete_precision() {
    if (!has("precision")) {
      for (const Precision choice : {Precision::fp4, Precision::fp8, Precision::fp32, Precision::tf32,
                                     Precision::fp16, Precision::bf16}) {
        if (peak(choice) > 0) plan_.precision = choice;
      }
      if (peak(plan_.precision) == 0)
        findings_.add("/cluster/groups",
                      "found GPUs without a common precision, allowed a peak that all have");
      return check_16_bits();
    }
    if (peak(plan_.precision) > 0) return check_16_bits();
    std::vector<std::string_view> available;
    for (std::size_t i = 0; i < kPrecisionCount; ++i) {
      if (peak(static_cast<Precision>(i)) > 0) available.push_back(kPrecisionNames[i]);
    }
    add({"precision"}, fmt::format("found \"{}\", allowed {}: the precisions for which {}has a peak",
                                   kPrecisionNames[static_cast<std::size_t>(plan_.precision)],
                                   joined(available), gpus_in_words()));
  }

  [[nodiscard]] std::string gpus_in_words() const {
    if (!cluster_.other_gpus.empty()) return "every gpu of the cluster ";
    return cluster_.gpu.name.empty() ? "the gpu " : "the gpu " + printable(cluster_.gpu.name) + " ";
  }

  /// The attention core and all that is no product with weights runs in 16 bits where the plan says fewer.
  void check_16_bits() {
    const auto has_16_bits = [this](std::size_t gpu_class) {
      const Gpu& gpu = cluster_.gpu_of_class(gpu_class);
      return gpu.peak(Precision::bf16) > 0 || gpu.peak(Precision::fp16) > 0;
    };
    bool all = true;
    for (std::size_t c = 0; c < cluster_.gpu_classes(); ++c) all = all && has_16_bits(c);
    if (!is_narrow(plan_.precision) || all) return;
    findings_.add(
        "/cluster/gpu/peak_tflops",
        fmt::format("found no peak of fp16 or bf16, allowed for {} plans with one of them alone: what "
                    "is no product with weights runs in 16 bits",
                    kPrecisionNames[static_cast<std::size_t>(plan_.precision)]));
  }

  /// The part of a sequence that a rank has says how many share it.
  void complete_context() {
    if (!has("sub_seq_length")) return;
    Scope scope{menus_, findings_};
    const auto tokens = read_integer(given_["sub_seq_length"], field_named(plan_fields(), "sub_seq_length"),
                                     Path(), scope);  // read before without a finding
    if (model_.seq_length % *tokens != 0)
      return add({"sub_seq_length"},
                 fmt::format("found {}, allowed a divisor of seq_length {}", *tokens, model_.seq_length));
    const std::int64_t ranks = model_.seq_length / *tokens;
    if (has("context_parallel") && plan_.context_parallel != ranks)
      add({"sub_seq_length"}, fmt::format("found {} (context_parallel {}), allowed one that agrees with "
                                          "context_parallel {}",
                                          *tokens, ranks, plan_.context_parallel));
    plan_.context_parallel = ranks;
  }

  void complete_context_groups() {
    if (plan_.context_parallel_type != ContextParallelType::hierarchical) {
      if (has("hierarchical_context_parallel_size"))
        findings_.add_idle("/plan/hierarchical_context_parallel_size",
                           "found a value that does nothing without context_parallel_type \"hierarchical\"");
      return;
    }
    if (has("hierarchical_context_parallel_size")) return;
    plan_.hierarchical_context_parallel_size = ranks_in_node(RankGrid(plan_), Axis::context, cluster_);
    if (plan_.hierarchical_context_parallel_size > 0) return;
    add({"context_parallel_type"},
        "found \"hierarchical\" with ranks that lie unevenly on nodes, allowed with "
        "hierarchical_context_parallel_size");
  }

  /// Runs the checks of degrees from the files of the dimensions.
  void check_dimensions() {
    if (menus_.check_dimensions == nullptr) return;
    menus_.check_dimensions(experiment_, [this](std::initializer_list<std::string_view> keys,
                                                std::string message) { add(keys, std::move(message)); });
  }

  void check_tensor_parallel() {
    if (plan_.sequence_parallel) require_divisor("seq_length", model_.seq_length);
    if (plan_.sequence_parallel && model_.encoder_layers > 0)
      require_divisor("encoder_seq_length", model_.encoder_seq_length);
    check_recompute();
    if (model_.kind == ModelKind::mlp) return check_partition();
    if (model_.kind == ModelKind::convnet) return check_whole();
    if (!plan_.tensor_partition.empty()) {
      add({"tensor_partition"}, "found a list, allowed only for models of kind mlp");
    }
    if (model_.layer_pattern.empty()) require_divisors(model_.heads, model_.kv_heads, model_.ffn_hidden);
    for (const LayerRun& run : model_.layer_pattern)
      require_divisors(run.heads, run.kv_heads, run.ffn_hidden);
    if (model_.mamba2.heads > 0) require_divisor("mamba2/heads", model_.mamba2.heads);
    if (model_.gated_delta_net.key_heads > 0)
      require_divisor("gated_delta_net/key_heads", model_.gated_delta_net.key_heads);
  }

  void require_divisors(std::int64_t heads, std::int64_t kv_heads, std::int64_t ffn_hidden) {
    require_divisor("heads", heads);
    const bool own_kv_heads = kv_heads != heads;  // else heads say it already
    if (own_kv_heads && plan_.tensor_parallel % kv_heads != 0) require_divisor("kv_heads", kv_heads);
    require_divisor("ffn_hidden", ffn_hidden);
  }

  /// Sharded states only work when replicas exchange gradients and parameters.
  void check_sync() {
    if (sync_.method != SyncMethod::none || plan_.zero_stage == 0) return;
    add({"zero_stage", "sharding"},
        fmt::format("found {} with data_parallel_sync.method \"none\", allowed 0", plan_.zero_stage));
  }

  void refuse(std::string_view key, bool given) {
    if (given)
      add({key},
          fmt::format("found a value that does nothing for models of kind {}, allowed only for transformer",
                      model_.kind == ModelKind::mlp ? "mlp" : "convnet"));
  }

  /// A module that no layer has is a mistake.
  void check_recompute() {
    const auto need = [this](Module module, bool has, std::string_view what) {
      if (!plan_.recompute_modules.has(module) || has) return;
      findings_.add("/plan/recompute/modules",
                    fmt::format("found \"{}\", allowed for models with {}",
                                kModuleNames[static_cast<std::size_t>(module)], what));
    };
    need(Module::experts, model_.experts > 0, "experts");
    const bool plain = model_.experts == 0 && !model_.latent() && !model_.parallel_block &&
                       model_.lora_rank == 0 && model_.encoder_layers == 0;
    need(Module::operations, plain, "dense layers of seven or six products");
    const bool alone = plan_.recompute_modules == ModuleSet{Module::operations};
    if (plan_.recompute_modules.has(Module::operations) && !alone)
      findings_.add("/plan/recompute/modules",
                    "found \"operations\" and others, allowed \"operations\" alone");
    need(Module::mlp, model_.moe_layers() < model_.layers, "dense layers");
    need(Module::latent_projection, model_.latent(), "latent_attention");
    if (plan_.recompute != Recompute::full || plan_.recompute_method == RecomputeMethod::block) return;
    if (plan_.recompute_layers > 1 && plan_.zero_stage == 3)
      findings_.add(
          "/plan/recompute/layers",
          fmt::format("found {} with zero_stage 3, allowed 1: parameters are gathered layer by layer",
                      plan_.recompute_layers));
  }

  void check_whole() {
    if (plan_.tensor_parallel > 1)
      add({"tensor_parallel"},
          fmt::format("found {}, allowed 1 for models of kind convnet", plan_.tensor_parallel));
    refuse("recompute", plan_.recompute != Recompute::none);
    refuse("sequence_parallel", plan_.sequence_parallel);
    refuse("overlap_tensor_parallel", plan_.overlap_tensor_parallel);
  }

  void check_partition() {
    refuse("recompute", plan_.recompute != Recompute::none);
    refuse("sequence_parallel", plan_.sequence_parallel);
    refuse("overlap_tensor_parallel", plan_.overlap_tensor_parallel);
    const auto matrices = static_cast<std::size_t>(model_.layers);
    if (!has("tensor_partition")) {
      for (std::size_t i = 0; i < matrices; ++i) {
        plan_.tensor_partition.push_back(i % 2 == 0 ? MatrixPartition::column : MatrixPartition::row);
      }
    }
    if (plan_.tensor_partition.size() != matrices) {
      return add({"tensor_partition"}, fmt::format("found {} entries, allowed one per matrix: {}",
                                                   plan_.tensor_partition.size(), matrices));
    }
    for (std::size_t i = 0; i < matrices; ++i) {
      const std::size_t cut = plan_.tensor_partition[i] == MatrixPartition::column ? i + 1 : i;
      if (model_.widths[cut] % plan_.tensor_parallel == 0) continue;
      return require_divisor(fmt::format("the width d_{} =", cut), model_.widths[cut]);
    }
  }

  /// Ranks of a V have two chunks.
  void complete_chunks() {
    if (!has("virtual_stages")) plan_.virtual_stages = 2;
    if (plan_.virtual_stages == 2) return;
    add({"virtual_stages"}, fmt::format("found {} with the schedule \"{}\", allowed 2", plan_.virtual_stages,
                                        plan_.pipeline_schedule));
  }

  void check_layers() {
    if (schedule_is_of(menus_.v_schedules)) {
      complete_chunks();
    } else if (plan_.virtual_stages > 1 && !interleaves()) {
      add({"virtual_stages"},
          fmt::format("found {} with the schedule \"{}\", allowed 1, or more with {}", plan_.virtual_stages,
                      plan_.pipeline_schedule, fmt::join(menus_.interleaved_schedules, " | ")));
    }
    check_recomputed_stages();
    if (plan_.balance_stages) return;
    if (has("stage_layers")) return check_stage_layers();
    deal_uneven_layers();
  }

  /// The first and the last stage of a transformer may have its embedding and its head alone.
  void deal_uneven_layers() {
    const std::int64_t layers = model_.all_layers();
    const bool has_ends = model_.kind != ModelKind::mlp && model_.kind != ModelKind::convnet;
    const std::int64_t most = layers + (has_ends ? 2 : 0);
    if (virtual_stages() > most) {
      add({"pipeline_parallel", "virtual_stages"},
          fmt::format("found {}, allowed at most {}, {} {}{}", stages_in_words(), most, layers_in_words(),
                      layers, has_ends ? " and an embedding and a head" : ""));
    } else if (layers % virtual_stages() != 0) {
      plan_.stage_layers = deal_layers(layers, virtual_stages());
    }
  }

  [[nodiscard]] std::int64_t virtual_stages() const { return plan_.pipeline_parallel * plan_.virtual_stages; }
  [[nodiscard]] std::string_view layers_in_words() const {
    return model_.encoder_layers > 0 ? "encoder_layers + layers" : "layers";
  }
  [[nodiscard]] std::string stages_in_words() const {
    return fmt::format("pipeline_parallel {} x virtual_stages {} = {}", plan_.pipeline_parallel,
                       plan_.virtual_stages, virtual_stages());
  }

  void check_recomputed_stages() {
    const auto entries = static_cast<std::int64_t>(plan_.recompute_stage_layers.size());
    if (entries == 0) return;
    if (plan_.balance_stages)
      findings_.add("/plan/recompute/stage_layers",
                    "found it with stage_layers \"auto\", allowed with layers that are known");
    if (entries != virtual_stages())
      findings_.add("/plan/recompute/stage_layers",
                    fmt::format("found {} entries, allowed {}", entries, stages_in_words()));
  }

  void check_stage_layers() {
    const auto& list = plan_.stage_layers;
    const std::int64_t sum = std::accumulate(list.begin(), list.end(), std::int64_t{0});
    if (static_cast<std::int64_t>(list.size()) != virtual_stages()) {
      add({"stage_layers"}, fmt::format("found {} entries, allowed {}", list.size(), stages_in_words()));
    } else if (sum != model_.all_layers()) {
      add({"stage_layers"},
          fmt::format("found a sum of {}, allowed {} {}", sum, layers_in_words(), model_.all_layers()));
    }
  }

  /// "tensor_parallel 2 x pipeline_parallel 4", in the words of the plan's keys.
  [[nodiscard]] std::string degrees_in_words(std::initializer_list<Axis> axes) const {
    std::string text;
    for (const Axis axis : axes) {
      const AxisRow& row = kAxes[static_cast<std::size_t>(axis)];
      if (!row.always_named && plan_.degree(axis) == 1) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : " x ", row.key, plan_.degree(axis));
    }
    return text;
  }

  /// All that is not given to the other axes is data parallel.
  bool complete_data_parallel() {
    const std::int64_t gpus = cluster_.gpus();
    Int128 others = 1;
    for (std::size_t axis = 0; axis < kAxisCount; ++axis)
      others *= static_cast<Axis>(axis) == Axis::data || kAxes[axis].folded
                    ? 1
                    : plan_.degree(static_cast<Axis>(axis));
    if (gpus % others != 0) {
      add({"tensor_parallel", "context_parallel", "pipeline_parallel"},
          fmt::format("found {} = {}, allowed a divisor of the cluster's {} GPUs",
                      degrees_in_words({Axis::tensor, Axis::context, Axis::pipeline}), others, gpus));
      return false;
    }
    const auto fits = static_cast<std::int64_t>(gpus / others);
    if (!has("data_parallel")) plan_.data_parallel = fits;
    if (plan_.data_parallel == fits) return true;
    add({"data_parallel"},
        fmt::format("found {} = {}, allowed the cluster's {} GPUs (data_parallel {})",
                    degrees_in_words({Axis::tensor, Axis::context, Axis::pipeline, Axis::data}),
                    others * plan_.data_parallel, gpus, fits));
    return false;
  }

  bool complete_batch() {
    return orrery::complete_batch(plan_, given_,
                                  [this](std::initializer_list<std::string_view> keys, std::string message) {
                                    add(keys, std::move(message));
                                  });
  }

  /// Reports keys that have no effect under the schedule, which is a mistake.
  void check_schedule() {
    refuse_idle("micro_batch_group_size", interleaves() && plan_.virtual_stages > 1);
    refuse_idle("warmup_micro_batches", schedule_is_of(menus_.warm_up_schedules));
    if (menus_.check_schedule == nullptr) return;
    for_each_batch_class(experiment_, [&](const Experiment& of_class) {
      menus_.check_schedule(of_class, [this](std::initializer_list<std::string_view> keys,
                                             std::string message) { add(keys, std::move(message)); });
    });
  }

  void refuse_idle(std::string_view key, bool works) {
    if (works || !has(key)) return;
    findings_.add_idle(
        "/plan/" + std::string(key),
        fmt::format("found a value that does nothing with the schedule \"{}\" and virtual_stages {}",
                    plan_.pipeline_schedule, plan_.virtual_stages));
  }

  Experiment& experiment_;
  const Model& model_;
  const Cluster& cluster_;
  Plan& plan_;
  const DataParallelSync& sync_;
  const Json& given_;
  const Menus& menus_;
  Findings& findings_;
};

}  // namespace

void complete_plan(Experiment& experiment, const Json& plan, const Menus& menus, Findings& findings) {
  PlanCompletion(experiment, plan, menus, findings).run();
}

}  // namespace orrery
