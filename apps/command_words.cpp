#include "apps/command_words.hpp"

#include <CLI/CLI.hpp>

namespace orrery {
namespace {

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(by, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The parser's own words for types.
std::string plain_word(const std::string& type) {
  if (type == "UINT" || type == "INT") return "N";
  return type == "FLOAT" ? "X" : type;
}

}  // namespace

OptionWords words_of(const CLI::Option& option) {
  OptionWords words;
  words.name = option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
  words.help = option.get_description();
  if (option.get_type_size() == 0) return words;
  // This is the type, and after a colon the values its check allows: names with bars between them, or a
  // range.
  const std::string type = option.get_type_name();
  const std::size_t colon = type.find(':');
  words.value = plain_word(type.substr(0, colon));
  if (colon == std::string::npos) return words;
  const std::string allowed = type.substr(colon + 1);
  if (allowed.find('|') != std::string::npos)
    words.choices = split(allowed, '|');
  else
    words.range = allowed;
  return words;
}

std::vector<CommandWords> command_words(const CLI::App& program) {
  std::vector<CommandWords> commands;
  for (const CLI::App* app : program.get_subcommands([](const CLI::App*) { return true; })) {
    CommandWords& command =
        commands.emplace_back(CommandWords{app->get_name(), app->get_description(), {}, {}});
    for (const CLI::Option* option : app->get_options())
      (option->get_positional() ? command.arguments : command.options).push_back(words_of(*option));
  }
  return commands;
}

}  // namespace orrery
