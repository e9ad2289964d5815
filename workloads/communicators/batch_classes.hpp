// Replicas with unequally many samples: those with as many are of one class and run the same programs.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

struct BatchClasses {
  std::vector<std::int64_t> samples;      ///< per class, in order of appearance
  std::vector<std::uint32_t> of_replica;  ///< per replica; empty where all have as many
};

[[nodiscard]] BatchClasses batch_classes(const Plan& plan);

/// Calls `use` with an experiment per class, in which all replicas have as many samples as those of the
/// class.
template <class Use>
void for_each_batch_class(const Experiment& experiment, Use use) {
  if (experiment.plan.replica_batch_sizes.empty()) return use(experiment);
  for (const std::int64_t samples : batch_classes(experiment.plan).samples) {
    Experiment one = experiment;
    one.plan.replica_batch_sizes.clear();
    one.plan.global_batch_size = samples * one.plan.data_parallel;
    use(one);
  }
}

}  // namespace orrery
