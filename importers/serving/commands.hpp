// Commands of a text: lines of a shell, read and never run. Variables that the text sets, or the user, are
// filled in; what else stands for text is left open.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "importers/common/source_file.hpp"

namespace orrery::importers::serving {

struct Word {
  std::string text;
  std::size_t offset = 0;  ///< in the file
  std::string open;        ///< the variable, or the command, whose text is not known; "" where all is
};

using Command = std::vector<Word>;

/// @param given  values of variables, which decide over those of the text
[[nodiscard]] std::vector<Command> commands_in(const SourceFile& file,
                                               const std::map<std::string, std::string>& given);

}  // namespace orrery::importers::serving
