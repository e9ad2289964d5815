// Chooses a plan for an experiment that leaves it open: the optimum of the default space.
#pragma once

#include "config/schema/menus.hpp"

namespace orrery {

/// Returns all menus with a planner that chooses plans for experiments whose plan is "auto" or has the base
/// "auto", and for those without one that would not fit.
[[nodiscard]] Menus menus_that_choose_plans();

}  // namespace orrery
