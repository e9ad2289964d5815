#include "config/experiment/read_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "config/catalog/catalog_data.hpp"
#include "config/catalog/locate.hpp"
#include "config/catalog/resolve.hpp"
#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "config/schema/wording.hpp"
#include "config/text/document.hpp"
#include "config/text/overrides.hpp"

namespace orrery {
namespace {

/// Software generations by name; the one that applies where an experiment names none is first.
constexpr std::array<std::string_view, 15> kStacks{"nemo-2024",
                                                   "megatron-2021",
                                                   "megatron-2022",
                                                   "megatron-deepspeed-2021",
                                                   "megatron-deepspeed-2023",
                                                   "megatron-zb-2024",
                                                   "fsdp-2023",
                                                   "torchtitan-2024",
                                                   "internevo-2024",
                                                   "nemo-2022",
                                                   "nemo-2023",
                                                   "megascale-2024",
                                                   "meta-2024",
                                                   "bluefog-2021",
                                                   "ideal"};
constexpr std::string_view kDefaultStack = kStacks[0];

const Json* member(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// The same, or an object without keys.
const Json& member_or_empty(const Json& object, std::string_view key) {
  static const Json empty = Json::object();
  const Json* found = member(object, key);
  return found == nullptr ? empty : *found;
}

/// A part of an experiment without a mistake, and what it was read from.
template <class Part>
struct Known {
  Json given;  ///< discarded: none yet
  Part part;
};

/// Whether two documents differ in their plans at most; `known` has none.
bool differ_in_plan(const Json& known, const Json& root) {
  if (!known.is_object() || !root.is_object()) return false;
  const auto& parts = known.get_ref<const Json::object_t&>();
  auto part = parts.begin();
  for (const auto& member : root.get_ref<const Json::object_t&>()) {
    if (member.first == "plan") continue;
    if (part == parts.end() || *part++ != member) return false;
  }
  return part == parts.end();
}

struct KnownParts {
  Known<Experiment> frame{Json(Json::value_t::discarded), {}};  ///< of all but the plan
  Known<Model> model{Json(Json::value_t::discarded), {}};
  Known<Cluster> cluster{Json(Json::value_t::discarded), {}};
  Known<Software> software{Json(Json::value_t::discarded), {}};
  std::string stack;  ///< of the software
};

/// Reads the parts of one document; the catalog uses stay for the error report.
class ExperimentReader {
 public:
  /// `known`: parts read before, and to be kept for the next; null: none.
  ExperimentReader(const Catalog& catalog, const Menus& menus, KnownParts* known = nullptr)
      : resolver_(catalog.data(), findings_), scope_{menus, findings_}, known_(known) {}

  /// `set`: pointers that the command line set.
  Experiment read(const Json& root, const std::vector<std::string>& set) {
    Experiment experiment = read_parts(root);
    if (!findings_.empty()) return experiment;
    complete_plan(experiment, member_or_empty(root, "plan"), scope_.menus, findings_);
    const Json* sync = member(root, "data_parallel_sync");
    if (sync != nullptr && findings_.empty()) check_sync(experiment, *sync, set, findings_);
    if (findings_.empty()) check_size(experiment, findings_);
    const Json* options = member(root, "simulation");
    if (options == nullptr || !options->contains("steps")) {
      apply(
          [this, &experiment](const Experiment& e) {
            if (scope_.menus.usual_steps != nullptr)
              experiment.simulation.steps = scope_.menus.usual_steps(e);
          },
          experiment);
    }
    if (findings_.empty()) check_size(experiment, findings_);
    return experiment;
  }

  Cluster read_cluster_at(const Json& given, const Path& path) {
    Json value = resolver_.resolve(CatalogKind::cluster, given, path);
    if (value.is_object()) calibrate_parts(value, path);
    return value.is_null() ? Cluster{} : read_cluster(value, path, scope_);
  }

  void calibrate_parts(Json& cluster, const Path& path) {
    for (const std::string_view part : {"gpu", "node", "fabric"}) calibrate_part(cluster, part, path);
    const auto groups = cluster.find("groups");
    if (groups == cluster.end() || !groups->is_array()) return;
    const Path list(path, "groups");
    for (std::size_t i = 0; i < groups->size(); ++i) {
      if ((*groups)[i].is_object()) calibrate_part((*groups)[i], "gpu", Path(list, i));
    }
  }

  /// The part of `owner` by that name, with the constants of the calibration it names.
  void calibrate_part(Json& owner, std::string_view part, const Path& path) {
    const auto found = owner.find(part);
    if (found == owner.end() || !found->is_object()) return;
    const auto name = found->find("calibration");
    if (name == found->end() || !name->is_string()) return;
    resolver_.calibrate(*found, part, name->get<std::string>(), Path(path, part));
  }

  /// Hands a valid experiment to `use`; what that finds wrong in it joins the findings. Problems that
  /// name a source of their own, such as the command line, pass through.
  void apply(const ExperimentUse& use, const Experiment& experiment) {
    if (!use || !findings_.empty()) return;
    try {
      use(experiment);
    } catch (const InputError& error) {
      if (!error.problems().front().source.empty()) throw;
      for (const Problem& problem : error.problems()) findings_.add(problem);
    }
  }

  [[nodiscard]] const Findings& findings() const { return findings_; }
  [[nodiscard]] const Resolver& resolver() const { return resolver_; }

 private:
  /// Where nothing but the plan is new, as in a search, the plan alone is read.
  Experiment read_parts(const Json& root) {
    const bool known = known_ != nullptr && differ_in_plan(known_->frame.given, root);
    return known ? read_plan_alone(root) : read_all_parts(root);
  }

  Experiment read_plan_alone(const Json& root) {
    Experiment experiment = known_->frame.part;
    experiment.plan = plan_of(root);
    return experiment;
  }

  Experiment read_all_parts(const Json& root) {
    Experiment experiment;
    const Path top;
    read_fields(root, experiment_fields(), experiment, top, scope_);
    if (!root.is_object()) return experiment;
    require(root, experiment_fields(), "model", "every experiment", top, scope_);
    require(root, experiment_fields(), "cluster", "every experiment", top, scope_);
    read_hardware_and_model(root, experiment);
    read_rest(root, experiment);
    if (experiment.name.empty()) experiment.name = default_name(experiment);
    if (known_ != nullptr && findings_.empty()) {
      known_->frame = {root, experiment};
      known_->frame.given.erase("plan");
    }
    return experiment;
  }

  Plan plan_of(const Json& root) {
    const Path top;
    const Json* plan = member(root, "plan");
    return plan == nullptr ? Plan{} : read_plan(*plan, Path(top, "plan"), scope_);
  }

  /// Sets `part` to what `read` makes of `given`, or made of it in the experiment before.
  template <class Part, class Read>
  void take(Known<Part> KnownParts::*of, const Json& given, Part& part, Read read) {
    Known<Part>* known = known_ == nullptr ? nullptr : &(known_->*of);
    if (known != nullptr && !known->given.is_discarded() && known->given == given) {
      part = known->part;
      return;
    }
    const bool sound = findings_.empty();
    part = read();
    if (known != nullptr && sound && findings_.empty()) *known = {given, part};
  }

  void read_hardware_and_model(const Json& root, Experiment& experiment) {
    const Path top;
    if (const Json* model = member(root, "model")) {
      const Path path(top, "model");
      take(&KnownParts::model, *model, experiment.model, [&] {
        const Json value = resolver_.resolve(CatalogKind::model, *model, path);
        return value.is_null() ? Model{} : read_model(value, path, scope_);
      });
    }
    if (const Json* cluster = member(root, "cluster")) {
      take(&KnownParts::cluster, *cluster, experiment.cluster,
           [&] { return read_cluster_at(*cluster, Path(top, "cluster")); });
    }
  }

  void read_rest(const Json& root, Experiment& experiment) {
    const Path top;
    experiment.plan = plan_of(root);
    if (const Json* sync = member(root, "data_parallel_sync")) {
      experiment.data_parallel_sync = read_sync(*sync, Path(top, "data_parallel_sync"), scope_);
    }
    read_software(root, experiment);
    if (const Json* training = member(root, "training"))
      read_training(*training, experiment.training, Path(top, "training"));
    if (const Json* accuracy = member(root, "accuracy")) {
      const Path path(top, "accuracy");
      read_fields(*accuracy, accuracy_fields(), experiment.accuracy, path, scope_);
      if (accuracy->is_object()) require(*accuracy, accuracy_fields(), "target", "accuracy", path, scope_);
    }
    if (const Json* problem = member(root, "problem"))
      read_fields(*problem, problem_fields(), experiment.problem, Path(top, "problem"), scope_);
    if (const Json* options = member(root, "simulation")) {
      read_fields(*options, simulation_fields(), experiment.simulation, Path(top, "simulation"), scope_);
    }
  }

  void read_training(const Json& value, Training& training, const Path& path) {
    read_fields(value, training_fields(), training, path, scope_);
    if (training.tokens > 0 && training.samples > 0)
      scope_.findings.add(Path(path, "samples"), "found both samples and tokens, allowed one of them",
                          Anchor::key);
  }

  /// The constants of the stack, and what the experiment sets itself.
  void read_software(const Json& root, Experiment& experiment) {
    const Path top;
    const Path path(top, "software");
    const Json& given = member_or_empty(root, "software");
    if (!expect_object(given, path, scope_)) return;
    const bool calibrated = choose_stack(experiment, Path(top, "stack"));
    if (known_ != nullptr && std::exchange(known_->stack, experiment.stack) != experiment.stack)
      known_->software.given = Json(Json::value_t::discarded);
    take(&KnownParts::software, given, experiment.software, [&] {
      Json all = given;
      Software read;
      if (calibrated) resolver_.calibrate(all, "software", experiment.stack, path);
      read_fields(all, software_fields(), read, path, scope_);
      return read;
    });
  }

  /// Checks the experiment's stack, or takes the default. Whether it has a calibration.
  bool choose_stack(Experiment& experiment, const Path& path) {
    if (experiment.stack.empty()) {
      const bool calibrated = resolver_.calibrates(kDefaultStack, "software");
      if (calibrated) experiment.stack = kDefaultStack;
      return calibrated;
    }
    if (resolver_.calibrates(experiment.stack, "software")) return true;
    std::vector<std::string_view> known(kStacks.begin(), kStacks.end());
    if (std::find(known.begin(), known.end(), experiment.stack) != known.end()) return false;
    for (const std::string_view name : resolver_.calibrations("software")) known.push_back(name);
    scope_.findings.add(path, fmt::format("found {}, allowed one of {}{}", quote(experiment.stack),
                                          joined(known), hint(experiment.stack, known)));
    return false;
  }

  static std::string default_name(const Experiment& experiment) {
    if (experiment.model.name.empty() || experiment.cluster.name.empty()) return experiment.model.name;
    return experiment.model.name + " on " + experiment.cluster.name;
  }

  Findings findings_;
  Resolver resolver_;
  Scope scope_;
  KnownParts* known_;
};

/// What is wrong is told by a reader that has seen all of the experiment, not what is known of it.
Experiment read_text_with(KnownParts* known, std::string_view text, const std::string& source,
                          const std::vector<std::string>& overrides, const Catalog& catalog,
                          const Menus& menus, const ExperimentUse& use) {
  Document document = parse_document(text, source);
  Json given = std::move(document.value);
  std::vector<Problem> problems;
  std::vector<std::string> set;
  if (!overrides.empty()) set = apply_overrides(given, overrides, problems);
  std::optional<ExperimentReader> reader;
  reader.emplace(catalog, menus, known);
  Experiment experiment = reader->read(given, set);
  if (known != nullptr && !reader->findings().empty()) {
    known = nullptr;
    reader.emplace(catalog, menus);
    experiment = reader->read(given, set);
  }
  if (problems.empty()) reader->apply(use, experiment);
  if (!reader->findings().empty()) {
    std::optional<ExperimentReader> again;  // for where in the catalog its parts are from
    if (known != nullptr) static_cast<void>(again.emplace(catalog, menus).read(given, set));
    const Resolver& resolver = again ? again->resolver() : reader->resolver();
    const auto more =
        located(reader->findings(), {document, source, given, set, resolver.uses(), catalog.data()});
    problems.insert(problems.end(), more.begin(), more.end());
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return experiment;
}

}  // namespace

Experiment read_experiment_text(std::string_view text, const std::string& source,
                                const std::vector<std::string>& overrides, const Catalog& catalog,
                                const Menus& menus, const ExperimentUse& use) {
  return read_text_with(nullptr, text, source, overrides, catalog, menus, use);
}

Experiment read_experiment_file(const std::string& path, const std::vector<std::string>& overrides,
                                const Catalog& catalog, const Menus& menus, const ExperimentUse& use) {
  return read_experiment_text(read_text(path), path, overrides, catalog, menus, use);
}

struct ExperimentSeries::Latest {
  KnownParts parts;
};

ExperimentSeries::ExperimentSeries(const Catalog& catalog, Menus menus, std::vector<std::string> overrides)
    : catalog_(&catalog),
      menus_(std::move(menus)),
      overrides_(std::move(overrides)),
      latest_(std::make_unique<Latest>()) {}
ExperimentSeries::~ExperimentSeries() = default;
ExperimentSeries::ExperimentSeries(ExperimentSeries&&) noexcept = default;

Experiment ExperimentSeries::read(std::string_view text, const std::string& source,
                                  const ExperimentUse& use) {
  return read_text_with(&latest_->parts, text, source, overrides_, *catalog_, menus_, use);
}

}  // namespace orrery
