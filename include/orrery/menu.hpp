// The menu of an extension point: what one can choose by name, for validation, hints and docs.
// Every table of algorithms, schedules, wirings and fabrics is a span of entries that begin so.
#pragma once

#include <string_view>

namespace orrery {

struct MenuEntry {
  std::string_view name;     ///< as written in an experiment
  std::string_view summary;  ///< one sentence
};

}  // namespace orrery
