// Fills in variables of values such as ${TP}, ${TP:-8} and ${PRIMUS_TP:8}.
#pragma once

#include <string>
#include <string_view>

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

/// Returns the value of a variable: of --set, or of a script that was read before. "" and false where there
/// is none.
[[nodiscard]] std::pair<std::string, bool> variable(const std::string& name, const ImportContext& context,
                                                    const Draft& draft);

/// Returns `value` with the variables that have a value, or a default, in their places; those that have none
/// stay as they are. A whole value is a number or a flag again.
[[nodiscard]] Json filled(const Json& value, const ImportContext& context, const Draft& draft);

}  // namespace orrery::importers::frameworks
