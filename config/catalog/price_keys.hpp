// Lists the keys of an experiment that prices depend on: bandwidths, peaks, latencies, times of kernels and
// of the host. Callers use it to ask for the effect of faster hardware.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

struct PriceKey {
  std::string key;  ///< dotted, such as cluster.fabric.nic_gbps
  std::string_view unit;
  bool is_rate = false;  ///< a bandwidth or a peak, else a time
  double minimum = 0;
  double maximum = 0;
  /// The number itself, in a validated experiment with the same groups, links and sites. No other value of an
  /// experiment is derived from it.
  std::function<double&(Experiment&)> in;

  [[nodiscard]] double best() const { return is_rate ? maximum : minimum; }
};

/// Returns all price keys of `experiment`. GPUs of a mixed cluster are those of the first group of each kind,
/// links of explicit graphs and lines between sites have their number in the list.
[[nodiscard]] std::vector<PriceKey> price_keys(const Experiment& experiment);

/// Returns the keys called `names`. @throws InputError for a name that is no price key, with its actual
/// meaning and the nearest key.
[[nodiscard]] std::vector<PriceKey> price_keys_named(const Experiment& experiment,
                                                     const std::vector<std::string>& names);

}  // namespace orrery
