// Writes completion of the command line in bash, zsh and fish: scripts that hold all words, so that pressing
// a key runs nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/command_words.hpp"

namespace orrery {

struct CompletionWords {
  std::vector<CommandWords> commands;
  std::vector<std::string> entries;      ///< of the catalog
  std::vector<std::string> result_keys;  ///< the values of --only and similar options
  std::map<std::string, std::vector<std::string>>
      keys;  ///< of experiments; the values of those that have names
};

[[nodiscard]] std::string bash_completion(const CompletionWords& words);
[[nodiscard]] std::string zsh_completion(const CompletionWords& words);
[[nodiscard]] std::string fish_completion(const CompletionWords& words);

}  // namespace orrery
