// Lists the numbers of an experiment that a calibration may give, by key: read and changed in an experiment
// that is validated already. Used by whatever fits constants to measurements.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "orrery/experiment.hpp"

namespace orrery {

/// Says between which values a constant is what its key says, and why.
struct PhysicalInterval {
  std::string_view key;  ///< dotted, of an experiment
  double least = 0;
  double most = 0;
  std::string_view meaning;
};

/// Returns the interval of the constant with that key; null where its range is all that is known.
[[nodiscard]] const PhysicalInterval* physical_interval(std::string_view key);

struct Constant {
  using Member = std::variant<double Software::*, double Gpu::*, double NodeWiring::*, double Fabric::*>;

  std::string key;        ///< dotted, of an experiment, such as cluster.node.base_latency_us
  std::string_view name;  ///< the name in a calibration: the last part of the key
  std::string_view part;  ///< whose calibrations have it: gpu, node, fabric or software
  std::string_view unit;
  double minimum = 0;  ///< a fit goes no lower: the physical interval, or what an experiment may say
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
