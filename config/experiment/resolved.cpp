#include "config/experiment/resolved.hpp"

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/schema/fields.hpp"

namespace orrery {
namespace {

// Keeps keys in the order of the tables.
using Tree = nlohmann::ordered_json;

bool lies_within(double value, const FieldInfo& field) {
  return value >= field.minimum && value <= field.maximum;
}

/// The name whose choice leaves `object` as it is.
template <class T>
std::optional<Tree> chosen_name(const T& object, void (*set)(T&, std::size_t), const FieldInfo& field,
                                const Menus& menus) {
  if constexpr (std::equality_comparable<T>) {
    const std::vector<std::string_view> names = field.choices.names(menus);
    for (std::size_t i = 0; i < names.size(); ++i) {
      T other = object;
      set(other, i);
      if (other == object) return names[i];
    }
  }
  return std::nullopt;
}

/// The value as a document has it; nothing where the key is off: an empty text or list, a number out of
/// range.
template <class T>
std::optional<Tree> value_of(const T& object, const Field<T>& field, const Menus& menus) {
  return std::visit(
      [&](auto member) -> std::optional<Tree> {
        using M = decltype(member);
        if constexpr (std::is_same_v<M, void (*)(T&, std::size_t)>) {
          return chosen_name(object, member, field, menus);
        } else if constexpr (std::is_member_object_pointer_v<M>) {
          const auto& value = object.*member;
          using Value = std::remove_cvref_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, bool>) {
            return value;
          } else if constexpr (std::is_arithmetic_v<Value>) {
            return lies_within(static_cast<double>(value), field) ? std::optional<Tree>(value) : std::nullopt;
          } else {
            return value.empty() ? std::nullopt : std::optional<Tree>(value);
          }
        } else {
          return std::nullopt;
        }
      },
      field.target);
}

class ResolvedTree {
 public:
  /// @param software  keys of it that the document gave
  ResolvedTree(const Experiment& experiment, const Json& cluster, const Json& software, const Menus& menus)
      : e_(experiment), given_cluster_(cluster), given_software_(software), menus_(menus) {}

  Tree tree() const {
    Tree all;
    if (!e_.name.empty()) all["name"] = e_.name;
    all["model"] = model();
    all["cluster"] = cluster();
    all.update(run_keys());
    if (e_.run) all["run"] = run(*e_.run);
    if (e_.accuracy.wanted()) all["accuracy"] = part(e_.accuracy, accuracy_fields());
    if (!e_.inference) all["problem"] = problem();
    if (!e_.stack.empty()) all["stack"] = e_.stack;
    all["software"] = software();
    return all;
  }

  /// Returns the keys that can be resolved without a document.
  Tree keys() const {
    Tree all;
    all["model"] = model();
    all.update(run_keys());
    return all;
  }

 private:
  Tree run_keys() const {
    Tree all;
    all["plan"] = plan();
    if (!e_.inference) all["data_parallel_sync"] = sync();
    all["simulation"] = simulation();
    if (e_.inference) {
      all["inference"] = inference(*e_.inference);
    } else if (Tree training = part(e_.training, training_fields()); !training.empty()) {
      all["training"] = training;
    }
    return all;
  }

  Tree problem() const {
    Tree out = part(e_.problem, problem_fields());
    for (const WorkerChange& change : e_.problem.changes)
      out["changes"].push_back(part(change, worker_change_fields()));
    return out;
  }

  Tree simulation() const {
    Tree out = part(e_.simulation, simulation_fields());
    if (!e_.inference) return out;
    for (const std::string_view key : training_simulation_keys()) out.erase(std::string(key));
    return out;
  }

  /// Leaves out constants of training where requests are served, and of serving elsewhere, unless they were
  /// given.
  Tree software() const {
    Tree out = part(e_.software, software_fields());
    for (const std::string_view key : e_.inference ? training_software_keys() : serving_software_keys())
      if (!given_software_.contains(key)) out.erase(std::string(key));
    return out;
  }

  template <class T>
  Tree part(const T& object, const std::vector<Field<T>>& fields, std::string_view kind = "") const {
    Tree out = Tree::object();
    for (const Field<T>& field : fields) {
      if (field.name == "sharding") continue;  // stands here as its zero_stage
      if (!field.belongs_to(kind)) continue;
      if (std::optional<Tree> value = value_of(object, field, menus_)) out[std::string(field.name)] = *value;
    }
    return out;
  }

  [[nodiscard]] std::string_view kind() const {
    return kModelKindNames[static_cast<std::size_t>(e_.model.kind)];
  }

  Tree model() const {
    Tree out = part(e_.model, model_fields(), kind());
    if (e_.model.kind == ModelKind::convnet) out.erase("hidden");
    if (e_.model.latent()) {
      out["latent_attention"] = part(e_.model.latent_attention, latent_attention_fields());
      out.erase("head_dim");
    }
    if (e_.model.indexer.top_k > 0) out["indexer"] = part(e_.model.indexer, indexer_fields());
    if (e_.model.mamba2.heads > 0) out["mamba2"] = part(e_.model.mamba2, mamba2_fields());
    if (e_.model.gated_delta_net.key_heads > 0)
      out["gated_delta_net"] = part(e_.model.gated_delta_net, gated_delta_net_fields());
    for (const LayerRun& run : e_.model.layer_pattern) {
      Tree& entry = out["layer_pattern"].emplace_back(part(run, layer_run_fields()));
      if (run.mixer != TokenMixer::attention) entry.erase("attention");
    }
    if (e_.model.lora_rank == 0) return out;
    for (std::size_t i = 0; i < kLinearNames.size(); ++i)
      if (e_.model.lora_targets[i]) out["lora_targets"].push_back(kLinearNames[i]);
    return out;
  }

  Tree cluster() const {
    Tree out = Tree::object();
    if (!e_.cluster.name.empty()) out["name"] = e_.cluster.name;
    out["gpu"] = part(e_.cluster.gpu, gpu_fields());
    for (std::size_t i = 0; i < kUnitCount; ++i) {
      const double peak = e_.cluster.gpu.peak_tflops[i];
      if (peak > 0) out["gpu"]["peak_tflops"][std::string(kPrecisionNames[i])] = peak;
    }
    out["gpus_per_node"] = e_.cluster.gpus_per_node;
    out["nodes"] = e_.cluster.nodes;
    if (e_.cluster.graph) {
      out["graph"] = Tree::parse(given_cluster_.at("graph").dump());
    } else {
      wiring(out, "node", part(e_.cluster.node, node_fields()));
      wiring(out, "fabric", part(e_.cluster.fabric, fabric_fields()));
    }
    if (Tree storage = part(e_.cluster.storage, storage_fields()); !storage.empty())
      out["storage"] = std::move(storage);
    for (const char* list : {"groups", "regions", "overrides"}) {
      const auto given = given_cluster_.find(list);
      if (given != given_cluster_.end()) out[list] = Tree::parse(given->dump());
    }
    return out;
  }

  /// The part that the cluster has: a single GPU or node may lack one.
  void wiring(Tree& cluster, const char* key, Tree keys) const {
    if (given_cluster_.contains(key)) cluster[key] = std::move(keys);
  }

  Tree plan() const {
    Tree out = part(e_.plan, plan_fields(), kind());
    if (e_.plan.balance_stages) out["stage_layers"] = "auto";
    if (e_.plan.choose_zero_group) out["zero_group_size"] = "auto";
    if (e_.plan.balance_replica_batches) out["replica_batch_sizes"] = "auto";
    for (const MatrixPartition cut : e_.plan.tensor_partition)
      out["tensor_partition"].push_back(cut == MatrixPartition::column ? "column" : "row");
    out["recompute"] = recompute();
    if (Tree wire = part(e_.plan.wire_precision, wire_precision_fields()); !wire.empty())
      out["wire_precision"] = std::move(wire);
    for (std::size_t i = 0; i < kCollectiveCount; ++i)
      out["collectives"][std::string(kCollectiveNames[i])] = e_.plan.collectives[i];
    if (!e_.inference) return out;
    for (const std::string_view key : training_plan_keys()) out.erase(std::string(key));
    return out;
  }

  /// A name where that says all of it.
  Tree recompute() const {
    const Plan& plan = e_.plan;
    Tree out = part(plan, recompute_fields());
    for (const std::string_view name : names_of(plan.recompute_modules)) out["modules"].push_back(name);
    const bool plain = plan.recompute_layers == 0 && plan.recompute_method == RecomputeMethod::uniform &&
                       plan.recompute_stage_layers.empty();
    return plan.recompute != Recompute::modules && plain ? *value_of(plan, recompute_field(), menus_) : out;
  }

  /// A number where that says all of it.
  Tree lengths(const TokenLengths& lengths) const {
    if (lengths.kind == LengthKind::fixed) return lengths.mean;
    Tree out = part(lengths, token_lengths_fields());
    if (lengths.kind == LengthKind::uniform) {  // which follow from its limits
      out.erase("mean");
      out.erase("deviation");
    }
    return out;
  }

  Tree inference(const Inference& inference) const {
    Tree out = part(inference, inference_fields());
    if (inference.trace.has_value()) {
      out["requests"] = inference.trace.file();
    } else {
      out["prompt_tokens"] = lengths(inference.prompt);
      out["output_tokens"] = lengths(inference.output);
      if (inference.requests > 0) out["requests"] = inference.requests;
    }
    if (inference.speculation.tokens > 0)
      out["speculative"] = part(inference.speculation, speculation_fields());
    if (inference.slo != ServiceLevel{}) out["slo"] = part(inference.slo, service_level_fields());
    if (inference.is_disaggregated())
      out["disaggregated"] = part(inference.disaggregated, disaggregation_fields());
    return out;
  }

  Tree run(const LongRun& run) const {
    Tree out = part(run, long_run_fields());
    const auto add = [&](const char* key, bool given, Tree keys) {
      if (given) out[key] = std::move(keys);
    };
    add("warmup", run.warmup.steps > 0, part(run.warmup, warm_up_fields()));
    add("batch_ramp", run.batch_ramp.start > 0, part(run.batch_ramp, batch_ramp_fields()));
    add("evaluation", run.evaluation.interval_steps > 0, evaluation(run.evaluation));
    add("maintenance", run.maintenance.interval_hours > 0, part(run.maintenance, maintenance_fields()));
    if (run.checkpoint) out["checkpoint"] = checkpoint(*run.checkpoint);
    add("failures", run.failures.any(), failures(run.failures));
    out["recovery"] = recovery(run.recovery);
    return out;
  }

  Tree evaluation(const Evaluation& evaluation) const {
    Tree out = part(evaluation, evaluation_fields());
    if (evaluation.samples > 0) out.erase("duration_s");
    return out;
  }

  Tree checkpoint(const CheckpointPolicy& policy) const {
    Tree out = part(policy, checkpoint_fields());
    if (policy.mode == CheckpointMode::multi_level) return out;
    out.erase("persistent_target");
    out.erase("persist_every");
    return out;
  }

  /// Without the keys that mean nothing under its policy, which are refused.
  Tree recovery(const Recovery& recovery) const {
    Tree out = part(recovery, recovery_fields());
    if (recovery.policy == RecoveryPolicy::restart)
      for (const char* key : {"hot_spares", "cold_spares", "cold_start_s"}) out.erase(key);
    if (recovery.policy < RecoveryPolicy::per_replica) out.erase("reconfigure_s");
    if (recovery.policy != RecoveryPolicy::shrink) out.erase("keep_batch");
    return out;
  }

  Tree failures(const Failures& failures) const {
    Tree out = part(failures, failures_fields());
    out.erase("name");
    for (std::size_t c = 0; c < kFailureComponentCount; ++c) {
      const ComponentFailures& of = failures.of[c];
      if (of.mtbf_hours == 0 && of.gaps_hours.empty()) continue;
      Tree& component = out["components"][std::string(kFailureComponentNames[c])] =
          part(of, component_failures_fields());
      if (of.law != FailureLaw::weibull)
        for (const char* key : {"shape", "age_hours"}) component.erase(key);
      if (of.law == FailureLaw::empirical) component.erase("mtbf_hours");
      if (!of.gaps_hours.empty()) component["gaps_hours"] = of.gaps_hours;
    }
    if (failures.nodes_per_switch > 0) out["correlated"]["nodes_per_switch"] = failures.nodes_per_switch;
    const auto fault = [&](const char* key, const HiddenFault& hidden) {
      if (hidden.mtbf_hours > 0) out[key] = part(hidden, hidden_fault_fields());
    };
    fault("slow_gpu", failures.slow_gpu);
    fault("slow_link", failures.slow_link);
    fault("silent", failures.silent);
    if (const auto silent = out.find("silent"); silent != out.end()) silent->erase("speed");
    return out;
  }

  Tree sync() const {
    const DataParallelSync& s = e_.data_parallel_sync;
    Tree out = part(s, sync_fields());
    if (!s.neighbours.empty()) out["topology"] = s.neighbours;
    if (s.neighbours.empty() && !s.topology.empty()) out["topology"] = s.topology;
    if (!s.places.empty()) out["placement"] = s.places;
    if (s.places.empty())
      if (const auto placement = value_of(s, placement_field(), menus_)) out["placement"] = *placement;
    out["compression"] = part(s.compression, compression_fields());
    return out;
  }

  const Experiment& e_;
  const Json& given_cluster_;
  const Json& given_software_;
  const Menus& menus_;
};

/// Writes a tree with the origin of each value behind it.
class ResolvedText {
 public:
  ResolvedText(const Origins& origins, const std::string& stack_reason)
      : origins_(origins), stack_reason_(stack_reason) {}

  std::string text(const Tree& tree) {
    want(tree, "");
    find_positions(origins_.document, table_);
    write(tree, "", 0, "");
    return std::move(out_);
  }

 private:
  static bool opens(const Tree& value) { return value.is_object() && !value.empty(); }

  void want(const Tree& value, const std::string& pointer) {
    table_.want(pointer);
    if (!opens(value)) return;
    for (const auto& [key, item] : value.items()) want(item, pointer + "/" + pointer_token(key));
  }

  void write(const Tree& value, const std::string& pointer, std::size_t depth, const char* comma) {
    if (!opens(value)) {
      out_ += value.dump(-1, ' ', false, Tree::error_handler_t::replace) + comma;
      const std::string origin = pointer == "/stack" && !stack_reason_.empty()
                                     ? stack_reason_
                                     : origin_of(pointer, table_, origins_);
      if (!origin.empty()) out_ += "  // " + one_line(origin);
      out_ += "\n";
      return;
    }
    out_ += "{\n";
    std::size_t left = value.size();
    for (const auto& [key, item] : value.items()) {
      out_.append(2 * depth + 2, ' ').append(Tree(key).dump()).append(": ");
      write(item, pointer + "/" + pointer_token(key), depth + 1, --left > 0 ? "," : "");
    }
    out_.append(2 * depth, ' ').append("}").append(comma).append("\n");
  }

  const Origins& origins_;
  const std::string& stack_reason_;
  PositionTable table_;
  std::string out_;
};

}  // namespace

std::string resolved_document(const Experiment& experiment, const Json& cluster, const Origins& origins,
                              const Menus& menus) {
  const auto found = origins.given.find("software");
  const Json software = found == origins.given.end() ? Json::object() : *found;
  return ResolvedText(origins, experiment.stack_reason)
      .text(ResolvedTree(experiment, cluster, software, menus).tree());
}

nlohmann::ordered_json resolved_keys(const Experiment& experiment, const Menus& menus) {
  const Json none = Json::object();
  return ResolvedTree(experiment, none, none, menus).keys();
}

}  // namespace orrery
