#include "apps/converge_runs.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "apps/calibration_files.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "orrery/require_training.hpp"
#include "orrery/simulate.hpp"
#include "planner/space/space_key.hpp"
#include "sim/run/run.hpp"
#include "workloads/communicators/communicator_layout.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMaxCurves = 26;
constexpr std::size_t kMaxCombinations = 1000;  ///< of which many may be alike

[[noreturn]] void refuse_runs(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

using Overrides = std::vector<std::string>;

/// Returns the speed of the slowest GPU of each worker; empty if all are alike.
std::vector<double> worker_speeds(const Experiment& experiment, const SyncWorkers& workers) {
  if (experiment.cluster.overrides.empty()) return {};
  const RankGrid grid(experiment.plan);
  std::vector<double> speeds(workers.workers, std::numeric_limits<double>::max());
  for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) {
    double speed = 1;  // later overrides win
    for (const GpuOverride& slow : experiment.cluster.overrides)
      if (rank >= slow.first_gpu && rank < slow.first_gpu + slow.gpus) speed = slow.speed;
    double& of_worker =
        speeds[static_cast<std::size_t>(grid.place(rank, Axis::data)) / workers.replicas_per_worker];
    of_worker = std::min(of_worker, speed);
  }
  return speeds;
}

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
  setup.speeds = worker_speeds(experiment, workers);
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

/// A combination of values for one experiment, before it runs.
struct Job {
  std::string file;
  const std::string* text = nullptr;
  std::vector<std::string> values;  ///< one per variation; "" where the key does nothing
  Overrides overrides;
};

/// Everything that jobs have in common.
struct Setting {
  const ConvergeArguments& arguments;
  std::vector<SpaceKey> variations;
  Catalog catalog;
  Menus menus;

  [[nodiscard]] LocatedExperiment read(const Job& job) const {
    return read_experiment_text(*job.text, job.file, job.overrides, catalog, menus);
  }
};

/// Leaves out varied keys that have no effect beside the other values. The run reports all other errors.
void settle_values(Job& job, const Setting& setting) {
  for (bool again = true; again;) {
    job.overrides = setting.arguments.overrides;
    std::ranges::move(overrides_of(setting.variations, job.values), std::back_inserter(job.overrides));
    again = false;
    try {
      static_cast<void>(setting.read(job));
    } catch (const InputError& error) {
      again = drop_idle(error.diagnostics(), setting.variations, job.values);
    }
  }
}

/// Every combination once, as the values that do something tell them apart.
std::vector<Job> jobs_of(const Setting& setting, const std::vector<std::string>& texts) {
  const std::vector<std::string>& files = setting.arguments.experiments;
  const std::size_t count = count_combinations(setting.variations, kMaxCombinations);
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t index = 0; index < count; ++index) {
      Job job{files[i], &texts[i], combination(setting.variations, index), {}};
      settle_values(job, setting);
      const auto same = [&](const Job& other) {
        return other.text == job.text && other.overrides == job.overrides;
      };
      if (std::ranges::none_of(jobs, same)) jobs.push_back(std::move(job));
    }
  }
  if (jobs.size() > kMaxCurves) refuse_runs("more than 26 curves");
  return jobs;
}

ConvergenceCurve run_job(const Job& job, const Setting& setting) {
  LocatedExperiment read = setting.read(job);
  ConvergenceCurve one;
  read.apply([&](const Experiment& experiment) {
    require_training(experiment, "losses");
    one.run = converge(setup_of(experiment, setting.arguments.threads));
    const Report report = simulate(experiment);
    one.step_time_s = report.step_time_s();
    one.feasible = report.feasible;
  });
  one.experiment = std::move(read.experiment);
  one.label = label_of(one.experiment.name, overrides_of(setting.variations, job.values),
                       setting.arguments.experiments.size() > 1);
  return one;
}

}  // namespace

std::vector<ConvergenceCurve> run_convergence(const ConvergeArguments& arguments,
                                              const ConvergenceProgress& progress) {
  Setting setting{arguments, {}, catalog_with(arguments.calibrations), menus()};
  for (const std::string& text : arguments.variations) setting.variations.push_back(parse_space_key(text));
  if (std::ranges::count(arguments.experiments, "-") > 1) refuse_runs("standard input is named twice");
  std::vector<std::string> texts;
  for (const std::string& file : arguments.experiments) texts.push_back(read_text(file));
  const std::vector<Job> jobs = jobs_of(setting, texts);
  std::vector<ConvergenceCurve> runs;
  for (const Job& job : jobs) {
    if (progress) progress(runs.size(), jobs.size());
    runs.push_back(run_job(job, setting));
  }
  return runs;
}

}  // namespace orrery
