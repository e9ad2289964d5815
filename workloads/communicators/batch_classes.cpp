#include "workloads/communicators/batch_classes.hpp"

#include <algorithm>

namespace orrery {

BatchClasses batch_classes(const Plan& plan) {
  BatchClasses classes;
  for (const std::int64_t samples : plan.replica_batch_sizes) {
    const auto known = std::ranges::find(classes.samples, samples);
    classes.of_replica.push_back(static_cast<std::uint32_t>(known - classes.samples.begin()));
    if (known == classes.samples.end()) classes.samples.push_back(samples);
  }
  return classes;
}

}  // namespace orrery
