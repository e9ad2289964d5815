// Conditions of the shell, as far as they are known without running anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/shell_variables.hpp"

namespace orrery::importers {

struct ShellTest {
  std::optional<bool> holds;  ///< nothing where a variable has no value, or a file is asked for
  std::string cause;          ///< that variable
};

/// Reads [ ... ], [[ ... ]], test ... or ((...)) at `at`, with an exclamation mark before it or not, and
/// moves on behind it. A variable that nothing sets is empty for -z and -n.
[[nodiscard]] ShellTest shell_test(const std::vector<ShellToken>& tokens, std::size_t& at,
                                   ShellVariables& variables);

/// Returns true if `text` is like `pattern`, in which * stands for any text and ? for a character.
[[nodiscard]] bool matches_pattern(std::string_view text, std::string_view pattern);

/// Returns the first variable in `text` that has no value: TP of "${TP}".
[[nodiscard]] std::string open_name(const std::string& text);

}  // namespace orrery::importers
