#include "workloads/weights/optimizer_states.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/models/blocks.hpp"
#include "workloads/programs/fsdp_shards.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kScaledTogether = 2048;  // values of an 8-bit moment (Dettmers et al. 2022, section 2)
constexpr Bytes kScale = 4;

std::int64_t moments(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::adam:
    case Optimizer::adam_8bit:
      return 2;
    case Optimizer::muon:  // matrices; muon.hpp counts the states of other parameters
    case Optimizer::lion:
    case Optimizer::sgd_momentum:
      return 1;
    case Optimizer::sgd:
      break;
  }
  return 0;
}

}  // namespace

Bytes main_weight_bytes(const Plan& plan, std::int64_t parameters) {
  const bool copies = element_bytes(plan.precision) < 4 && plan.main_weight_precision;
  return copies ? divide_up(parameters * bytes_of_32(*plan.main_weight_precision), 32) : 0;
}

Bytes moment_bytes(const Plan& plan, std::int64_t parameters) {
  const Bytes one = plan.optimizer == Optimizer::adam_8bit
                        ? parameters + kScale * divide_up(parameters, kScaledTogether)
                        : divide_up(parameters * bytes_of_32(plan.moment_precision), 32);
  return moments(plan.optimizer) * one;
}

Bytes optimizer_state_bytes(const Plan& plan, std::int64_t parameters) {
  return main_weight_bytes(plan, parameters) + moment_bytes(plan, parameters);
}

std::int64_t offloaded_parameters(const Plan& plan, std::int64_t owned) {
  if (plan.offload != Offload::optimizer) return 0;
  return static_cast<std::int64_t>(std::ceil(plan.offload_fraction * static_cast<double>(owned)));
}

Bytes update_memory(const Experiment& experiment, std::int64_t parameters) {
  const Software& software = experiment.software;
  const bool narrow = element_bytes(experiment.plan.precision) < 4 && held_gradient_bytes(experiment) < 4;
  if (!narrow || experiment.data_parallel_sync.method != SyncMethod::all_reduce) return 0;
  const double group = experiment.plan.zero_stage == 3 ? software.update_group_parameters : 0;
  const auto all = static_cast<double>(parameters);
  return static_cast<Bytes>(software.update_gradient_bytes * (group > 0 ? std::min(group, all) : all) + 0.5);
}

double update_bytes_per_parameter(const Experiment& experiment) {
  constexpr std::int64_t kMany = kScaledTogether;
  Plan usual;
  usual.precision = experiment.plan.precision;
  const Bytes more = optimizer_state_bytes(experiment.plan, kMany) - optimizer_state_bytes(usual, kMany);
  return std::max(0.0, experiment.software.optimizer_bytes_per_parameter +
                           2 * static_cast<double>(more) / static_cast<double>(kMany));
}

}  // namespace orrery
