// Reads the document of the experiment that points are variants of. Internal to planner/space/.
#pragma once

#include <string_view>

#include "config/text/json.hpp"
#include "planner/space/space.hpp"

namespace orrery {

/// Returns the document with its own overrides. @throws InputError for a text that is no JSON or YAML, or an
/// override that cannot be applied.
[[nodiscard]] Json base_document(const BaseExperiment& base);

/// The value at a dotted key, or null.
[[nodiscard]] Json value_at(const Json& document, std::string_view key);

}  // namespace orrery
