// Finds the value of a key at which a figure reaches a given value, by bisection on numbers of three
// significant digits. It knows keys and figures by name alone; the caller computes the figure at a value of
// the key.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace orrery {

struct Solve {
  std::string key;     ///< dotted, of an experiment, with a number
  std::string figure;  ///< of a row: a name of the CSV's header
  double value = 0;    ///< that the figure is to reach
};

/// `wanted`: FIGURE=VALUE; the figure utilization is utilization.gpu_mean. @throws InputError
[[nodiscard]] Solve parse_solve(const std::string& key, std::string_view wanted);

/// The figure where the key has the value, as an override has it; nothing where the experiment cannot have
/// it.
using FigureAt = std::function<std::optional<double>(const std::string& value)>;

/// The least number of three significant digits, or the least whole number up to 1000, at which the figure
/// has reached the value on the way up. The search begins at `start`, where the figure is known.
/// @throws InputError if the figure does not get there, or goes up and down on the way.
[[nodiscard]] std::string solve(const Solve& solve, double start, bool whole, const FigureAt& figure_at);

}  // namespace orrery
