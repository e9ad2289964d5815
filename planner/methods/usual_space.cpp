#include "planner/methods/usual_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "planner/space/base_document.hpp"

namespace orrery {
namespace {

/// Sequences of that length are worth sharing.
constexpr std::int64_t kLongSequence = 16'384;

/// Chunks of a pipeline rank that frameworks are run with.
constexpr std::array<std::int64_t, 10> kChunks{1, 2, 3, 4, 5, 6, 7, 8, 10, 12};

SpaceKey automatic(std::string key) { return {std::move(key), {}, true}; }

using Values = std::vector<std::string>;

/// Adds keys one after the other, first those that others depend on, so that conditions remove points early.
class UsualSpace {
 public:
  UsualSpace(const Experiment& experiment, const Json& base)
      : experiment_(experiment), model_(experiment.model), given_(base.value("plan", Json::object())) {}

  SpaceDescription described() {
    vary("data_parallel", {"null"});  // the rest of the GPUs
    if (experiment_.inference) {
      add_degrees();
      add_serving();
    } else if (model_.kind == ModelKind::convnet) {
      vary("micro_batch_size", {"1", "2", "4", "8"});
    } else {
      add_degrees();
      vary("micro_batch_size", model_.experts > 0 ? Values{"1", "2", "4"} : Values{"1", "2", "4", "8"});
      if (model_.kind != ModelKind::mlp) add_training();
      if (model_.attends()) set("global_batch_size", std::to_string(usual_batch()));
    }
    return std::move(space_);
  }

 private:
  void vary(const std::string& key, std::vector<std::string> values) {
    space_.keys.push_back({"plan." + key, std::move(values)});
  }
  /// Adds a value that every plan of the space has unless the user varies its key.
  void set(const std::string& key, const std::string& value) {
    if (!given_.contains(key)) vary(key, {value});
  }
  void require(const std::string& condition) { space_.conditions.emplace_back(condition); }

  void add_degrees() {
    vary("tensor_parallel", tensor_degrees());
    if (model_.kind == ModelKind::mlp) return;
    if (model_.seq_length >= kLongSequence) space_.keys.push_back(automatic("plan.context_parallel"));
    space_.keys.push_back(automatic("plan.pipeline_parallel"));
    const std::string contexts = model_.seq_length >= kLongSequence ? " * plan.context_parallel" : "";
    require(fmt::format("plan.tensor_parallel * plan.pipeline_parallel{} <= {}", contexts,
                        experiment_.cluster.gpus()));
    if (model_.experts == 0) return;
    space_.keys.push_back(automatic("plan.expert_parallel"));
    vary("expert_tensor_parallel", tensor_degrees());
    require("plan.expert_tensor_parallel == 1 or plan.expert_tensor_parallel == plan.tensor_parallel");
  }

  /// Steps of plans compare only with one batch: where none is given, one of 4 Mi tokens, and of 1 Ki a GPU
  /// at least, as large models are trained with; in sequences a power of two, times the odd part of the
  /// number of GPUs.
  [[nodiscard]] std::int64_t usual_batch() const {
    const std::int64_t tokens =
        std::max<std::int64_t>(std::int64_t{4} << 20, experiment_.cluster.gpus() * 1024);
    const auto sequences = static_cast<std::uint64_t>(std::max<std::int64_t>(tokens / model_.seq_length, 1));
    const auto gpus = static_cast<std::uint64_t>(experiment_.cluster.gpus());
    const std::uint64_t odd = gpus >> std::countr_zero(gpus);  // replicas may be any part of the GPUs
    return static_cast<std::int64_t>(odd * std::bit_floor(std::max<std::uint64_t>(sequences / odd, 1)));
  }

  /// Returns the tensor degrees within one NVLink domain; beyond it tensor ranks communicate over NICs in
  /// every layer.
  [[nodiscard]] std::vector<std::string> tensor_degrees() const {
    const std::int64_t most = std::max<std::int64_t>(experiment_.cluster.gpus_per_domain(), 1);
    std::vector<std::string> degrees;
    for (std::int64_t degree = 1; degree <= most; ++degree)
      if (experiment_.cluster.gpus() % degree == 0 && model_.heads % degree == 0)
        degrees.push_back(std::to_string(degree));
    return degrees;
  }

  void add_training() {
    add_schedules();
    vary("recompute", recomputation());
    if (model_.experts > 0) {
      vary("zero_stage", {"1", "3"});
      set("sequence_parallel", "true");  // frameworks ask for it beside experts
      vary("dispatcher", {"all-to-all", "deduplicated"});
      vary("overlap_expert_parallel", {"false", "true"});
      if (model_.shared_experts > 0) set("overlap_shared_experts", "true");
    } else {
      vary("zero_stage", {"0", "1", "2", "3"});
      vary("sequence_parallel", {"false", "true"});
      vary("rank_order", {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"});
      require("plan.rank_order == \"tp-cp-ep-dp-pp\" or plan.pipeline_parallel > 1");
    }
    set("overlap_gradient_reduce", "true");
    set("overlap_parameter_gather", "true");
  }

  /// Adds 1F1B, with chunks interleaved, and schedules that split backward passes if the stack or experts are
  /// known for it.
  void add_schedules() {
    std::vector<std::string> schedules{"interleaved-1f1b"};
    if (experiment_.stack.starts_with("torchtitan")) schedules.emplace_back("zb-v");
    if (experiment_.stack.starts_with("megatron-zb")) schedules.insert(schedules.end(), {"zb-h1", "zb-v"});
    if (model_.experts > 0) schedules.emplace_back("dualpipe");
    vary("pipeline_schedule", std::move(schedules));
    std::vector<std::string> chunks;
    for (const std::int64_t number : kChunks)
      if (number <= model_.all_layers()) chunks.push_back(std::to_string(number));
    vary("virtual_stages", std::move(chunks));
    require(fmt::format("plan.pipeline_parallel * plan.virtual_stages <= {}", model_.all_layers() + 2));
    require(
        "plan.pipeline_parallel > 1 or plan.virtual_stages == 1 and plan.pipeline_schedule == "
        "\"interleaved-1f1b\"");
    require(
        "plan.pipeline_schedule == \"interleaved-1f1b\" or plan.virtual_stages == 2 and "
        "plan.pipeline_schedule == "
        "\"zb-v\" or plan.virtual_stages == 1 and plan.pipeline_schedule != \"zb-v\"");
  }

  /// Returns the choices of recomputation: nothing, modules that are cheap to recompute, and whole layers.
  [[nodiscard]] std::vector<std::string> recomputation() const {
    std::vector<std::string> kinds{"none", "full"};
    if (model_.attention != Attention::flash) kinds.insert(kinds.begin() + 1, "selective");
    kinds.insert(kinds.begin() + 1, model_.latent()
                                        ? R"({"modules": ["norm", "latent-projection", "activation"]})"
                                        : R"({"modules": ["norm", "activation"]})");
    return kinds;
  }

  void add_serving() {
    if (experiment_.inference->batch_size == 0) space_.keys.push_back(automatic("inference.batch_size"));
    if (experiment_.inference->batching == Batching::continuous)
      space_.keys.push_back(automatic("inference.disaggregated"));
  }

  const Experiment& experiment_;
  const Model& model_;
  Json given_;  ///< the plan of the experiment
  SpaceDescription space_;
};

}  // namespace

std::string_view usual_objective(const Space& space) {
  const auto of_serving = [](const SpaceKey& key) { return key.key.starts_with("inference"); };
  const bool serves =
      base_document(space.base()).contains("inference") || std::ranges::any_of(space.keys(), of_serving);
  if (!serves) return "step_time_s";
  const bool arrive = !value_at(base_document(space.base()), "inference.requests_per_s").is_null();
  return arrive ? "end_to_end_s" : "tokens_per_s_per_gpu";
}

SpaceDescription usual_space(const BaseExperiment& base, const Catalog& catalog, const Menus& menus) {
  const Experiment experiment = experiment_of_any_plan(base, catalog, menus);
  UsualSpace usual(experiment, base_document(base));
  return usual.described();
}

void add_own_limits(const Space& space, SearchRequest& request) {
  if (request.objective.figures().capacity) return;
  const Json experiment = base_document(space.base());
  const auto inference = experiment.find("inference");
  if (inference == experiment.end() || !inference->is_object() || !inference->contains("slo")) return;
  for (const auto& [key, most_s] : inference->at("slo").items())
    request.limits.emplace_back(fmt::format("{}={}", key, most_s.get<double>()));
}

std::string not_varied(const Space& space) {
  constexpr std::array<std::string_view, 5> kOthers{"plan.precision", "plan.optimizer", "plan.cuda_graphs",
                                                    "plan.zero_group_size", "plan.offload"};
  const bool serves = usual_objective(space) != "step_time_s";
  std::string names;
  for (const std::string_view key : std::span(kOthers).first(serves ? 1 : kOthers.size())) {
    if (std::ranges::find(space.keys(), key, &SpaceKey::key) != space.keys().end()) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", key.substr(key.find('.') + 1));
  }
  std::string note;
  const auto batch = std::ranges::find(space.keys(), "plan.global_batch_size", &SpaceKey::key);
  if (batch != space.keys().end() && batch->values.size() == 1)
    note = fmt::format("The batch is assumed, as none is given: {} sequences (plan.global_batch_size). ",
                       batch->values.front());
  if (names.empty()) return note;
  return note + fmt::format("Not varied: {} and others (--also KEY varies one more).", names);
}

}  // namespace orrery
