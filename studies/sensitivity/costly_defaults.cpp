#include "studies/sensitivity/costly_defaults.hpp"

#include <fmt/format.h>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"

namespace orrery {
namespace {

/// A key that is off and the value that turns it on.
struct Change {
  const char* key;
  const char* what;  ///< that is so without it
  bool (*is_off)(const Experiment&);
};

bool trains_layers(const Experiment& e) { return !e.inference && e.model.attends(); }

constexpr Change kChanges[]{
    {"plan.sequence_parallel=true", "tensor ranks each compute norms and dropout of all tokens",
     [](const Experiment& e) { return e.plan.tensor_parallel > 1 && !e.plan.sequence_parallel; }},
    {"plan.overlap_gradient_reduce=true", "gradients travel when the backward passes are over",
     [](const Experiment& e) { return e.plan.data_parallel > 1 && !e.plan.overlap_gradient_reduce; }},
    {"plan.overlap_parameter_gather=true", "parameters are gathered before the first pass",
     [](const Experiment& e) {
       return e.plan.zero_stage > 0 && e.plan.data_parallel > 1 && !e.plan.overlap_parameter_gather;
     }},
    {"model.attention=flash", "attention writes its scores to memory",
     [](const Experiment& e) { return e.model.attention != Attention::flash; }},
    {"software.cudnn_attention=true", "the stack's attention kernel is older than the GPU",
     [](const Experiment& e) {
       const bool older = e.software.flash_version == 1 || e.software.flash_version == 2;
       return older && !e.software.cudnn_attention && e.cluster.gpu.flash3_efficiency > 0;
     }},
};

}  // namespace

std::vector<std::string> costly_defaults(
    const Experiment& experiment, const Report& report,
    const std::function<Experiment(const std::string& override)>& changed) {
  constexpr std::uint64_t kMostTasks = 1'000'000;
  constexpr std::int64_t kMostGpus = 65'536;
  constexpr double kWorthSaying = 0.02;
  std::vector<std::string> sentences;
  if (!trains_layers(experiment) || !report.feasible || report.asynchrony ||
      report.stats.tasks > kMostTasks || report.gpus > kMostGpus)
    return sentences;
  Simulator simulator;
  for (const Change& change : kChanges) {
    if (!change.is_off(experiment)) continue;
    try {
      constexpr Figures kTimeAlone{false, false, false, false, false, false};
      const Report faster = simulator.simulate(changed(change.key), kTimeAlone);
      const double gain = 1 - faster.step_time_s() / report.step_time_s();
      if (faster.feasible && gain >= kWorthSaying)
        sentences.push_back(fmt::format("{}: with {} a step takes {:.4g} s, {:.0f} % less", change.what,
                                        change.key, faster.step_time_s(), 100 * gain));
    } catch (const InputError&) {  // which this plan cannot have
    }
  }
  return sentences;
}

}  // namespace orrery
