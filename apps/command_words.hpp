// Describes the command line as data, read off the parser, for completion and help.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace orrery {

struct OptionWords {
  std::string name;                  ///< with its dashes; of an argument without dashes its own name
  std::string help;                  ///< one line
  std::string value;                 ///< the argument, such as FILE; "" of a flag
  std::vector<std::string> choices;  ///< all that may follow, where that is a list
  std::string range;                 ///< of a number, such as "1 to 1024"
};

struct CommandWords {
  std::string name;
  std::string help;
  std::vector<OptionWords> options;
  std::vector<OptionWords> arguments;  ///< those without dashes
};

[[nodiscard]] OptionWords words_of(const CLI::Option& option);
/// Every command of the program.
[[nodiscard]] std::vector<CommandWords> command_words(const CLI::App& program);

}  // namespace orrery
