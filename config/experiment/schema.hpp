// Writes JSON Schemas (draft 7) of the users' files, for editors; made from the tables that readers use.
#pragma once

#include <string>
#include <string_view>

#include "config/schema/menus.hpp"

namespace orrery {

/// Returns the schema of `which`, "model", "cluster", "experiment" or "calibration"; throws InputError for
/// another. Contradictions between keys are beyond a schema: a document that it accepts may still be refused.
std::string json_schema(std::string_view which, const Menus& menus);

}  // namespace orrery
