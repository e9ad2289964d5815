// Reads an experiment: JSON or YAML, catalog names and bases resolved, overrides applied, validated.
// The only way from text to an Experiment; used by the command line, tests and bindings.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

/// Work on a validated experiment. An InputError it throws, such as from building the topology, is
/// reported like the reader's own findings: with source, line and column of its pointer.
using ExperimentUse = std::function<void(const Experiment&)>;

/// `overrides` are KEY=VALUE with dotted keys, applied in order. `source` names the text in problems; one
/// that ends in .yaml or .yml may hold a YAML flow mapping. Throws InputError with all problems found.
Experiment read_experiment_text(std::string_view text, const std::string& source,
                                const std::vector<std::string>& overrides, const Catalog& catalog,
                                const Menus& menus, const ExperimentUse& use = {});

/// The same for the file at `path`; "-" is standard input.
Experiment read_experiment_file(const std::string& path, const std::vector<std::string>& overrides,
                                const Catalog& catalog, const Menus& menus, const ExperimentUse& use = {});

/// Reads one experiment after the other, such as the plans of a search. Models, clusters and software that
/// are as in the one before are not read again, nor is anything where the plan alone differs. One thread at a
/// time; the catalog stays where it is.
class ExperimentSeries {
 public:
  ExperimentSeries(const Catalog& catalog, Menus menus, std::vector<std::string> overrides);
  ~ExperimentSeries();
  ExperimentSeries(ExperimentSeries&&) noexcept;

  /// As read_experiment_text().
  Experiment read(std::string_view text, const std::string& source, const ExperimentUse& use = {});

 private:
  struct Latest;
  const Catalog* catalog_;
  Menus menus_;
  std::vector<std::string> overrides_;
  std::unique_ptr<Latest> latest_;
};

}  // namespace orrery
