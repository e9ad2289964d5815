#include "config/experiment/schema.hpp"

#include <fmt/format.h>

#include "config/catalog/constants.hpp"
#include "config/catalog/read_calibration.hpp"
#include "config/schema/fields.hpp"
#include "config/text/json.hpp"
#include "orrery/calibration_domain.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

// Keeps keys in the order of the tables.
using Schema = nlohmann::ordered_json;

Schema choice(const FieldInfo& field, const Menus& menus) {
  return {{"type", "string"}, {"enum", field.choices.names(menus)}};
}

Schema whole(double value) { return static_cast<std::int64_t>(value); }

/// An integer, or text such as 15T where it may be large.
Schema count(const FieldInfo& field) {
  constexpr double kWrittenOut = 1000;
  Schema integer{{"type", "integer"}, {"minimum", whole(field.minimum)}, {"maximum", whole(field.maximum)}};
  if (field.maximum < kWrittenOut) return integer;
  return {{"anyOf", {integer, {{"type", "string"}, {"pattern", "^[0-9]+(\\.[0-9]+)?[kKMBT]$"}}}}};
}

Schema list_or_name(const FieldInfo& field) {
  Schema list{{"type", "array"}, {"items", count(field)}};
  if (field.choices.fixed.empty()) return list;
  return {{"anyOf", {std::move(list), {{"type", "string"}, {"enum", field.choices.fixed}}}}};
}

Schema type_of(const FieldInfo& field, const Menus& menus) {
  switch (field.type) {
    case FieldType::integer:
      return count(field);
    case FieldType::number:
      return {{"type", "number"}, {"minimum", field.minimum}, {"maximum", field.maximum}};
    case FieldType::flag:
      return {{"type", "boolean"}};
    case FieldType::text:
      return {{"type", "string"}};
    case FieldType::choice:
      return choice(field, menus);
    case FieldType::integer_list:
      return list_or_name(field);
    case FieldType::choice_list:
      return {{"type", "array"}, {"items", choice(field, menus)}};
    case FieldType::nested:
    case FieldType::not_modelled:
      break;
  }
  return Schema::object();
}

std::string description(const FieldInfo& field) {
  std::string out(field.help);
  if (!field.unit.empty()) out += fmt::format(" [{}]", field.unit);
  if (!field.only_for.empty()) out += fmt::format("; kind {} only", field.only_for);
  if (!field.fallback.empty()) out += fmt::format("; default: {}", field.fallback);
  return out;
}

Schema closed_object(Schema properties) {
  return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

/// The object that `fields` describe; its nested members are empty until filled in.
template <class T>
Schema object_of(const std::vector<Field<T>>& fields, const Menus& menus) {
  Schema properties = Schema::object();
  for (const Field<T>& field : fields) {
    if (field.type == FieldType::not_modelled) continue;
    Schema property = type_of(field, menus);
    property["description"] = description(field);
    properties[std::string(field.name)] = std::move(property);
  }
  return closed_object(std::move(properties));
}

/// Adds to constants between which values they are what they say.
Schema with_physical_intervals(Schema object, const std::string& prefix) {
  for (auto& [name, property] : object["properties"].items())
    if (const PhysicalInterval* physical = physical_interval(prefix + name); physical != nullptr)
      property["x-physical-interval"] = {
          {"least", physical->least}, {"most", physical->most}, {"meaning", physical->meaning}};
  return object;
}

/// Puts `content` beside the description of a nested member.
void fill(Schema& object, const char* key, const Schema& content) {
  object["properties"][key].update(content);
}

Schema map_of(std::span<const std::string_view> keys, const FieldInfo& field, const Menus& menus) {
  Schema properties = Schema::object();
  for (const std::string_view key : keys) properties[std::string(key)] = type_of(field, menus);
  return closed_object(std::move(properties));
}

/// A catalog name, an object with all `required` keys, or an object with a base.
Schema part(Schema object, const std::vector<std::string>& required) {
  Schema based = object;
  based["properties"]["base"] = {{"type", "string"}, {"description", "catalog entry whose keys are changed"}};
  based["required"] = {"base"};
  object["required"] = required;
  return {{"anyOf",
           {{{"type", "string"}, {"description", "a catalog name"}}, std::move(object), std::move(based)}}};
}

Schema name_or_object(const Schema& object, const FieldInfo& kind, const Menus& menus) {
  return {{"anyOf", {choice(kind, menus), object}}};
}

Schema model_schema(const Menus& menus) {
  Schema model = object_of(model_fields(), menus);
  Schema latent = object_of(latent_attention_fields(), menus);
  latent["required"] = {"kv_rank", "nope_dim"};
  fill(model, "latent_attention", latent);
  const auto fill_part = [&](const char* key, Schema object, std::vector<std::string> needed) {
    object["required"] = std::move(needed);
    fill(model, key, std::move(object));
  };
  fill_part("indexer", object_of(indexer_fields(), menus), {"heads", "top_k"});
  fill_part("mamba2", object_of(mamba2_fields(), menus), {"heads"});
  fill_part("gated_delta_net", object_of(gated_delta_net_fields(), menus), {"key_heads"});
  const Schema kinds{{"enum", kTokenMixerNames}};
  const Schema runs{{"type", "array"},
                    {"minItems", 1},
                    {"items", {{"anyOf", {object_of(layer_run_fields(), menus), kinds}}}}};
  fill(model, "layer_pattern", {{"anyOf", {runs, {{"type", "string"}, {"pattern", "^[MG*E-]+$"}}}}});
  return part(std::move(model), {});
}

Schema graph_schema(const Menus& menus) {
  Schema link = object_of(graph_link_fields(), menus);
  link["required"] = {"from", "to", "gb_per_s"};
  Schema graph = object_of(graph_fields(), menus);
  fill(graph, "vertices", {{"type", "array"}, {"items", {{"type", "string"}}}});
  fill(graph, "links", {{"type", "array"}, {"items", link}});
  graph["required"] = {"vertices", "links"};
  return graph;
}

Schema regions_schema(const Menus& menus) {
  Schema site = object_of(site_fields(), menus);
  site["required"] = {"name"};
  Schema link = object_of(site_link_fields(), menus);
  link["required"] = {"from", "to", "up_gbps"};
  Schema regions = object_of(region_fields(), menus);
  fill(regions, "sites", {{"type", "array"}, {"minItems", 1}, {"items", site}});
  fill(regions, "links", {{"type", "array"}, {"items", link}});
  regions["required"] = {"sites"};
  return regions;
}

Schema cluster_schema(const Menus& menus) {
  Schema gpu = with_physical_intervals(object_of(gpu_fields(), menus), "cluster.gpu.");
  fill(gpu, "peak_tflops", map_of(std::span(kPrecisionNames).first<kUnitCount>(), peak_field(), menus));
  Schema cluster = object_of(cluster_fields(), menus);
  fill(cluster, "gpu", part(gpu, {}));
  fill(cluster, "node",
       name_or_object(object_of(node_fields(), menus), field_named(node_fields(), "kind"), menus));
  fill(cluster, "fabric",
       name_or_object(object_of(fabric_fields(), menus), field_named(fabric_fields(), "kind"), menus));
  fill(cluster, "graph", graph_schema(menus));
  Schema group = object_of(group_fields(), menus);
  fill(group, "gpu", part(gpu, {}));
  group["required"] = {"nodes"};
  fill(cluster, "groups", {{"type", "array"}, {"minItems", 1}, {"items", group}});
  fill(cluster, "regions", regions_schema(menus));
  fill(cluster, "overrides", {{"type", "array"}, {"items", object_of(override_fields(), menus)}});
  fill(cluster, "storage", object_of(storage_fields(), menus));
  Schema alike = cluster;
  alike["required"] = {"gpu"};
  Schema mixed = part(std::move(cluster), {"groups"});
  mixed["anyOf"].push_back(std::move(alike));
  return mixed;
}

Schema list_of(const Schema& items) { return {{"type", "array"}, {"items", items}}; }

Schema sync_schema(const Menus& menus) {
  const Schema worker{{"type", "integer"}, {"minimum", 0}};
  const Schema compression = object_of(compression_fields(), menus);
  Schema sync = object_of(sync_fields(), menus);
  fill(sync, "topology", {{"anyOf", {choice(gossip_topology_field(), menus), list_of(list_of(worker))}}});
  fill(sync, "placement", {{"anyOf", {choice(placement_field(), menus), list_of(worker)}}});
  fill(sync, "compression",
       {{"anyOf", {choice(field_named(compression_fields(), "method"), menus), compression}}});
  return sync;
}

/// Tokens of prompts or outputs: a number or an object.
Schema lengths_schema(const Menus& menus) {
  return {{"anyOf",
           {count(field_named(token_lengths_fields(), "mean")), object_of(token_lengths_fields(), menus)}}};
}

Schema inference_schema(const Menus& menus) {
  Schema inference = object_of(inference_fields(), menus);
  fill(inference, "prompt_tokens", lengths_schema(menus));
  fill(inference, "output_tokens", lengths_schema(menus));
  fill(inference, "requests", {{"anyOf", {count(request_count_field()), {{"type", "string"}}}}});
  Schema speculative = object_of(speculation_fields(), menus);
  speculative["required"] = {"num_speculative_tokens", "acceptance_rate"};
  fill(inference, "speculative", speculative);
  Schema disaggregated = object_of(disaggregation_fields(), menus);
  disaggregated["required"] = {"prefill", "decode"};
  fill(inference, "disaggregated", disaggregated);
  fill(inference, "slo", object_of(service_level_fields(), menus));
  return inference;
}

Schema post_training_schema(const Menus& menus) {
  Schema role = object_of(role_fields(), menus);
  for (const char* part : {"model", "cluster", "plan", "software", "inference"})
    role["properties"][part]["$ref"] = fmt::format("#/properties/{}", part);
  Schema roles = Schema::object();
  for (const std::string_view name : kPostTrainingRoleNames) roles[std::string(name)] = role;
  Schema section = object_of(post_training_fields(), menus);
  fill(section, "prompt_tokens", lengths_schema(menus));
  fill(section, "response_tokens", lengths_schema(menus));
  fill(section, "roles", closed_object(std::move(roles)));
  section["required"] = {"algorithm", "prompts_per_step"};
  return section;
}

Schema with_required(Schema object, std::vector<std::string> needed) {
  object["required"] = std::move(needed);
  return object;
}

Schema failures_schema(const Menus& menus) {
  const Schema name{{"type", "string"}};
  Schema components = Schema::object();
  Schema component = object_of(component_failures_fields(), menus);
  fill(component, "gaps_hours", list_of({{"type", "number"}, {"exclusiveMinimum", 0}}));
  for (const std::string_view kind : kFailureComponentNames) components[std::string(kind)] = component;
  Schema failures = object_of(failures_fields(), menus);
  fill(failures, "components", closed_object(std::move(components)));
  const FieldInfo& nodes = nodes_per_switch_field();
  fill(failures, "correlated", map_of(std::array{nodes.name}, nodes, menus));
  for (const char* fault : {"slow_gpu", "slow_link"})
    fill(failures, fault, with_required(object_of(hidden_fault_fields(), menus), {"mtbf_hours", "speed"}));
  fill(failures, "silent", with_required(object_of(hidden_fault_fields(), menus), {"mtbf_hours"}));
  return {{"anyOf", {name, failures}}};
}

Schema run_schema(const Menus& menus) {
  Schema run = object_of(long_run_fields(), menus);
  fill(run, "warmup", with_required(object_of(warm_up_fields(), menus), {"steps", "slowdown"}));
  fill(run, "batch_ramp",
       with_required(object_of(batch_ramp_fields(), menus), {"start", "increment", "samples"}));
  fill(run, "evaluation", with_required(object_of(evaluation_fields(), menus), {"interval_steps"}));
  fill(run, "maintenance",
       with_required(object_of(maintenance_fields(), menus), {"interval_hours", "duration_hours"}));
  const Schema interval{{"enum", kCheckpointIntervalNames}};
  Schema checkpoint = object_of(checkpoint_fields(), menus);
  for (const char* key : {"interval_steps", "interval_minutes"}) {
    Schema number = checkpoint["properties"][key];
    const Schema words = number["description"];
    number.erase("description");
    checkpoint["properties"][key] = {{"description", words}, {"anyOf", {number, interval}}};
  }
  fill(run, "checkpoint", {{"anyOf", {interval, checkpoint}}});
  fill(run, "failures", failures_schema(menus));
  fill(run, "recovery", object_of(recovery_fields(), menus));
  return run;
}

void fill_jobs(Schema& experiment, const Menus& menus) {
  Schema job = object_of(job_fields(), menus);
  fill(job, "experiment",
       {{"anyOf", {{{"type", "string"}, {"description", "a file"}}, {{"type", "object"}}}}});
  const Schema trace = with_required(object_of(job_trace_fields(), menus), {"trace"});
  fill(experiment, "jobs", {{"anyOf", {list_of(job), {{"type", "string"}}, trace}}});
  for (const char* key : {"placement", "queueing"})
    fill(experiment, key, choice(field_named(jobs_policy_fields(), key), menus));
  fill(experiment, "preemption", object_of(preemption_fields(), menus));
}

Schema experiment_schema(const Menus& menus) {
  Schema plan = object_of(plan_fields(), menus);
  fill(plan, "recompute", name_or_object(object_of(recompute_fields(), menus), recompute_field(), menus));
  fill(plan, "wire_precision", object_of(wire_precision_fields(), menus));
  fill(plan, "collectives", map_of(kCollectiveNames, algorithm_field(), menus));
  Schema experiment = object_of(experiment_fields(), menus);
  fill(experiment, "id", {{"type", {"string", "integer"}}});
  experiment["properties"]["$schema"] = {{"type", "string"}, {"description", "for editors"}};
  fill(experiment, "model", model_schema(menus));
  fill(experiment, "cluster", cluster_schema(menus));
  fill(plan, "base", {{"enum", {"auto"}}});
  fill(experiment, "plan", {{"anyOf", {Schema{{"enum", {"auto"}}}, plan}}});
  fill(experiment, "data_parallel_sync", sync_schema(menus));
  fill(experiment, "training", object_of(training_fields(), menus));
  fill(experiment, "inference", inference_schema(menus));
  fill(experiment, "run", run_schema(menus));
  Schema accuracy = object_of(accuracy_fields(), menus);
  accuracy["required"] = {"target"};
  fill(experiment, "accuracy", accuracy);
  Schema change = object_of(worker_change_fields(), menus);
  change["required"] = {"iteration"};
  Schema problem = object_of(problem_fields(), menus);
  fill(problem, "changes", list_of(change));
  fill(experiment, "problem", problem);
  fill(experiment, "software", with_physical_intervals(object_of(software_fields(), menus), "software."));
  fill(experiment, "simulation", object_of(simulation_fields(), menus));
  fill(experiment, "post_training", post_training_schema(menus));
  fill_jobs(experiment, menus);
  experiment["required"] = {"cluster"};
  experiment["if"] = {{"not", {{"required", {"jobs"}}}}};
  experiment["then"] = {{"required", {"model"}}};
  return experiment;
}

Schema text_schema(const char* meaning) { return {{"type", "string"}, {"description", meaning}}; }

/// Returns the schema of a constant of a calibration: the value of its field, and the evidence for it.
Schema constant_schema(const FieldInfo& field, const Menus& menus) {
  Schema value = type_of(field, menus);
  value["description"] = description(field);
  Schema constant = closed_object(
      {{"value", value},
       {"source", text_schema("where it comes from")},
       {"minimum", {{"type", "number"}, {"description", "least value a fit tries"}}},
       {"maximum", {{"type", "number"}, {"description", "largest value a fit tries"}}},
       {"standard_error", {{"type", "number"}, {"description", "of the value, relative to it"}}},
       {"spread",
        {{"type", "number"},
         {"description",
          "heirs lie so far from this value: standard deviation of the logarithm of theirs over "
          "this"}}},
       {"pinned", {{"type", "boolean"}, {"description", "known from elsewhere: no joint fit changes it"}}}});
  constant["required"] = {"value", "source"};
  return constant;
}

/// Returns the schema of the range of measured runs behind a calibration.
Schema domain_schema() {
  Schema features = Schema::object();
  for (const std::string_view name : kDomainNames)
    features[std::string(name)] = {{"type", "array"}, {"items", {{"type", "string"}}}};
  for (const std::string_view span : kDomainSpans) {
    features[std::string(span)] = {
        {"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 2}, {"maxItems", 2}};
  }
  Schema domain = closed_object(std::move(features));
  domain["description"] = "what the measured runs behind it span: names and [least, largest]";
  return domain;
}

Schema calibration_of(std::string_view part, const Menus& menus) {
  Schema constants = Schema::object();
  for (const FieldInfo& field : calibrated_fields(part))
    constants[std::string(field.name)] = constant_schema(field, menus);
  Schema calibration = closed_object(
      {{"name", text_schema("what experiments call it, in place of the file's name")},
       {"summary", text_schema("one sentence")},
       {"source", text_schema("where it comes from")},
       {"part", {{"const", part}, {"description", "what it is of"}}},
       {"inherits", text_schema("calibration that has what this one lacks")},
       {"constants", closed_object(std::move(constants))},
       {"domain", domain_schema()},
       {"fit", {{"type", "object"}, {"description", "how its constants were fitted; not read"}}}});
  calibration["required"] = {"part", "constants"};
  return calibration;
}

Schema calibration_schema(const Menus& menus) {
  Schema parts = Schema::array();
  for (const std::string_view part : calibrated_parts()) parts.push_back(calibration_of(part, menus));
  return {{"anyOf", std::move(parts)}};
}

Schema schema_of(std::string_view which, const Menus& menus) {
  if (which == "model") return model_schema(menus);
  if (which == "cluster") return cluster_schema(menus);
  if (which == "experiment") return experiment_schema(menus);
  if (which == "calibration") return calibration_schema(menus);
  throw InputError(
      "", fmt::format("found schema \"{}\", allowed model, cluster, experiment, calibration", which));
}

}  // namespace

std::string json_schema(std::string_view which, const Menus& menus) {
  Schema schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                {"title", fmt::format("Orrery {}", which)}};
  schema.update(schema_of(which, menus));
  return schema.dump(2) + "\n";
}

}  // namespace orrery
