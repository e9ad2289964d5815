#include "apps/converge_runs.hpp"

#include <algorithm>

#include "apps/calibration_files.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/io/read_experiment.hpp"
#include "sim/run/run.hpp"
#include "workloads/synchronization/sync_layout.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMaxCurves = 26;

[[noreturn]] void refuse(const std::string& message) {
  throw InputError({Problem{"command line", 0, 0, "", message}});
}

using Overrides = std::vector<std::string>;

/// Where the value that begins at `begin` ends: at a comma outside brackets and strings.
std::size_t end_of_value(const std::string& text, std::size_t begin) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) return i;
  }
  return text.size();
}

/// "a.b=1,2" as "a.b=1" and "a.b=2".
Overrides values_of(const std::string& variation) {
  const auto equals = variation.find('=');
  if (equals == std::string::npos || equals == 0) {
    refuse("--vary: found \"" + variation + "\", allowed KEY=VALUE,VALUE,...");
  }
  Overrides out;
  for (std::size_t begin = equals + 1; begin <= variation.size();) {
    const std::size_t end = end_of_value(variation, begin);
    out.push_back(variation.substr(0, equals + 1) + variation.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// Every combination of the values, the last key running fastest.
std::vector<Overrides> combinations(const std::vector<std::string>& variations) {
  std::vector<Overrides> all{{}};
  for (const std::string& variation : variations) {
    std::vector<Overrides> longer;
    for (const Overrides& before : all) {
      for (const std::string& value : values_of(variation)) {
        longer.push_back(before);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
    if (all.size() > kMaxCurves) refuse("--vary: more than 26 combinations");
  }
  return all;
}

ConvergenceSetup setup_of(const Experiment& experiment, unsigned threads) {
  const SyncWorkers workers = sync_workers(experiment);
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
  const std::vector<Overrides> variations = combinations(arguments.variations);
  if (arguments.experiments.size() * variations.size() > kMaxCurves) refuse("more than 26 curves");
  const Catalog catalog = catalog_with(arguments.calibrations);
  const Menus names = menus();
  std::vector<ConvergenceCurve> runs;
  for (const std::string& file : arguments.experiments) {
    for (const Overrides& values : variations) {
      Overrides overrides = arguments.overrides;
      overrides.insert(overrides.end(), values.begin(), values.end());
      ConvergenceCurve one;
      one.experiment =
          read_experiment_file(file, overrides, catalog, names, [&](const Experiment& experiment) {
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
