// Declares the option --only, which selects the keys of the result a command writes.
#pragma once

#include <optional>
#include <string>

#include "orrery/write.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace orrery {

struct KeySelection {
  std::optional<std::string> only;  ///< keys of the result, with commas between them; all by default
};

CLI::Option* add_only(CLI::App& app, KeySelection& selection);

/// The keys asked for. `json_or_csv`: whether anything but a summary is written; `csv`: whether a row of it
/// is.
/// @throws InputError for a key that does not exist, or where nothing that is written has any of them.
[[nodiscard]] ResultSelection selected_keys(const KeySelection& selection, bool json_or_csv, bool csv);

}  // namespace orrery
