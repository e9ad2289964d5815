// Cuts a script of the shell into words and operators. Nothing is run.
#pragma once

#include <string_view>
#include <vector>

#include "importers/common/placed_text.hpp"

namespace orrery::importers {

struct ShellToken {
  enum class Kind { word, op, end };  ///< `end` of a line, or a semicolon

  Kind kind = Kind::end;
  PlacedText text;     ///< of a word as it stands, quotes and dollar signs included
  PlacedText here;     ///< of the operator <<: what stands up to its delimiter
  bool plain = false;  ///< of the operator <<: its delimiter is quoted, so that nothing is filled in
  bool list = false;   ///< of a word NAME=(: the tokens up to the bracket are its elements
};

/// Quotes and brackets that do not end reach to the end of the script.
[[nodiscard]] std::vector<ShellToken> shell_tokens(const PlacedText& script);

}  // namespace orrery::importers
