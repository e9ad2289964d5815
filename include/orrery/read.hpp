// Reads experiments from files and texts. For programs and bindings that start from a user's text; knows
// nothing of how an experiment is simulated or reported.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

/// Lists the inputs that are read beside the experiment itself.
struct ReadOptions {
  /// KEY=VALUE with dotted keys, such as "plan.tensor_parallel=4"; applied in order.
  std::vector<std::string> overrides{};
  /// Files of calibrations that the experiment may name beside those of the catalog, as `orrery calibrate`
  /// writes.
  std::vector<std::string> calibrations{};
};

/// Reads the experiment in the JSON or YAML file at `path` ("-": standard input), resolves every name of the
/// catalog and fills in every default.
/// @throws InputError with all errors in it: file, line, column, JSON pointer, the value found and those
/// allowed; or if the file cannot be read.
[[nodiscard]] Experiment read_experiment(const std::string& path, const ReadOptions& options = {});

/// Reads an experiment from a text in memory, which problems call `source`. It is YAML if `source` ends in
/// .yaml or .yml, else JSON.
/// @throws InputError as read_experiment().
[[nodiscard]] Experiment parse_experiment(std::string_view text, const ReadOptions& options = {},
                                          const std::string& source = "text");

}  // namespace orrery
