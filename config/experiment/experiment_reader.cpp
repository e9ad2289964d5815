#include "config/experiment/experiment_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "config/experiment/method_defaults.hpp"
#include "config/experiment/read_long_run.hpp"
#include "config/experiment/read_parts.hpp"
#include "config/experiment/usual_stacks.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

/// Software generations by name, newest general ones first.
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

const Json* member(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Returns the member, or an object without keys.
const Json& member_or_empty(const Json& object, std::string_view key) {
  static const Json empty = Json::object();
  const Json* found = member(object, key);
  return found == nullptr ? empty : *found;
}

/// Returns true if two documents differ at most in their plans; `known` has none.
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

std::string default_name(const Experiment& experiment) {
  if (experiment.model.name.empty() || experiment.cluster.name.empty()) return experiment.model.name;
  return experiment.model.name + " on " + experiment.cluster.name;
}

}  // namespace

Experiment ExperimentReader::read(const Json& root, const std::vector<std::string>& set) {
  Experiment experiment = read_parts(root);
  if (!findings_.empty()) return experiment;
  if (const Json* base = member(member_or_empty(root, "plan"), "base")) {
    findings_.add(
        "/plan/base",
        *base == "auto"
            ? std::string("found auto where plans are varied, allowed in what is simulated as it is")
            : fmt::format("found {}, allowed auto", described(*base)));
    return experiment;
  }
  complete_plan(experiment, member_or_empty(root, "plan"), scope_.menus, findings_);
  const Json* sync = member(root, "data_parallel_sync");
  if (sync != nullptr) complete_sync_overlap(experiment, *sync);
  if (findings_.empty()) check_collectives(experiment, findings_);
  if (experiment.inference && findings_.empty()) check_inference(experiment, root, findings_);
  if (sync != nullptr && findings_.empty()) check_sync(experiment, *sync, set, findings_);
  if (findings_.empty()) check_size(experiment, findings_);  // before the graph of gossip is built
  const Json* options = member(root, "simulation");
  if (options == nullptr || !options->contains("steps")) complete_steps(experiment);
  if (findings_.empty()) check_size(experiment, findings_);
  return experiment;
}

template <class Part>
void ExperimentReader::check_part(const Json& root, const Path& path, std::string_view key,
                                  const std::vector<Field<Part>>& fields) {
  Part part;
  if (const Json* given = member(root, key)) read_fields(*given, fields, part, Path(path, key), scope_);
}

/// A part by name, or an object whose base is one.
template <class Part>
void ExperimentReader::check_entry(CatalogKind kind, const Json& root, const Path& path, std::string_view key,
                                   const std::vector<Field<Part>>& fields) {
  const Json* given = member(root, key);
  if (given == nullptr) return;
  const Path here(path, key);
  if (!given->is_object()) return static_cast<void>(resolver_.resolve(kind, *given, here));
  Json keys = *given;
  if (const auto base = keys.find("base"); base != keys.end()) {
    static_cast<void>(resolver_.resolve(kind, Json{{"base", *base}}, here));
    keys.erase(base);
  }
  Part part;
  read_fields(keys, fields, part, here, scope_);
}

/// A wiring by name, or an object.
template <class Part>
void ExperimentReader::check_wiring(const Json& root, const Path& path, std::string_view key,
                                    const std::vector<Field<Part>>& fields) {
  const Json* given = member(root, key);
  if (given == nullptr) return;
  if (given->is_object()) return check_part(root, path, key, fields);
  static_cast<void>(read_choice(*given, field_named(fields, "kind"), Path(path, key), scope_));
}

void ExperimentReader::check_parts(const Json& root) {
  const Path top;
  Experiment experiment;
  read_fields(root, experiment_fields(), experiment, top, scope_);
  if (!root.is_object()) return;
  check_entry(CatalogKind::model, root, top, "model", model_fields());
  check_entry(CatalogKind::cluster, root, top, "cluster", cluster_fields());
  if (const Json* cluster = member(root, "cluster"); cluster != nullptr && cluster->is_object()) {
    const Path path(top, "cluster");
    check_entry(CatalogKind::gpu, *cluster, path, "gpu", gpu_fields());
    check_wiring(*cluster, path, "node", node_fields());
    check_wiring(*cluster, path, "fabric", fabric_fields());
  }
  static_cast<void>(plan_of(root));
  if (const Json* sync = member(root, "data_parallel_sync"))
    static_cast<void>(read_sync(*sync, Path(top, "data_parallel_sync"), scope_));
  check_part(root, top, "software", software_fields());
  check_part(root, top, "training", training_fields());
  check_part(root, top, "inference", inference_fields());
  if (const Json* run = member(root, "run"))
    static_cast<void>(read_long_run(*run, Path(top, "run"), resolver_, scope_));
  check_part(root, top, "accuracy", accuracy_fields());
  check_part(root, top, "problem", problem_fields());
  check_part(root, top, "simulation", simulation_fields());
  if (!experiment.stack.empty()) static_cast<void>(choose_stack(experiment, false, Path(top, "stack")));
}

void ExperimentReader::complete_steps(Experiment& experiment) {
  if (!findings_.empty()) return;
  try {
    experiment.simulation.steps = usual_steps(experiment);
  } catch (const InputError& error) {  // there is no such graph
    for (const Diagnostic& problem : error.diagnostics()) findings_.add(problem);
  }
}

Json ExperimentReader::cluster_keys(const Json& root) {
  const Path top;
  return resolver_.resolve(CatalogKind::cluster, root.at("cluster"), Path(top, "cluster"));
}

Cluster ExperimentReader::read_cluster_at(const Json& given, const Path& path) {
  Json value = resolver_.resolve(CatalogKind::cluster, given, path);
  if (value.is_object()) calibrate_parts(value, path);
  return value.is_null() ? Cluster{} : read_cluster(value, path, scope_);
}

void ExperimentReader::calibrate_parts(Json& cluster, const Path& path) {
  for (const std::string_view part : {"gpu", "node", "fabric"}) calibrate_part(cluster, part, path);
  const auto groups = cluster.find("groups");
  if (groups == cluster.end() || !groups->is_array()) return;
  const Path list(path, "groups");
  for (std::size_t g = 0; g < groups->size(); ++g) {
    if ((*groups)[g].is_object()) calibrate_part((*groups)[g], "gpu", Path(list, g));
  }
}

/// The part of `owner` by that name, with the constants of the calibration it names.
void ExperimentReader::calibrate_part(Json& owner, std::string_view part, const Path& path) {
  const auto found = owner.find(part);
  if (found == owner.end() || !found->is_object()) return;
  const auto name = found->find("calibration");
  if (name == found->end() || !name->is_string()) return;
  resolver_.calibrate(*found, part, name->get<std::string>(), Path(path, part));
}

Experiment ExperimentReader::read_parts(const Json& root) {
  const bool known = known_ != nullptr && differ_in_plan(known_->frame.given, root);
  return known ? read_plan_alone(root) : read_all_parts(root);
}

Experiment ExperimentReader::read_plan_alone(const Json& root) {
  Experiment experiment = known_->frame.part;
  experiment.plan = plan_of(root);
  return experiment;
}

Experiment ExperimentReader::read_all_parts(const Json& root) {
  Experiment experiment;
  const Path top;
  read_fields(root, experiment_fields(), experiment, top, scope_);
  if (!root.is_object()) return experiment;
  if (refuse_jobs(root)) return experiment;
  require(root, experiment_fields(), "model", "every experiment", top, scope_);
  require(root, experiment_fields(), "cluster", "every experiment", top, scope_);
  refuse_post_training(root);
  read_hardware_and_model(root, experiment);
  read_rest(root, experiment);
  if (experiment.name.empty()) experiment.name = default_name(experiment);
  if (known_ != nullptr && findings_.empty()) {
    known_->frame = {root, experiment};
    known_->frame.given.erase("plan");
  }
  return experiment;
}

/// Several experiments stand for a step of several roles; read_post_training() makes them.
void ExperimentReader::refuse_post_training(const Json& root) {
  if (!root.contains("post_training")) return;
  findings_.add("/post_training",
                "found a step of several roles, allowed in orrery simulate FILE alone: it has no single plan",
                Anchor::key);
}

/// Jobs have a model and a plan each; JobsExperiment reads them.
bool ExperimentReader::refuse_jobs(const Json& root) {
  if (root.contains("jobs")) {
    findings_.add("/jobs", "found several jobs, allowed in orrery jobs alone", Anchor::key);
    return true;
  }
  for (const char* key : {"placement", "queueing", "preemption"})
    if (root.contains(key))
      findings_.add(fmt::format("/{}", key), "found without jobs, which alone have it", Anchor::key);
  return false;
}

Cluster ExperimentReader::read_cluster_alone(const Json& given) {
  const Path top;
  return read_cluster_at(given, Path(top, "cluster"));
}

Plan ExperimentReader::plan_of(const Json& root) {
  const Path top;
  const Json* plan = member(root, "plan");
  return plan == nullptr ? Plan{} : read_plan(*plan, Path(top, "plan"), scope_);
}

/// Sets `part` to the result of `read` for `given`, or to that of the previous experiment if `given` is
/// equal.
template <class Part, class Read>
void ExperimentReader::take(KnownPart<Part> KnownParts::*of, const Json& given, Part& part, Read read) {
  KnownPart<Part>* known = known_ == nullptr ? nullptr : &(known_->*of);
  if (known != nullptr && !known->given.is_discarded() && known->given == given) {
    part = known->part;
    return;
  }
  const bool sound = findings_.empty();
  part = read();
  if (known != nullptr && sound && findings_.empty()) *known = {given, part};
}

void ExperimentReader::read_hardware_and_model(const Json& root, Experiment& experiment) {
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

void ExperimentReader::read_rest(const Json& root, Experiment& experiment) {
  const Path top;
  experiment.plan = plan_of(root);
  if (const Json* sync = member(root, "data_parallel_sync")) {
    experiment.data_parallel_sync = read_sync(*sync, Path(top, "data_parallel_sync"), scope_);
  }
  read_software(root, experiment);
  if (const Json* training = member(root, "training"))
    read_training(*training, experiment.training, Path(top, "training"));
  if (const Json* inference = member(root, "inference"))
    experiment.inference = read_inference(*inference, experiment, Path(top, "inference"), scope_);
  if (const Json* run = member(root, "run")) {
    const Path path(top, "run");
    experiment.run = std::make_shared<const LongRun>(read_long_run(*run, path, resolver_, scope_));
    if (experiment.inference)
      scope_.findings.add(path, "found beside inference, allowed one of them", Anchor::key);
  }
  if (const Json* accuracy = member(root, "accuracy")) {
    const Path path(top, "accuracy");
    read_fields(*accuracy, accuracy_fields(), experiment.accuracy, path, scope_);
    if (accuracy->is_object()) require(*accuracy, accuracy_fields(), "target", "accuracy", path, scope_);
  }
  apply_method_defaults(experiment.data_parallel_sync.method, experiment.problem);
  if (const Json* problem = member(root, "problem"))
    read_problem(*problem, experiment.problem, Path(top, "problem"), scope_);
  if (const Json* options = member(root, "simulation")) {
    read_fields(*options, simulation_fields(), experiment.simulation, Path(top, "simulation"), scope_);
  }
}

void ExperimentReader::read_training(const Json& value, Training& training, const Path& path) {
  read_fields(value, training_fields(), training, path, scope_);
  if (!member_or_empty(value, "data").is_string() && (training.tokens > 0 || training.samples > 0))
    training.data = DataInput::loaded;
  if (training.tokens > 0 && training.samples > 0)
    scope_.findings.add(Path(path, "samples"), "found both samples and tokens, allowed one of them",
                        Anchor::key);
}

/// Reads the constants of the stack, and those that the experiment sets itself.
void ExperimentReader::read_software(const Json& root, Experiment& experiment) {
  const Path top;
  const Path path(top, "software");
  const Json& given = member_or_empty(root, "software");
  if (!expect_object(given, path, scope_)) return;
  const bool calibrated = choose_stack(experiment, member(root, "inference") != nullptr, Path(top, "stack"));
  if (known_ != nullptr && std::exchange(known_->stack, experiment.stack) != experiment.stack)
    known_->software.given = Json(Json::value_t::discarded);
  if (calibrated) experiment.domains = resolver_.domains(experiment.stack);
  take(&KnownParts::software, given, experiment.software, [&] {
    Json all = given;
    Software read;
    if (calibrated) resolver_.calibrate(all, "software", experiment.stack, path);
    read_fields(all, software_fields(), read, path, scope_);
    return read;
  });
}

/// Checks the experiment's stack, or chooses the default of its model. Returns true if it has a calibration.
bool ExperimentReader::choose_stack(Experiment& experiment, bool serves, const Path& path) {
  if (experiment.stack.empty()) {
    const UsualStack& usual = usual_stack(experiment.model);
    const std::string_view name = serves ? kUsualEngine : usual.stack;
    if (!resolver_.calibrates(name, "software")) return false;
    experiment.stack = name;
    experiment.stack_reason =
        serves ? "none is named, and this is the usual one of what serves" : reason_of(usual);
    return true;
  }
  if (resolver_.calibrates(experiment.stack, "software")) return true;
  std::vector<std::string_view> known(kStacks.begin(), kStacks.end());
  if (std::find(known.begin(), known.end(), experiment.stack) != known.end()) return false;
  for (const std::string_view name : resolver_.calibrations("software"))
    if (std::ranges::find(kStacks, name) == kStacks.end()) known.push_back(name);
  scope_.findings.add(path,
                      fmt::format("found {}{}", quote(experiment.stack),
                                  names_allowed(experiment.stack, "", known, "orrery list calibrations")));
  return false;
}

}  // namespace orrery
