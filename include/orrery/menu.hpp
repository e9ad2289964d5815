// Declares the menu of an extension point: the names that a user can choose, for validation, hints and docs.
// Every table of algorithms, schedules, wirings and fabrics is a span of entries that begin with this struct.
#pragma once

#include <string_view>

namespace orrery {

struct MenuEntry {
  std::string_view name;     ///< as written in an experiment
  std::string_view summary;  ///< one sentence
};

}  // namespace orrery
