// Reads an experiment: JSON or YAML, catalog names and bases resolved, overrides applied, validated.
// The only way from text to an Experiment; used by the command line, tests and bindings.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

struct ParsedExperiment;

/// Knows the text positions of an experiment's values, for problems that are found after it was read. Copies
/// share them.
class ExperimentPositions {
 public:
  /// `error` with source, line and column of its pointers, such as from building the topology. Problems that
  /// name a source of their own stay as they are.
  [[nodiscard]] InputError located(const InputError& error) const;
  /// Values of `experiment`, which was read from here, that are allowed and yet hardly meant.
  [[nodiscard]] std::vector<Diagnostic> warnings(const Experiment& experiment) const;
  /// The whole of `experiment` as JSON with every default, and comments that say where values came from.
  /// Reading it gives an equal experiment.
  [[nodiscard]] std::string resolved(const Experiment& experiment) const;
  /// The experiment that is read from here with one more KEY=VALUE. @throws InputError as reading it does
  [[nodiscard]] Experiment changed(const std::string& override) const;

 private:
  friend class ExperimentSeries;
  struct Reading;
  explicit ExperimentPositions(std::shared_ptr<const Reading> reading) : reading_(std::move(reading)) {}
  std::shared_ptr<const Reading> reading_;
};

/// A validated experiment, and where its values stand.
struct LocatedExperiment {
  Experiment experiment;
  ExperimentPositions positions;

  /// Returns `use` of the experiment; an InputError that it throws gets its positions.
  template <class Use>
  auto apply(Use use) const {
    try {
      return use(experiment);
    } catch (const InputError& error) {
      throw positions.located(error);
    }
  }
};

/// `overrides` are KEY=VALUE with dotted keys, applied in order. `source` names the text in problems; one
/// that ends in .yaml or .yml may hold a YAML flow mapping. Throws InputError with all problems found.
LocatedExperiment read_experiment_text(std::string_view text, const std::string& source,
                                       const std::vector<std::string>& overrides, const Catalog& catalog,
                                       const Menus& menus);

/// Reads the file at `path`; "-" is standard input.
LocatedExperiment read_experiment_file(const std::string& path, const std::vector<std::string>& overrides,
                                       const Catalog& catalog, const Menus& menus);

/// Checks overrides as far as that is possible without an experiment: syntax, keys, names, types and ranges.
/// @throws InputError with all errors.
void check_overrides(const std::vector<std::string>& overrides, const Catalog& catalog, const Menus& menus);

/// Identifies an experiment; it is set for wrong ones too, as long as they are JSON or YAML.
struct ExperimentLabel {
  std::string name;  ///< "" where the text gives none
  std::string id;    ///< JSON of the key `id`, a text or an integer; "" where there is none
};

/// Reads one experiment after the other, such as the plans of a search. Models, clusters and software that
/// are as in the one before are not read again, nor is anything where the plan alone differs. One thread at a
/// time.
class ExperimentSeries {
 public:
  /// `remembers`: keeps parsed parts for the next experiment.
  ExperimentSeries(const Catalog& catalog, Menus menus, std::vector<std::string> overrides,
                   bool remembers = true);
  ~ExperimentSeries();
  ExperimentSeries(ExperimentSeries&&) noexcept;

  /// Reads an experiment as read_experiment_text() does. `label`, if given, is set even if the experiment is
  /// wrong.
  LocatedExperiment read(std::string_view text, const std::string& source, ExperimentLabel* label = nullptr);

  /// Reads texts from programs: errors are found several times as fast, and are located by JSON pointer only.
  /// @throws InputError without sources, lines and columns
  Experiment read_without_positions(std::string_view text);

 private:
  struct Setting;
  struct Latest;
  friend class ExperimentPositions;
  [[nodiscard]] std::optional<ChosenPlan> choose(const ParsedExperiment& parsed,
                                                 const std::string& source) const;
  std::shared_ptr<const Setting> setting_;
  std::unique_ptr<Latest> latest_;
};

}  // namespace orrery
