#include "planner/space/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/experiment_keys.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "planner/space/automatic_values.hpp"
#include "planner/space/base_document.hpp"

namespace orrery {
namespace {

void check_conditions(const Space& space) {
  const std::vector<std::string> known = experiment_keys();
  for (const Condition& condition : space.conditions()) {
    for (const std::string& key : condition.keys()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      throw InputError(
          {Diagnostic{space.base().source, 0, 0, "",
                      fmt::format("condition {}: found key {}, allowed dotted keys of an "
                                  "experiment{}",
                                  quote(condition.text()), quote(key), hint(key, views(known)))}});
    }
  }
}

void find_automatic(std::vector<SpaceKey>& keys, const Space& space) {
  std::optional<Experiment> experiment;
  for (SpaceKey& key : keys) {
    if (!key.automatic || !key.values.empty()) continue;
    if (!experiment) experiment = experiment_of_any_plan(space.base(), space.catalog(), space.menus());
    key.values = automatic_values(key.key, *experiment, space.menus());
  }
}

void find_ends(std::vector<SpaceKey>& keys, const Menus& menus) {
  for (SpaceKey& key : keys) {
    if (!key.interval) continue;
    key.interval->whole = takes_integers_only(key.key, menus);
    key.values = {key.interval->at(0)};
  }
}

}  // namespace

Experiment experiment_of_any_plan(const BaseExperiment& base, const Catalog& catalog, const Menus& menus) {
  const auto read = [&](const std::vector<std::string>& more) {
    std::vector<std::string> overrides = base.overrides;
    overrides.insert(overrides.end(), more.begin(), more.end());
    return read_experiment_text(base.text, base.source, overrides, catalog, menus).experiment;
  };
  try {
    return read({});
  } catch (const InputError&) {
    // The plan that every model and cluster has, so that it is the rest that is found wrong.
    Experiment experiment = read({"plan=null"});
    const Json batch = value_at(base_document(base), "plan.global_batch_size");
    if (batch.is_number_integer() && batch > 0) experiment.plan.global_batch_size = batch.get<std::int64_t>();
    return experiment;
  }
}

Space::Space(SpaceDescription description, BaseExperiment base, Catalog catalog, Menus menus,
             Intervals intervals)
    : keys_(std::move(description.keys)),
      conditions_(std::move(description.conditions)),
      base_(std::move(base)),
      catalog_(std::move(catalog)),
      menus_(std::move(menus)) {
  check_conditions(*this);
  std::vector<SpaceKey> keys = keys_;
  find_automatic(keys, *this);
  if (intervals == Intervals::allowed) find_ends(keys, menus_);
  keys_ = std::move(keys);
  size_ = count_combinations(keys_, kMostPoints);
}

bool Space::continuous() const {
  return std::ranges::any_of(keys_, [](const SpaceKey& key) { return key.interval.has_value(); });
}

}  // namespace orrery
