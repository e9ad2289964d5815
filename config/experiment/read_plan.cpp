#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

void read_collectives(const Json& value, Plan& plan, const Path& path, Scope& scope) {
  if (!expect_object(value, path, scope)) return;
  for (const auto& [key, algorithm] : value.items()) {
    const Path here(path, key);
    const auto found = std::find(kCollectiveNames.begin(), kCollectiveNames.end(), key);
    if (found == kCollectiveNames.end()) {
      report_unknown_key(key, {kCollectiveNames.begin(), kCollectiveNames.end()}, here, scope);
    } else if (read_choice(algorithm, algorithm_field(), here, scope)) {
      plan.collectives[static_cast<std::size_t>(found - kCollectiveNames.begin())] =
          algorithm.get<std::string>();
    }
  }
}

void check_rank_order(const Plan& plan, const Path& path, Scope& scope) {
  std::array<std::string_view, kAxisCount> known;
  std::ranges::transform(kAxes, known.begin(), &AxisRow::name);
  const std::string_view order = plan.rank_order;
  std::vector<std::string_view> dimensions;
  dimensions.reserve(known.size());
  for (std::size_t start = 0; start <= order.size();) {
    const std::size_t end = std::min(order.find('-', start), order.size());
    dimensions.push_back(order.substr(start, end - start));
    start = end + 1;
  }
  if (std::ranges::is_permutation(dimensions, known)) return;
  scope.findings.add(
      Path(path, "rank_order"),
      fmt::format("found {}, allowed {} and {} in any order with '-' between them", quote(plan.rank_order),
                  fmt::join(std::span(known).first(kAxisCount - 1), ", "), known.back()));
}

void check_sharding(const Json& value, const Plan& plan, const Path& path, Scope& scope) {
  if (!value.contains("sharding") || !value.contains("zero_stage")) return;
  Plan sharded;
  read_field(value["sharding"], field_named(plan_fields(), "sharding"), sharded, Path(path, "sharding"),
             scope);
  if (sharded.zero_stage == plan.zero_stage) return;
  scope.findings.add(Path(path, "sharding"),
                     fmt::format("found {} (zero_stage {}), allowed one that agrees with zero_stage {}",
                                 described(value["sharding"]), sharded.zero_stage, plan.zero_stage));
}

/// Reads the number of recomputed layers of each stage, which are its first ones.
void read_recompute_of_stages(const Json& value, Plan& plan, const Path& path, Scope& scope) {
  const Path here(path, "stage_layers");
  if (value.contains("layers"))
    scope.findings.add(here, "found layers beside it, allowed one of the keys", Anchor::key);
  if (!value.contains("method")) plan.recompute_method = RecomputeMethod::block;
  if (plan.recompute_method != RecomputeMethod::block)
    scope.findings.add(here, "found it with method \"uniform\", allowed with method \"block\"", Anchor::key);
}

/// An object without modules is of whole layers; modules are computed again layer by layer.
void read_recompute(const Json& value, Plan& plan, const Path& path, Scope& scope) {
  if (!value.is_object()) return read_field(value, recompute_field(), plan, path, scope);
  read_fields(value, recompute_fields(), plan, path, scope);
  if (value.contains("modules") && value["modules"] == Json::array())
    scope.findings.add(Path(path, "modules"), "found an empty list, allowed at least one module");
  const bool whole = !value.contains("modules") || plan.recompute_modules.has(Module::layer);
  plan.recompute = whole ? Recompute::full : Recompute::modules;
  if (value.contains("stage_layers")) read_recompute_of_stages(value, plan, path, scope);
  if (whole) return void(plan.recompute_modules = {});
  if (!value.contains("method")) plan.recompute_method = RecomputeMethod::block;
  if (plan.recompute_method == RecomputeMethod::uniform && plan.recompute_layers > 1)
    scope.findings.add(Path(path, "layers"),
                       fmt::format("found {} with modules and method \"uniform\", allowed 1: groups are of "
                                   "whole layers",
                                   plan.recompute_layers));
}

/// A key of a dimension sets both ways of it, so only one of them may stand beside it that says the same.
void read_wire(const Json& value, WirePrecision& wire, const Path& path, Scope& scope) {
  read_fields(value, wire_precision_fields(), wire, path, scope);
  if (!value.is_object()) return;
  const auto check = [&](const char* both, const char* one) {
    if (!value.contains(both) || !value.contains(one) || value[both] == value[one]) return;
    scope.findings.add(Path(path, one), fmt::format("found {} beside {} {}, allowed one of the keys",
                                                    described(value[one]), both, described(value[both])));
  };
  for (const char* one : {"tensor_gather", "tensor_reduce"}) check("tensor", one);
  for (const char* one : {"dispatch", "combine"}) check("expert", one);
}

/// Replaces "auto" values, which are kept in flags of their own.
void take_automatic(Json& keys, std::string_view key, bool& automatic) {
  const auto value = keys.find(key);
  automatic = value != keys.end() && *value == "auto";
  if (automatic) keys.erase(value);
}

/// A list of tokens by expert is a histogram.
Json plain_keys(const Json& value, Plan& plan) {
  Json plain = value;
  if (!value.is_object()) return plain;
  if (const auto list = value.find("token_imbalance"); list != value.end() && list->is_array()) {
    plain["token_histogram"] = *list;
    plain["token_imbalance"] = "histogram";
  }
  take_automatic(plain, "stage_layers", plan.balance_stages);
  take_automatic(plain, "zero_group_size", plan.choose_zero_group);
  take_automatic(plain, "replica_batch_sizes", plan.balance_replica_batches);
  return plain;
}

}  // namespace

Plan read_plan(const Json& value, const Path& path, Scope& scope) {
  Plan plan;
  const std::size_t before = scope.findings.list().size();
  read_fields(plain_keys(value, plan), plan_fields(), plan, path, scope);
  if (!value.is_object()) return plan;
  if (const auto collectives = value.find("collectives"); collectives != value.end()) {
    read_collectives(*collectives, plan, Path(path, "collectives"), scope);
  }
  if (const auto recompute = value.find("recompute"); recompute != value.end())
    read_recompute(*recompute, plan, Path(path, "recompute"), scope);
  if (const auto wire = value.find("wire_precision"); wire != value.end())
    read_wire(*wire, plan.wire_precision, Path(path, "wire_precision"), scope);
  if (scope.findings.list().size() != before) return plan;
  if (value.contains("rank_order")) check_rank_order(plan, path, scope);
  check_sharding(value, plan, path, scope);
  return plan;
}

}  // namespace orrery
