// Shows which parameters would make a step faster: derivatives of its time by the numbers that prices are
// made of, along its critical path, from one simulation and the prices of its tasks at other values. Knows
// nothing of keys.
#pragma once

#include <functional>
#include <memory>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

/// A bandwidth or a peak (operations take as long as one over it), or a time that they take.
struct PriceParameter {
  bool is_rate = false;
  double value = 0;  ///< of the experiment
  double best = 0;   ///< greatest rate or least time that an experiment may have
  std::function<void(Experiment&, double)> set;
};

/// Figures of a WhatIf, all but its key and unit.
class Sensitivity {
 public:
  /// Simulates the experiment, with "auto" values of its plan chosen once and for all.
  /// @throws InputError if its workers are asynchronous, and as simulate()
  explicit Sensitivity(const Experiment& experiment);
  ~Sensitivity();
  Sensitivity(Sensitivity&&) noexcept;

  /// Returns how the step depends on `parameter`; the share is 0 if the critical path does not.
  [[nodiscard]] WhatIf of(const PriceParameter& parameter);
  /// Returns true if no transfer of the path is slowed by others, so that lengths of the path are exact.
  [[nodiscard]] bool exact() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace orrery
