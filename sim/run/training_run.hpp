// A step of training, as short as it can be told from: passes that only repeat are simulated once.
#pragma once

#include "orrery/report.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/prepared_experiment.hpp"

namespace orrery {

/// @throws as simulate()
[[nodiscard]] Report simulate_training(const PreparedExperiment& prepared, const Figures& figures,
                                       Memo& memo);

}  // namespace orrery
