// Writes an imported experiment as YAML, with a comment behind each key that says where it comes from.
#pragma once

#include <string>

#include "config/text/json.hpp"
#include "importers/common/draft.hpp"

namespace orrery::importers {

[[nodiscard]] std::string experiment_with_origins(const Json& document, const Draft& draft);

}  // namespace orrery::importers
