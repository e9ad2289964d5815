#include "studies/explain/measured_figures.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "orrery/error.hpp"
#include "studies/explain/account.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_measured(const std::string& source, const std::string& message) {
  throw InputError({Diagnostic{source, 0, 0, "", message}});
}

void require_equal(const std::string& source, const std::optional<double>& said, std::int64_t have,
                   std::string_view things) {
  if (said && std::abs(*said - static_cast<double>(have)) > 0.5)
    refuse_measured(source, fmt::format("found {} {:.0f}, the experiment has {}", things, *said, have));
}

/// The mean step of the ranks that have traces.
double step_of_profiles(const std::vector<Profile>& profiles, std::int64_t gpus) {
  double sum = 0;
  for (const Profile& profile : profiles)
    if (profile.world > 0 && profile.writer != "Nsight Systems")
      require_equal(profile.source, static_cast<double>(profile.world), gpus, "a number of ranks of");
  const std::vector<RankAccount> accounts = account_for(profiles, line_up(profiles));
  for (const RankAccount& account : accounts)
    sum += static_cast<double>(account.step_ns) * 1e-9 / static_cast<double>(account.steps);
  return sum / static_cast<double>(accounts.size());
}

void take_log(const TrainingLog& log, std::int64_t gpus, std::int64_t samples,
              std::map<std::string, double>& to) {
  require_equal(log.source, log.global_batch_size, samples, "a global batch of");
  require_equal(log.source, log.gpus, gpus, "GPUs:");
  if (!log.step_s.values.empty()) {
    to["step_time_s"] = spread_of(log.step_s.settled()).median;
  } else if (!log.samples_per_s.values.empty()) {
    to["samples_per_s"] = spread_of(log.samples_per_s.settled()).median;
  } else {
    to["tokens_per_s"] = spread_of(log.tokens_per_s_per_gpu.settled()).median * static_cast<double>(gpus);
  }
}

}  // namespace

std::map<std::string, double> measured_figures(const Experiment& experiment, const Measurements& measured) {
  const std::int64_t gpus = experiment.plan.gpus();
  std::map<std::string, double> figures;
  if (experiment.inference) {
    for (const ServingMeasurement& one : measured.serving)
      for (const auto& [key, value] : one.figures)
        if (value > 0) figures[key] = value;
  } else if (!measured.profiles.empty()) {
    figures["step_time_s"] = step_of_profiles(measured.profiles, gpus);
  } else if (measured.training.size() == 1) {
    take_log(measured.training.front(), gpus, experiment.plan.global_batch_size, figures);
  } else if (measured.training.size() > 1) {
    refuse_measured(measured.training[1].source,
                    "is a second log of one run, allowed one: name the experiment of this log before it");
  }
  if (!figures.empty()) return figures;
  if (!measured.collectives.empty())
    refuse_measured(measured.collectives.front().source,
                    "holds collectives alone, allowed times of steps: orrery explain --calibrate says which "
                    "efficiency of links they imply");
  const std::string source = measured.serving.empty() ? "measurements" : measured.serving.front().source;
  refuse_measured(source, experiment.inference ? "holds no figures of requests, which the experiment serves"
                                               : "holds figures of requests, but the experiment trains");
}

}  // namespace orrery
