// Runs a step again with some of its operations slower, as a measured run had them, and with one of these
// causes mended: the difference is what mending it would gain.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/run/run.hpp"
#include "studies/explain/measured/kernel_names.hpp"

namespace orrery {

/// Holds factors on the durations of operations, 1 where they are as simulated.
struct Slowdowns {
  std::array<double, kComputeUses> kernels{};      ///< by KernelUse
  std::array<double, kDimensionCount> messages{};  ///< by Dimension
  std::map<std::int64_t, double> ranks;            ///< of all kernels of some ranks
  double interference = -1;                        ///< share of its pace that compute loses; -1: as simulated

  Slowdowns() {
    kernels.fill(1);
    messages.fill(1);
  }
};

class Replay {
 public:
  explicit Replay(const Experiment& experiment) : experiment_(experiment) {}

  /// Returns the time of a step. Transfers that share links are not solved anew: each takes as long as it
  /// did, times its factor.
  [[nodiscard]] Picoseconds step_ps(const Slowdowns& slowdowns);

 private:
  [[nodiscard]] const Run& run_with(const Slowdowns& slowdowns);

  Experiment experiment_;
  using RunKey = std::pair<std::map<std::int64_t, double>, double>;  ///< slow ranks and interference
  std::map<RunKey, std::unique_ptr<const Run>> runs_;
};

}  // namespace orrery
