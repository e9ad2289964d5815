// Arguments of a command line as keys with values.
#pragma once

#include <string>
#include <vector>

#include "importers/common/placed_text.hpp"
#include "importers/common/source_keys.hpp"

namespace orrery::importers::frameworks {

struct CommandLine {
  std::vector<SourceKey> arguments;  ///< --name VALUE..., --name=VALUE, and --name alone, which is true
  std::vector<PlacedText> open;      ///< words that are variables without a value: further arguments, perhaps
  std::string program;               ///< the first word that ends in .py, or ""
};

/// Reads the words of a command.
[[nodiscard]] CommandLine command_line(const std::vector<PlacedText>& words, const SourceFile& file);

}  // namespace orrery::importers::frameworks
