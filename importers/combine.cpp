#include "importers/combine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "config/catalog/spelling.hpp"
#include "config/text/wording.hpp"
#include "importers/complete_model.hpp"
#include "importers/machines/complete_machine.hpp"

namespace orrery::importers {
namespace {

constexpr std::int64_t kUsualSequence = 4096;
constexpr std::int64_t kUsualGpusPerNode = 8;
constexpr const char* kUsualCluster = "dgx-h100";
constexpr const char* kUsualModel = "llama3.1-8b";
constexpr const char* kClusterOfNarrow =
    "dgx-b200";  ///< it has units for values of 4 bits and scales of 32 values

/// Returns a positive integer fact. Nothing where it is missing or anything else, which the reader of
/// experiments refuses later.
std::optional<std::int64_t> count_of(const Draft& draft, std::string_view ours) {
  const Json& value = draft.value(ours);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 1) return std::nullopt;
  return value.get<std::int64_t>();
}

std::int64_t count_or(const Draft& draft, std::string_view ours, std::int64_t otherwise) {
  return count_of(draft, ours).value_or(otherwise);
}

/// GPUs of one replica of the model.
std::int64_t gpus_of_replica(const Draft& draft) {
  return count_or(draft, "plan.tensor_parallel", 1) * count_or(draft, "plan.pipeline_parallel", 1) *
         count_or(draft, "plan.context_parallel", 1);
}

/// GPUs of the job: as launched, or nodes times those of a node.
std::optional<std::int64_t> gpus_launched(const Draft& draft) {
  if (const auto gpus = count_of(draft, launch::kGpus)) return gpus;
  const auto nodes = count_of(draft, launch::kNodes);
  const auto of_node = count_of(draft, launch::kGpusPerNode);
  if (nodes && of_node) return *nodes * *of_node;
  return std::nullopt;
}

/// The least GPUs that the plan can run on, where nothing says how many there are.
std::int64_t gpus_of_plan(const Draft& draft) {
  const std::int64_t replica = gpus_of_replica(draft);
  const std::int64_t experts =
      count_or(draft, "plan.expert_parallel", 1) *
      count_or(draft, "plan.expert_tensor_parallel", count_or(draft, "plan.tensor_parallel", 1));
  const std::int64_t shared_by_experts = experts * count_or(draft, "plan.pipeline_parallel", 1);
  return replica *
         std::max(count_or(draft, "plan.data_parallel", 1), (shared_by_experts + replica - 1) / replica);
}

/// A name without the version of the checkpoint: Mixtral-8x7B-Instruct of Mixtral-8x7B-Instruct-v0.1.
std::string_view without_version(std::string_view name) {
  const std::size_t version = name.rfind("-v");
  const bool is_version = version != std::string_view::npos &&
                          name.find_first_not_of("0123456789.", version + 2) == std::string_view::npos;
  return is_version ? name.substr(0, version) : name;
}

void name_model(Draft& draft, const Catalog& catalog) {
  const Json& name = draft.value(launch::kModel);
  if (!name.is_string() || (draft.has("model.layers") && draft.has("model.hidden"))) return;
  const std::vector<std::string> names = catalog.names(CatalogKind::model);
  std::string entry(spelled_otherwise(name.get<std::string>(), views(names)));
  if (entry.empty())
    entry = spelled_otherwise(without_version(name.get_ref<const std::string&>()), views(names));
  if (!entry.empty())
    return draft.default_to("model.base", entry, fmt::format("the catalog has {}", described(name)));
  if (draft.has("model.layers") || draft.has("model.base")) return;
  draft.lack(
      "model",
      fmt::format("no file has the sizes of {}: give its config.json too, or --set model=NAME with one of "
                  "orrery list models",
                  described(name)));
}

/// A plan needs a model, which nothing here would guess.
void lack_model(Draft& draft) {
  const bool sizes = draft.has("model.layers") || draft.has("model.hidden") ||
                     draft.has("model.parameters") || draft.has("model.widths") || draft.has("model.base") ||
                     draft.has(launch::kModel);
  if (!sizes)
    draft.lack("model",
               "no file describes the model: give its file too, or --set model=NAME with one of "
               "orrery list models");
}

/// Frameworks pad the vocabulary so that tensor ranks share it evenly.
void pad_vocabulary(Draft& draft) {
  const auto multiple = count_of(draft, launch::kVocabularyMultiple);
  const auto size = count_of(draft, "model.vocab");
  if (!multiple || !size || *size % *multiple == 0) return;
  if (draft.origin("model.vocab")->place.file == "--set") return;
  const std::int64_t padded = (*size + *multiple - 1) / *multiple * *multiple;
  draft.forget("model.vocab");
  draft.default_to("model.vocab", padded,
                   fmt::format("{} tokens, padded to a multiple of {}", *size, *multiple));
}

void choose_sequence(Draft& draft) {
  const Json& kind = draft.value("model.kind");
  if (draft.has("model.seq_length") || draft.has("model.base") || kind == "mlp" || kind == "convnet") return;
  if (const Json& longest = draft.value(launch::kSample); longest.is_number_integer())
    return draft.default_to("model.seq_length", longest, "the longest sample");
  const std::int64_t context = count_or(draft, launch::kContext, kUsualSequence);
  if (serves(draft))
    return draft.default_to("model.seq_length", context, "the longest that the model was made for");
  draft.default_to("model.seq_length", std::min(context, kUsualSequence),
                   "no file gives the length of samples; --set model.seq_length=N changes it");
}

/// A machine alone is an experiment too, as a model alone is.
void choose_model(Draft& draft) {
  const bool other = std::ranges::any_of(draft.facts(), [](const auto& fact) {
    return fact.first.starts_with("model") || fact.first.starts_with("plan") || fact.first == launch::kModel;
  });
  if (!other && machines::describes_machine(draft))
    draft.default_to("model.base", kUsualModel, "no file describes a model; --set model=NAME changes it");
}

void choose_cluster(Draft& draft) {
  if (draft.has("cluster.base") || draft.has("cluster.gpu") || machines::describes_machine(draft)) return;
  const Json& precision = draft.value("plan.precision");
  const bool narrow = precision == "fp4" || precision == "mxfp8";
  draft.default_to("cluster.base", narrow ? kClusterOfNarrow : kUsualCluster,
                   "no file describes the machine; --set cluster=NAME takes one of orrery list clusters");
}

/// A job of more GPUs than the machine has is none of this machine, unless the nodes were but a default.
void refuse_larger_job(Draft& draft, std::int64_t gpus, std::int64_t of_machine) {
  if (gpus <= of_machine || draft.settled("cluster.nodes")) return;
  if (!draft.stated("cluster.nodes"))
    return draft.drop("cluster.nodes", fmt::format("the job runs on {} GPUs", gpus));
  const ImportItem nodes = *draft.origin("cluster.nodes");
  draft.contradict(
      {nodes.key, draft.value("cluster.nodes"), nodes.place},
      fmt::format("the job runs on {} GPUs, and the machine has {}; --set cluster.nodes=N decides", gpus,
                  of_machine));
}

/// A job that needs fewer GPUs than the machine has runs on a part of it.
void take_part_of_machine(Draft& draft) {
  const auto gpus = gpus_launched(draft);
  const auto of_node = count_of(draft, "cluster.gpus_per_node");
  const auto nodes = count_of(draft, "cluster.nodes");
  if (!gpus || !of_node) return;
  if (*gpus < *of_node && !draft.settled("cluster.gpus_per_node"))
    draft.drop("cluster.gpus_per_node", fmt::format("the job runs on {} of them", *gpus));
  const auto started = count_of(draft, launch::kGpusPerNode);
  const bool fewer = started && *started < *of_node && *started < *gpus;
  if (fewer && !draft.settled("cluster.gpus_per_node"))
    draft.drop("cluster.gpus_per_node", fmt::format("the job has {} processes a node", *started));
  const std::int64_t used = fewer ? *started : *of_node;
  if (nodes && *nodes * used > *gpus && !draft.settled("cluster.nodes"))
    draft.drop("cluster.nodes", fmt::format("the job runs on {} GPUs of them", *gpus));
  else if (nodes)
    refuse_larger_job(draft, *gpus, *nodes * used);
}

/// GPUs of a node: as told, as the cluster of the catalog has them, or as usual.
std::int64_t gpus_of_node(const Draft& draft, const Catalog& catalog) {
  const Json& base = draft.value("cluster.base");
  const std::string text =
      base.is_string() ? catalog.text(CatalogKind::cluster, base.get<std::string>()) : "";
  const Json entry = Json::parse(text, nullptr, false, true);
  const bool known =
      entry.is_object() && entry.contains("gpus_per_node") && entry["gpus_per_node"].is_number_integer();
  const std::int64_t of_base = known ? entry["gpus_per_node"].get<std::int64_t>() : kUsualGpusPerNode;
  return count_or(draft, "cluster.gpus_per_node", count_or(draft, launch::kGpusPerNode, of_base));
}

/// Nodes and GPUs of a node from the GPUs of the job.
void count_nodes(Draft& draft, const Catalog& catalog) {
  take_part_of_machine(draft);
  if (draft.has("cluster.nodes")) return;
  const bool named = draft.value("cluster.base").is_string();
  const auto launched = gpus_launched(draft);
  const bool degrees = draft.has("plan.tensor_parallel") || draft.has("plan.pipeline_parallel");
  if (!launched && !degrees && gpus_of_plan(draft) == 1)
    return draft.default_to("cluster.nodes", 1,
                            "no file says how many GPUs run it: one node; --set cluster.nodes=N changes it");
  const std::int64_t gpus = launched.value_or(gpus_of_plan(draft));
  const std::int64_t of_node = gpus_of_node(draft, catalog);
  const std::string note = launched ? fmt::format("{} GPUs in all", gpus)
                                    : fmt::format(
                                          "no file says how many GPUs run it: {} are the least that the plan "
                                          "takes; --set launch.gpus=N changes it",
                                          gpus);
  if (gpus < of_node || (draft.has(launch::kGpusPerNode) && !named))
    draft.default_to("cluster.gpus_per_node", std::min(gpus, of_node), note);
  draft.default_to("cluster.nodes", std::max<std::int64_t>(1, (gpus + of_node - 1) / of_node), note);
}

/// Replicas of the job.
std::int64_t replicas_of(const Draft& draft, const Catalog& catalog) {
  const std::int64_t all = count_or(draft, "cluster.nodes", 1) * gpus_of_node(draft, catalog);
  const std::int64_t gpus = gpus_launched(draft).value_or(all);
  return count_or(draft, "plan.data_parallel", std::max<std::int64_t>(1, gpus / gpus_of_replica(draft)));
}

/// ZeRO shards over the replicas of one copy.
void divide_copies(Draft& draft, const Catalog& catalog) {
  const auto copies = count_of(draft, launch::kShardedCopies);
  if (!copies || *copies < 2) return;
  const std::int64_t replicas = replicas_of(draft, catalog);
  draft.default_to("plan.zero_group_size", std::max<std::int64_t>(1, replicas / *copies),
                   fmt::format("{} replicas / {} copies", replicas, *copies));
}

/// The global batch of accumulation steps: micro-batch times steps times replicas.
void complete_batch(Draft& draft, const Catalog& catalog) {
  const auto steps = count_of(draft, launch::kAccumulation);
  if (!steps) return;
  const std::int64_t micro = count_or(draft, "plan.micro_batch_size", 1);
  const std::int64_t replicas = replicas_of(draft, catalog);
  draft.default_to(
      "plan.global_batch_size", micro * *steps * replicas,
      fmt::format("micro-batch {} x {} accumulation steps x {} replicas", micro, *steps, replicas));
}

}  // namespace

void combine(Draft& draft, const Catalog& catalog) {
  name_model(draft, catalog);
  choose_model(draft);
  lack_model(draft);
  pad_vocabulary(draft);
  choose_sequence(draft);
  drop_idle_window(draft);
  choose_cluster(draft);
  machines::choose_gpus_of_node(draft, catalog);
  count_nodes(draft, catalog);
  machines::complete_machine(draft, catalog);
  complete_batch(draft, catalog);
  if (serves(draft)) complete_serving(draft);
  divide_copies(draft, catalog);
}

}  // namespace orrery::importers
