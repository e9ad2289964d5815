// Turns a document with its overrides into a validated experiment. Internal to config/.
#pragma once

#include <string>
#include <vector>

#include "config/catalog/resolve.hpp"
#include "config/experiment/read_parts.hpp"
#include "config/schema/field.hpp"
#include "config/schema/menus.hpp"
#include "config/text/findings.hpp"
#include "config/text/json.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

/// Holds a part of an experiment without a mistake, and the JSON it was read from.
template <class Part>
struct KnownPart {
  Json given = Json(Json::value_t::discarded);  ///< discarded: none yet
  Part part;
};

/// Keeps the parts that were read last, for the next experiment.
struct KnownParts {
  KnownPart<Experiment> frame;  ///< of all but the plan
  KnownPart<Model> model;
  KnownPart<Cluster> cluster;
  KnownPart<Software> software;
  std::string stack;  ///< of the software
};

/// Reads the parts of one document; the catalog uses stay for the error report.
class ExperimentReader {
 public:
  /// `known`: parts read before, and to be kept for the next; null: none.
  ExperimentReader(const Catalog& catalog, const Menus& menus, KnownParts* known = nullptr)
      : resolver_(catalog.data(), findings_), scope_{menus, findings_}, known_(known) {}

  /// `set`: pointers that the command line set. The experiment is valid if there are no findings.
  Experiment read(const Json& root, const std::vector<std::string>& set);

  /// The keys of the cluster of a valid document, names and bases resolved.
  Json cluster_keys(const Json& root);

  /// The cluster of a document without a model, which is at /cluster in it.
  Cluster read_cluster_alone(const Json& given);

  /// Checks the keys that `root` has, each part by itself; missing keys and relations between parts are not
  /// checked.
  void check_parts(const Json& root);

  [[nodiscard]] const Findings& findings() const { return findings_; }
  [[nodiscard]] const Resolver& resolver() const { return resolver_; }

 private:
  /// Reads the parts; if only the plan is new, as in a search, the plan alone is read.
  Experiment read_parts(const Json& root);
  Experiment read_plan_alone(const Json& root);
  Experiment read_all_parts(const Json& root);
  void refuse_post_training(const Json& root);
  bool refuse_jobs(const Json& root);
  Plan plan_of(const Json& root);
  template <class Part, class Read>
  void take(KnownPart<Part> KnownParts::*of, const Json& given, Part& part, Read read);
  void read_hardware_and_model(const Json& root, Experiment& experiment);
  template <class Part>
  void check_part(const Json& root, const Path& path, std::string_view key,
                  const std::vector<Field<Part>>& fields);
  template <class Part>
  void check_entry(CatalogKind kind, const Json& root, const Path& path, std::string_view key,
                   const std::vector<Field<Part>>& fields);
  template <class Part>
  void check_wiring(const Json& root, const Path& path, std::string_view key,
                    const std::vector<Field<Part>>& fields);
  Cluster read_cluster_at(const Json& given, const Path& path);
  void calibrate_parts(Json& cluster, const Path& path);
  void calibrate_part(Json& owner, std::string_view part, const Path& path);
  void read_rest(const Json& root, Experiment& experiment);
  void read_training(const Json& value, Training& training, const Path& path);
  void read_software(const Json& root, Experiment& experiment);
  bool choose_stack(Experiment& experiment, bool serves, const Path& path);
  void complete_steps(Experiment& experiment);

  Findings findings_;
  Resolver resolver_;
  Scope scope_;
  KnownParts* known_;
};

}  // namespace orrery
