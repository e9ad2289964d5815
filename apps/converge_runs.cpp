#include "apps/converge_runs.hpp"

#include <algorithm>

#include "apps/calibration_files.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/run/run.hpp"
#include "studies/compare/variations.hpp"
#include "workloads/sync/sync_layout.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMaxCurves = 26;

[[noreturn]] void refuse_runs(const std::string& message) {
  throw InputError({Problem{"command line", 0, 0, "", message}});
}

using Overrides = std::vector<std::string>;

ConvergenceSetup setup_of(const Experiment& experiment, unsigned threads) {
  // A worker learns from as much with every method, so all-reduce has nodes for workers too.
  const SyncWorkers workers = workers_at(experiment.data_parallel_sync.level, experiment);
  ConvergenceSetup setup;
  setup.problem = experiment.problem;
  setup.sync = experiment.data_parallel_sync;
  setup.workers = workers.workers;
  setup.workers_per_node = workers.workers_per_node;
  setup.seed = experiment.simulation.seed;
  setup.threads = threads;
  return setup;
}

/// The values that tell a variation from its siblings, or the name of its experiment, or both.
std::string label_of(const std::string& name, const Overrides& values, bool several_files) {
  std::string varied;
  for (const std::string& value : values) {
    varied += (varied.empty() ? "" : ", ") + value.substr(value.rfind('.', value.find('=')) + 1);
  }
  if (varied.empty()) return name;
  return several_files ? name + ": " + varied : varied;
}

}  // namespace

std::vector<ConvergenceCurve> run_convergence(const ConvergeArguments& arguments) {
  std::vector<Variation> variations;
  for (const std::string& text : arguments.variations) variations.push_back(parse_variation(text));
  const std::size_t count = count_combinations(variations, kMaxCurves);
  if (arguments.experiments.size() * count > kMaxCurves) refuse_runs("more than 26 curves");
  if (std::ranges::count(arguments.experiments, "-") > 1) refuse_runs("standard input is named twice");
  const Catalog catalog = catalog_with(arguments.calibrations);
  const Menus names = menus();
  std::vector<ConvergenceCurve> runs;
  for (const std::string& file : arguments.experiments) {
    const std::string text = read_text(file);
    for (std::size_t index = 0; index < count; ++index) {
      Overrides values = combination(variations, index);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = variations[i].key + "=" + values[i];
      Overrides overrides = arguments.overrides;
      overrides.insert(overrides.end(), values.begin(), values.end());
      ConvergenceCurve one;
      one.experiment =
          read_experiment_text(text, file, overrides, catalog, names, [&](const Experiment& experiment) {
            one.run = converge(setup_of(experiment, arguments.threads));
            const Report report = simulate(experiment);
            one.step_time_s = report.step_time_s();
            one.feasible = report.feasible;
          });
      one.label = label_of(one.experiment.name, values, arguments.experiments.size() > 1);
      runs.push_back(std::move(one));
    }
  }
  return runs;
}

}  // namespace orrery
