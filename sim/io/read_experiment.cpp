#include "sim/io/read_experiment.hpp"

#include "sim/io/catalog_data.hpp"
#include "sim/io/document.hpp"
#include "sim/io/fields.hpp"
#include "sim/io/locate.hpp"
#include "sim/io/overrides.hpp"
#include "sim/io/read_parts.hpp"
#include "sim/io/resolve.hpp"

namespace orrery {
namespace {

const Json* member(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Reads the parts of one document; the catalog uses stay for the error report.
class ExperimentReader {
 public:
  ExperimentReader(const Catalog& catalog, const Menus& menus)
      : resolver_(catalog.data(), findings_), scope_{menus, findings_} {}

  Experiment read(const Json& root) {
    Experiment experiment;
    const Path top;
    read_fields(root, experiment_fields(), experiment, top, scope_);
    if (!root.is_object()) return experiment;
    require(root, experiment_fields(), "model", "every experiment", top, scope_);
    require(root, experiment_fields(), "cluster", "every experiment", top, scope_);
    read_hardware_and_model(root, experiment);
    read_rest(root, experiment);
    if (!findings_.empty()) return experiment;
    const Json none = Json::object();
    const Json* plan = member(root, "plan");
    complete_plan(experiment, plan == nullptr ? none : *plan, scope_.menus, findings_);
    if (findings_.empty()) check_size(experiment, findings_);
    if (experiment.name.empty()) experiment.name = default_name(experiment);
    return experiment;
  }

  Cluster read_cluster_at(const Json& given, const Path& path) {
    const Json value = resolver_.resolve(CatalogKind::cluster, given, path);
    return value.is_null() ? Cluster{} : read_cluster(value, path, scope_);
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
  void read_hardware_and_model(const Json& root, Experiment& experiment) {
    const Path top;
    if (const Json* model = member(root, "model")) {
      const Path path(top, "model");
      const Json value = resolver_.resolve(CatalogKind::model, *model, path);
      if (!value.is_null()) experiment.model = read_model(value, path, scope_);
    }
    if (const Json* cluster = member(root, "cluster")) {
      experiment.cluster = read_cluster_at(*cluster, Path(top, "cluster"));
    }
  }

  void read_rest(const Json& root, Experiment& experiment) {
    const Path top;
    if (const Json* plan = member(root, "plan"))
      experiment.plan = read_plan(*plan, Path(top, "plan"), scope_);
    if (const Json* sync = member(root, "data_parallel_sync")) {
      read_fields(*sync, sync_fields(), experiment.data_parallel_sync, Path(top, "data_parallel_sync"),
                  scope_);
    }
    if (const Json* software = member(root, "software")) {
      read_fields(*software, software_fields(), experiment.software, Path(top, "software"), scope_);
    }
    if (const Json* options = member(root, "simulation")) {
      read_fields(*options, simulation_fields(), experiment.simulation, Path(top, "simulation"), scope_);
    }
  }

  static std::string default_name(const Experiment& experiment) {
    if (experiment.model.name.empty() || experiment.cluster.name.empty()) return experiment.model.name;
    return experiment.model.name + " on " + experiment.cluster.name;
  }

  Findings findings_;
  Resolver resolver_;
  Scope scope_;
};

}  // namespace

Experiment read_experiment_text(std::string_view text, const std::string& source,
                                const std::vector<std::string>& overrides, const Catalog& catalog,
                                const Menus& menus, const ExperimentUse& use) {
  Document document = parse_document(text, source);
  Json given = std::move(document.value);
  std::vector<Problem> problems;
  std::vector<std::string> set;
  if (!overrides.empty()) set = apply_overrides(given, overrides, problems);
  ExperimentReader reader(catalog, menus);
  Experiment experiment = reader.read(given);
  if (problems.empty()) reader.apply(use, experiment);
  if (!reader.findings().empty()) {
    const auto more =
        located(reader.findings(), {document, source, given, set, reader.resolver().uses(), catalog.data()});
    problems.insert(problems.end(), more.begin(), more.end());
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return experiment;
}

Experiment read_experiment_file(const std::string& path, const std::vector<std::string>& overrides,
                                const Catalog& catalog, const Menus& menus, const ExperimentUse& use) {
  return read_experiment_text(read_text(path), path, overrides, catalog, menus, use);
}

}  // namespace orrery
