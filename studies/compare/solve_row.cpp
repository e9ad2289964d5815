#include "studies/compare/solve_row.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/experiment_keys.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "studies/compare/figures.hpp"
#include "studies/compare/target.hpp"

namespace orrery {
namespace {

/// A number of the experiment as it was read, and whether it is a whole one.
struct FirstValue {
  double value = 1;
  bool whole = false;
};

FirstValue first_value(const std::string& key, const LocatedExperiment& read) {
  std::string pointer = "/" + key;
  std::ranges::replace(pointer, '.', '/');
  const auto all = nlohmann::json::parse(read.positions.resolved(read.experiment), nullptr, true, true);
  const nlohmann::json::json_pointer at(pointer);
  if (!all.contains(at)) return {};
  const nlohmann::json& value = all[at];
  if (!value.is_number())
    throw InputError(
        {Diagnostic{"command line", 0, 0, "",
                    "--solve: found " + key + " " + value.dump() + ", allowed a key with a number"}});
  const double number = value.get<double>();
  return {number > 0 ? number : 1, value.is_number_integer()};
}

/// The figure called `name`. @throws InputError where no row has such a figure.
std::optional<double> figure_of(const ComparedRow& row, const std::string& name) {
  const std::vector<NamedFigure> figures = all_figures(row);
  const auto found = std::ranges::find(figures, name, &NamedFigure::name);
  if (found != figures.end()) return found->value;
  std::vector<std::string_view> names;
  for (const NamedFigure& figure : figures) names.push_back(figure.name);
  names.push_back("utilization");
  throw InputError({Diagnostic{
      "command line", 0, 0, "",
      "--for: found " + quote(name) + ", allowed a name of the CSV's header" + hint(name, names)}});
}

std::optional<double> figure_at(const ComparisonRequest& request, const ExperimentText& experiment,
                                std::vector<std::string> overrides, const std::string& value) {
  overrides.push_back(request.solve->key + "=" + value);
  ComparedRow row;
  try {
    const LocatedExperiment located =
        read_experiment_text(experiment.text, experiment.source, overrides, request.catalog, request.menus);
    Figures figures;
    figures.long_run = located.experiment.run != nullptr;
    row.report = simulate(located.experiment, figures);
    row.target = target_of(located.experiment, *row.report);
  } catch (const InputError&) {
    return std::nullopt;
  } catch (const RunError&) {
    return std::nullopt;
  }
  return figure_of(row, request.solve->figure);
}

}  // namespace

void check_solved_key(const ComparisonRequest& request) {
  const std::string& key = request.solve->key;
  const std::vector<std::string> known = experiment_keys();
  const auto refuse = [](const std::string& message) {
    throw InputError({Diagnostic{"command line", 0, 0, "", "--solve: found " + message}});
  };
  if (std::ranges::find(known, key) == known.end())
    refuse(quote(key) + ", allowed a key of an experiment" + hint(key, views(known)));
  const auto varied = [&key](const SpaceKey& variation) { return variation.key == key; };
  if (std::ranges::any_of(request.variations, varied))
    refuse(quote(key) + ", which --vary has too, allowed in one");
}

std::string solve_row(const ComparisonRequest& request, const ExperimentText& experiment,
                      const std::vector<std::string>& overrides) {
  const LocatedExperiment located =
      read_experiment_text(experiment.text, experiment.source, overrides, request.catalog, request.menus);
  const FirstValue first = first_value(request.solve->key, located);
  const auto at = [&](const std::string& value) { return figure_at(request, experiment, overrides, value); };
  return solve(*request.solve, first.value, first.whole, at);
}

}  // namespace orrery
