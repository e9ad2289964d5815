// The keys that the page shows as knobs, in its order, and every other key for its search.
#pragma once

#include "config/text/json.hpp"

namespace orrery::explore {

/// [{"key", "group": "" of a key that only the search finds, "words": description, "values": names of a menu,
/// "kind": "choice" | "flag" | "number" | "text"}]
[[nodiscard]] Json knobs_json();

}  // namespace orrery::explore
