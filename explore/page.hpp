// The page itself, with the catalog and the experiment that it begins with.
#pragma once

#include <string>

namespace orrery::explore {

/// @param catalog  as catalog_answer() gives it
/// @param setup    JSON or YAML of the experiment; "" for a small one of the page
[[nodiscard]] std::string explore_page(const std::string& catalog, const std::string& setup);

}  // namespace orrery::explore
