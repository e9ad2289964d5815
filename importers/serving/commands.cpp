#include "importers/serving/commands.hpp"

#include "importers/common/shell_script.hpp"
#include "importers/common/values.hpp"

namespace orrery::importers::serving {
namespace {

/// The variable that a word has without a value; a command in a word is not run.
std::string open_part(const std::string& word) {
  const std::string name = unresolved_variable(Json(word));
  const bool runs = name.starts_with('$') || word.find('`') != std::string::npos;
  return runs ? "the output of a command" : name;
}

}  // namespace

std::vector<Command> commands_in(const SourceFile& file, const std::map<std::string, std::string>& given) {
  ShellVariables variables(given, file.path());
  std::vector<Command> commands;
  for (const ShellCommand& command : read_shell_script(file, variables).commands) {
    Command& words = commands.emplace_back();
    for (const PlacedText& word : command.words)
      words.push_back({word.text(), word.offset(), open_part(word.text())});
  }
  return commands;
}

}  // namespace orrery::importers::serving
