// Lists the numbers of an experiment that a calibration may give, by key: read and changed in an experiment
// that is validated already. Used by whatever fits constants to measurements.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "orrery/experiment.hpp"

namespace orrery {

struct Constant {
  using Member = std::variant<double Software::*, double Gpu::*, double NodeWiring::*, double Fabric::*>;

  std::string key;        ///< dotted, of an experiment, such as cluster.node.base_latency_us
  std::string_view name;  ///< the name in a calibration: the last part of the key
  std::string_view part;  ///< whose calibrations have it: gpu, node, fabric or software
  std::string_view unit;
  double minimum = 0;
  double maximum = 0;
  Member member;

  [[nodiscard]] double get(const Experiment& experiment) const;
  /// `value` lies within the range. No other value of an experiment is derived from such a constant.
  void set(Experiment& experiment, double value) const;
};

/// The constant with that key. @throws InputError for any other key, with the reason: integers and flags,
/// for one, cannot be changed by small steps.
Constant constant_named(std::string_view key);

}  // namespace orrery
