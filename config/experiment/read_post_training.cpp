#include "config/experiment/read_post_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "config/catalog/locate.hpp"
#include "config/experiment/post_training_section.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/experiment/read_parts.hpp"
#include "config/experiment/share_gpus.hpp"
#include "config/schema/aliases.hpp"
#include "config/schema/fields.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/document.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

constexpr std::array kRoles{PostTrainingRole::actor, PostTrainingRole::rollout, PostTrainingRole::reference,
                            PostTrainingRole::critic, PostTrainingRole::reward};

std::string_view name_of(PostTrainingRole role) {
  return kPostTrainingRoleNames[static_cast<std::size_t>(role)];
}

const Json& member_or_empty(const Json& object, std::string_view key) {
  static const Json empty = Json::object();
  const auto found = object.find(key);
  return found == object.end() || !found->is_object() ? empty : *found;
}

bool holds(const Json& owner, std::string_view key) { return owner.is_object() && owner.contains(key); }

/// The first two tokens of a JSON pointer.
std::pair<std::string, std::string> first_tokens(const std::string& pointer) {
  if (pointer.empty()) return {};
  const std::size_t slash = std::min(pointer.find('/', 1), pointer.size());
  const std::size_t next = std::min(pointer.find('/', std::min(slash + 1, pointer.size())), pointer.size());
  return {pointer.substr(1, slash - 1), slash < next ? pointer.substr(slash + 1, next - slash - 1) : ""};
}

}  // namespace

/// Holds the document, and what was read from it.
struct PostTrainingExperiment::State {
  std::string text;
  std::string source;
  Catalog catalog;
  Menus menus;
  Document document;
  Json root;  ///< with overrides, without the section
  Json section_given;
  std::vector<std::string> set;
  PostTraining section;
  std::map<PostTrainingRole, Json> documents;
  std::map<PostTrainingRole, Experiment> roles;
  std::array<std::int64_t, kPostTrainingRoleCount> gpus{};
  std::int64_t all_gpus = 0;
  Experiment whole;  ///< model and cluster alone

  State(std::string_view given, std::string name, Catalog known, Menus names)
      : text(given),
        source(std::move(name)),
        catalog(std::move(known)),
        menus(std::move(names)),
        document(parse_document(text, source)) {}

  void read(const std::vector<std::string>& overrides) {
    std::vector<Diagnostic> diagnostics;
    Json given = std::move(document.value);
    use_full_names(given, source, diagnostics);
    if (!overrides.empty()) set = apply_overrides(given, overrides, diagnostics);
    if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
    if (!given.is_object())
      throw InputError({Diagnostic{source, 0, 0, "", "found " + described(given) + ", allowed an object"}});
    section_given = std::exchange(given["post_training"], Json());
    given.erase("post_training");
    given.erase("$schema");
    given.erase("id");
    root = std::move(given);
    whole = read_as(root_alone(), nullptr);
    read_section();
    for (const PostTrainingRole role : kRoles) {
      if (!is_played(role)) continue;
      documents[role] = document_of(role);
      roles[role] = read_as(documents[role], &role);
    }
  }

  [[nodiscard]] Experiment read_as(const Json& json, const PostTrainingRole* role) const {
    try {
      return read_experiment_text(json.dump(), source, {}, catalog, menus).experiment;
    } catch (const InputError& error) {
      Findings findings;
      for (const Diagnostic& diagnostic : error.diagnostics()) add(diagnostic, role, findings);
      throw located_error(findings);
    }
  }

  [[nodiscard]] InputError located_error(const Findings& findings) const {
    Json given = root;
    given["post_training"] = section_given;
    return InputError(orrery::located(findings, {document, source, given, set, {}, catalog.data()}));
  }

 private:
  /// A finding in the document of a role, at the key that the user wrote.
  void add(const Diagnostic& diagnostic, const PostTrainingRole* role, Findings& findings) const {
    if (role == nullptr) return findings.add(diagnostic.pointer, diagnostic.message);
    const auto [part, key] = first_tokens(diagnostic.pointer);
    const Json& own = member_or_empty(member_or_empty(section_given, "roles"), name_of(*role));
    const bool shared = holds(root, part) && (key.empty() || holds(root[part], key));
    const bool is_own = holds(own, part) && (key.empty() || !own[part].is_object() || holds(own[part], key));
    const std::string prefix = fmt::format("/post_training/roles/{}", name_of(*role));
    if (is_own || !shared) return findings.add(prefix + diagnostic.pointer, diagnostic.message);
    findings.add(diagnostic.pointer, fmt::format("as {}: {}", name_of(*role), diagnostic.message));
  }

  /// The model on the whole cluster, to see their mistakes first.
  [[nodiscard]] Json root_alone() const {
    Json alone = root;
    alone["plan"] = Json::object();
    for (const char* key : {"inference", "data_parallel_sync", "training", "accuracy", "problem"})
      alone.erase(key);
    return alone;
  }

  void read_section() {
    Findings findings;
    Scope scope{menus, findings};
    const Path top;
    const Path path(top, "post_training");
    for (const char* key : {"inference", "data_parallel_sync", "training", "accuracy", "problem"})
      if (root.contains(key))
        findings.add(fmt::format("/{}", key), "found beside post_training, which has no such part",
                     Anchor::key);
    section = read_post_training_section(section_given, whole, path, scope);
    if (findings.empty()) {
      all_gpus = whole.cluster.nodes * whole.cluster.gpus_per_node;
      RoleSet played{};
      for (const PostTrainingRole role : kRoles) played[static_cast<std::size_t>(role)] = is_played(role);
      const bool own_cluster = keys_of(PostTrainingRole::rollout).contains("cluster");
      gpus = share_gpus(section, played, all_gpus, own_cluster, path, findings);
    }
    if (!findings.empty()) throw located_error(findings);
  }

  [[nodiscard]] bool is_played(PostTrainingRole role) const {
    if (role == PostTrainingRole::actor || role == PostTrainingRole::rollout) return true;
    if (role == PostTrainingRole::reward) return section.reward == RewardKind::model;
    if (role == PostTrainingRole::critic && section.algorithm == PostTrainingAlgorithm::ppo) return true;
    return member_or_empty(section_given, "roles").contains(name_of(role));
  }

  [[nodiscard]] const Json& keys_of(PostTrainingRole role) const {
    return member_or_empty(member_or_empty(section_given, "roles"), name_of(role));
  }

  /// The cluster with as many GPUs: whole nodes, or a part of one.
  [[nodiscard]] Json cluster_of(PostTrainingRole role) const {
    const Json& own = keys_of(role);
    if (own.contains("cluster")) return own["cluster"];
    const std::int64_t wanted = gpus[static_cast<std::size_t>(role)];
    if (wanted == all_gpus) return root["cluster"];
    Json cluster = root["cluster"];
    if (cluster.is_string()) cluster = Json{{"base", cluster}};
    const std::int64_t per_node = whole.cluster.gpus_per_node;
    Findings findings;
    const auto refuse = [&](const std::string& message) {
      findings.add(fmt::format("/post_training/roles/{}/gpus", name_of(role)), message);
      throw located_error(findings);
    };
    if (cluster.contains("groups") || cluster.contains("regions") || cluster.contains("graph"))
      refuse(
          "found a share of a cluster with groups, regions or a graph, allowed all of its GPUs; give "
          "rollouts a cluster of their own");
    if (wanted % per_node != 0 && (wanted > per_node || per_node % wanted != 0))
      refuse(fmt::format("found {} GPUs for {}, allowed whole nodes of {} or an equal part of one", wanted,
                         name_of(role), per_node));
    cluster["nodes"] = std::max<std::int64_t>(1, wanted / per_node);
    if (wanted < per_node) cluster["gpus_per_node"] = wanted;
    return cluster;
  }

  /// The experiment of a role: its own keys over those of the whole.
  [[nodiscard]] Json document_of(PostTrainingRole role) const {
    const Json& own = keys_of(role);
    const bool serves = role == PostTrainingRole::rollout;
    Json json = root;
    json["name"] = std::string(name_of(role));
    json["cluster"] = cluster_of(role);
    if (own.contains("model")) json["model"] = own["model"];
    if (serves) {
      json["plan"] = Json::object();
      json.erase("stack");
      json.erase("software");
      json["inference"] = Json::object();
    } else if (!json.contains("plan")) {
      json["plan"] = Json::object();
    }
    for (const char* part : {"plan", "software", "inference"}) merge(json, own, part);
    if (own.contains("stack")) json["stack"] = own["stack"];
    std::vector<Diagnostic> diagnostics;
    use_full_names(json, source, diagnostics);
    if (!diagnostics.empty()) throw InputError(std::move(diagnostics));
    if (serves) {
      complete_engine(json);
    } else {
      give_lengths(json, {micro_batch_tokens(false), 0, 1, 1});
    }
    return json;
  }

  static void merge(Json& json, const Json& own, const char* part) {
    if (!own.contains(part)) return;
    if (!own[part].is_object()) {
      json[part] = own[part];
      return;
    }
    if (!json.contains(part)) json[part] = Json::object();
    json[part].update(own[part]);
  }

  /// Requests are those of the step. Engines of rollouts run in the process that asks them, without a server.
  void complete_engine(Json& json) const {
    Json& inference = json["inference"];
    if (!inference.is_object()) return;
    for (const char* key : {"prompt_tokens", "output_tokens", "requests", "requests_per_s", "prefix_reuse",
                            "disaggregated", "slo"}) {
      if (!inference.contains(key)) continue;
      Findings findings;
      findings.add(fmt::format("/post_training/roles/rollout/inference/{}", key),
                   "found beside post_training, whose samples are the requests", Anchor::key);
      throw located_error(findings);
    }
    inference["prompt_tokens"] = 1;
    inference["output_tokens"] = 1;
    if (!inference.contains("max_model_len"))
      inference["max_model_len"] = std::max<std::int64_t>(2, longest_sample());
    Json& software = json["software"];
    if (software.is_null()) software = Json::object();
    for (const char* key : {"front_end_ms", "front_end_request_us", "front_end_message_us"})
      if (!software.contains(key)) software[key] = 0;
  }

 public:
  [[nodiscard]] std::int64_t longest_sample() const {
    if (!section.trace.has_value()) {
      const auto longest = [](const TokenLengths& l) {
        return l.kind == LengthKind::fixed ? l.mean : l.most;
      };
      return longest(section.prompt) + longest(section.response);
    }
    std::int64_t longest = 0;
    for (const RequestSpec& request : *section.trace)
      longest = std::max(longest, request.prompt_tokens + request.output_tokens);
    return longest;
  }

  [[nodiscard]] std::int64_t micro_batch_tokens(bool forward_alone) const {
    if (forward_alone && section.forward_micro_batch_tokens > 0) return section.forward_micro_batch_tokens;
    if (section.micro_batch_tokens > 0) return section.micro_batch_tokens;
    const Json& plan = member_or_empty(root, "plan");
    const Json& own = member_or_empty(keys_of(PostTrainingRole::actor), "plan");
    std::int64_t samples = 1;
    for (const Json* one : {&plan, &own})
      if (const auto size = one->find("micro_batch_size"); size != one->end() && size->is_number_integer())
        samples = std::clamp<std::int64_t>(size->get<std::int64_t>(), 1, 1'000'000);
    return samples * longest_sample();
  }

  /// Puts a shape into the document of a role that trains.
  static void give_lengths(Json& json, const TrainingShape& shape, std::int64_t replicas = 0) {
    Json& model = json["model"];
    if (model.is_string()) model = Json{{"base", model}};
    model["seq_length"] = shape.sequence_tokens;
    if (shape.sample_tokens > 0) model["packed_sample_length"] = shape.sample_tokens;
    Json& plan = json["plan"];
    if (!plan.is_object()) return;
    plan["micro_batch_size"] = shape.sequences;
    plan.erase("global_batch_size");
    if (replicas > 0) plan["global_batch_size"] = shape.sequences * shape.micro_batches * replicas;
  }
};

PostTrainingExperiment::PostTrainingExperiment(std::string_view text, const std::string& source,
                                               const std::vector<std::string>& overrides,
                                               const Catalog& catalog, Menus menus) {
  const auto state = std::make_shared<State>(text, source, catalog, std::move(menus));
  state->menus.choose_plan = nullptr;
  state->read(overrides);
  state_ = state;
}

const PostTraining& PostTrainingExperiment::section() const { return state_->section; }
const std::string& PostTrainingExperiment::name() const { return state_->whole.name; }
std::uint64_t PostTrainingExperiment::seed() const {
  return static_cast<std::uint64_t>(state_->whole.simulation.seed);
}
bool PostTrainingExperiment::has(PostTrainingRole role) const { return state_->roles.contains(role); }
std::int64_t PostTrainingExperiment::gpus(PostTrainingRole role) const {
  return this->role(role).plan.gpus();
}
const Cluster& PostTrainingExperiment::cluster() const { return state_->whole.cluster; }
std::int64_t PostTrainingExperiment::longest_sample() const { return state_->longest_sample(); }
std::int64_t PostTrainingExperiment::micro_batch_tokens(bool forward_alone) const {
  return state_->micro_batch_tokens(forward_alone);
}
const Experiment& PostTrainingExperiment::role(PostTrainingRole role) const { return state_->roles.at(role); }
const Experiment& PostTrainingExperiment::rollout() const { return role(PostTrainingRole::rollout); }

/// GPUs that no role has are paid for too.
std::int64_t PostTrainingExperiment::gpus() const {
  const Json& rollout = member_or_empty(member_or_empty(state_->section_given, "roles"), "rollout");
  return state_->all_gpus + (rollout.contains("cluster") ? gpus(PostTrainingRole::rollout) : 0);
}

/// Sequence parallelism cuts tokens over tensor ranks, context parallelism over twice its ranks, so that
/// each has a part from the front and one from the back.
std::int64_t PostTrainingExperiment::tokens_divisor(PostTrainingRole role) const {
  const Plan& plan = this->role(role).plan;
  return plan.tensor_parallel * (plan.context_parallel > 1 ? 2 * plan.context_parallel : 1);
}

Experiment PostTrainingExperiment::training(PostTrainingRole role, const TrainingShape& shape) const {
  Json json = state_->documents.at(role);
  State::give_lengths(json, shape, this->role(role).plan.data_parallel);
  return state_->read_as(json, &role);
}

bool has_post_training(std::string_view text, const std::string& source,
                       const std::vector<std::string>& overrides) {
  const auto names_section = [](const std::string& override) {
    return override.starts_with("post_training");
  };
  if (std::ranges::any_of(overrides, names_section)) return true;
  if (text.find("post_training") == std::string_view::npos) return false;
  const Document document = parse_document(text, source);
  return document.value.is_object() && document.value.contains("post_training");
}

}  // namespace orrery
