// Lines a measured run up with the simulated one and attributes the difference.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/run/run.hpp"
#include "studies/explain/account.hpp"
#include "studies/explain/explanation.hpp"
#include "studies/explain/measured/measured.hpp"

namespace orrery {

/// Holds both runs for drawing: ranks in the order of the measured profiles.
struct ExplainedTimelines {
  struct Lane {
    std::int64_t rank = 0;
    std::string side;  ///< "measured" or "simulated"
    std::vector<LaneStretch> stretches;
  };
  std::vector<Lane> lanes;  ///< measured and simulated in turn
  std::vector<Profile> simulated;
  std::vector<std::int64_t> clock_ahead_ns;  ///< of measured ranks
  std::int64_t begin_ns = 0;                 ///< of the last measured step, on the clock of the first rank
};

/// Explains profiles where there are some, else logs of steps; collectives and requests beside them.
/// @param timelines  set where there are profiles, if asked for
/// @throws InputError where measurements cannot be of the experiment, and as simulate()
[[nodiscard]] Explanation explain(const Experiment& experiment, const Measurements& measured,
                                  ExplainedTimelines* timelines = nullptr);

/// Returns the profiles that PyTorch's profiler would have made of some ranks of a simulated run.
[[nodiscard]] std::vector<Profile> profiles_of(const Run& run, const Plan& plan,
                                               const std::vector<std::uint32_t>& ranks);
[[nodiscard]] std::vector<Profile> simulated_profiles(const Experiment& experiment,
                                                      const std::vector<std::uint32_t>& ranks);

}  // namespace orrery
