// JSON Schema (draft 7) of what a user writes, for editors; made from the tables that readers use.
#pragma once

#include <string>
#include <string_view>

#include "config/schema/menus.hpp"

namespace orrery {

/// `which` is "model", "cluster", "experiment" or "calibration"; throws InputError for another.
/// Contradictions between keys are beyond a schema: what it accepts may still be refused.
std::string json_schema(std::string_view which, const Menus& menus);

}  // namespace orrery
