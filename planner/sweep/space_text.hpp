// Writes a space as text, for the file of its results, and for other processes.
#pragma once

#include <string>

#include "planner/space/space.hpp"

namespace orrery {

struct SpaceText {
  std::string space;       ///< JSON: every key with all its values, and the conditions
  std::string experiment;  ///< as it was given
  std::string overrides;   ///< JSON: a list
};

[[nodiscard]] SpaceText text_of(const Space& space);

}  // namespace orrery
