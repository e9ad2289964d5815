// The values of a key for which a space says `auto`: all that may fit the experiment.
#pragma once

#include <string>
#include <vector>

#include "config/schema/menus.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

/// Of a degree the divisors of what it divides, of a choice all names, of a flag both, of a narrow range all
/// integers. Whether they fit together the reader says of each point.
/// @throws InputError for a key that has too many values to try them all.
[[nodiscard]] std::vector<std::string> automatic_values(const std::string& key, const Experiment& experiment,
                                                        const Menus& menus);

/// Of a key for which a space gives an interval. @throws InputError for one that takes no numbers.
[[nodiscard]] bool takes_integers_only(const std::string& key, const Menus& menus);

}  // namespace orrery
