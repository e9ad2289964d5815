// Puts KEY=VALUE arguments, Hydra style, into the document they override.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/text/json.hpp"
#include "orrery/error.hpp"

namespace orrery {

inline constexpr const char* kCommandLine = "command line";

/// A key that cannot be set: where in the document, and why.
struct OverrideError {
  std::string pointer;
  std::string message;
};

/// Puts `value` at the dotted `key`, as an override does; returns its pointer. Throws OverrideError.
std::string set_key(Json& document, std::string_view key, Json value);

/// Applies `overrides` in order to `document`: VALUE is a YAML scalar, list or mapping, KEY a dotted path
/// whose missing objects are created. A part given by name becomes {"base": name} when a key below it is
/// set (cluster.node and cluster.fabric: {"kind": name}). The VALUE null takes a key out of the document.
/// Returns the pointers that were set; adds a diagnostic for every override that cannot be applied.
std::vector<std::string> apply_overrides(Json& document, const std::vector<std::string>& overrides,
                                         std::vector<Diagnostic>& diagnostics);

}  // namespace orrery
