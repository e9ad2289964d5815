#include "explore/knobs.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "config/experiment/schema.hpp"
#include "config/schema/menus.hpp"

namespace orrery::explore {
namespace {

struct Knob {
  std::string_view key;
  std::string_view group;
};

/// Keys with few values stand as menus of them; their values are those that divide, or that fit.
constexpr std::array<Knob, 24> kKnobs{{
    {"plan.tensor_parallel", "Parallelism"},
    {"plan.pipeline_parallel", "Parallelism"},
    {"plan.context_parallel", "Parallelism"},
    {"plan.expert_parallel", "Parallelism"},
    {"plan.sequence_parallel", "Parallelism"},
    {"plan.zero_stage", "Parallelism"},
    {"plan.micro_batch_size", "Batch and schedule"},
    {"plan.global_batch_size", "Batch and schedule"},
    {"plan.pipeline_schedule", "Batch and schedule"},
    {"plan.virtual_stages", "Batch and schedule"},
    {"plan.recompute", "Memory"},
    {"plan.precision", "Memory"},
    {"plan.overlap_gradient_reduce", "Overlap"},
    {"plan.overlap_parameter_gather", "Overlap"},
    {"plan.overlap_expert_parallel", "Overlap"},
    {"plan.dispatcher", "Overlap"},
    {"model.seq_length", "Model"},
    {"cluster.nodes", "Cluster"},
    {"data_parallel_sync.method", "Data parallelism"},
    {"data_parallel_sync.topology", "Data parallelism"},
    {"inference.requests_per_s", "Serving"},
    {"inference.batch_size", "Serving"},
    {"inference.prompt_tokens", "Serving"},
    {"inference.output_tokens", "Serving"},
}};

std::string_view group_of(const std::string& key) {
  const auto found = std::ranges::find(kKnobs, key, &Knob::key);
  return found == kKnobs.end() ? std::string_view() : found->group;
}

const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

/// The schema of plain values: the first of several that is one.
const Json& plain(const Json& schema) {
  for (const char* several : {"anyOf", "oneOf"})
    if (const Json* list = member(schema, several))
      for (const Json& one : *list)
        if (one.contains("type") || one.contains("enum")) return one;
  return schema;
}

std::string kind_of(const Json& schema) {
  if (schema.contains("enum")) return "choice";
  const Json* type = member(schema, "type");
  const std::string name = type != nullptr && type->is_string() ? type->get<std::string>() : "";
  if (name == "boolean") return "flag";
  return name == "integer" || name == "number" ? "number" : "text";
}

/// The schema of a value: that of the object among several.
const Json& object_of(const Json& schema) {
  for (const char* several : {"anyOf", "oneOf"})
    if (const Json* list = member(schema, several))
      for (const Json& one : *list)
        if (one.contains("properties")) return one;
  return schema;
}

void add_keys(const Json& schema, const std::string& prefix, Json& list) {
  const Json* properties = member(object_of(schema), "properties");
  if (properties == nullptr) return;
  for (const auto& [name, value] : properties->items()) {
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    if (object_of(value).contains("properties") && group_of(key).empty()) {
      add_keys(value, key, list);
      continue;
    }
    list.push_back({{"key", key},
                    {"group", group_of(key)},
                    {"words", value.value("description", "")},
                    {"values", plain(value).value("enum", Json::array())},
                    {"kind", kind_of(plain(value))}});
  }
}

std::size_t place_of(const Json& entry) {
  const auto found = std::ranges::find(kKnobs, entry.at("key").get<std::string>(), &Knob::key);
  return static_cast<std::size_t>(found - kKnobs.begin());
}

}  // namespace

Json knobs_json() {
  Json list = Json::array();
  add_keys(Json::parse(json_schema("experiment", menus())), "", list);
  std::stable_sort(list.begin(), list.end(),
                   [](const Json& a, const Json& b) { return place_of(a) < place_of(b); });
  return list;
}

}  // namespace orrery::explore
