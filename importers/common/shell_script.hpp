// Reads a script of the shell, without running anything: its variables, and the commands that it would start.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/placed_text.hpp"
#include "importers/common/shell_variables.hpp"
#include "importers/common/source_file.hpp"

namespace orrery::importers {

struct ShellCommand {
  std::vector<PlacedText> words;
  std::string doubt;  ///< the variable on which it depends whether the command runs; "" where it does
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  std::map<std::string, PlacedText> files;  ///< texts that the script writes, by name (cat <<END > NAME)
  std::vector<std::string> assigned;        ///< variables that it sets
};

/// Follows the script: branches whose condition is known are taken, of all others every branch is read with
/// what it sets in doubt.
[[nodiscard]] ShellScript read_shell_script(const SourceFile& file, ShellVariables& variables);

}  // namespace orrery::importers
