// Finds the values of a key for which a space says `auto`: all that may fit the experiment.
#pragma once

#include <string>
#include <vector>

#include "config/schema/menus.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

/// Returns the values to try for a key: the divisors for a degree, all names for a choice, both for a flag,
/// all integers for a narrow range. The reader decides for each point if they fit together.
/// @throws InputError for a key that has too many values to try them all.
[[nodiscard]] std::vector<std::string> automatic_values(const std::string& key, const Experiment& experiment,
                                                        const Menus& menus);

/// Returns true if a key for which a space gives an interval takes integers only. @throws InputError for one
/// that takes no numbers.
[[nodiscard]] bool takes_integers_only(const std::string& key, const Menus& menus);

}  // namespace orrery
