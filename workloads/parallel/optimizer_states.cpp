#include "workloads/parallel/optimizer_states.hpp"

#include <algorithm>

#include "workloads/models/blocks.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kScaledTogether = 2048;  // values of an 8-bit moment (Dettmers et al. 2022, section 2)
constexpr Bytes kScale = 4;

std::int64_t moments(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::adam:
    case Optimizer::adam_8bit:
      return 2;
    case Optimizer::lion:
    case Optimizer::sgd_momentum:
      return 1;
    case Optimizer::sgd:
      break;
  }
  return 0;
}

Bytes moment_bytes(const Plan& plan, std::int64_t parameters) {
  if (plan.optimizer == Optimizer::adam_8bit)
    return parameters + kScale * divide_up(parameters, kScaledTogether);
  return divide_up(parameters * bytes_of_32(plan.moment_precision), 32);
}

}  // namespace

Bytes optimizer_state_bytes(const Plan& plan, std::int64_t parameters) {
  const bool copies = element_bytes(plan.precision) < 4 && plan.main_weight_precision;
  const Bytes copy = copies ? divide_up(parameters * bytes_of_32(*plan.main_weight_precision), 32) : 0;
  return copy + moments(plan.optimizer) * moment_bytes(plan, parameters);
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
