#include "apps/help_format.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>

#include "apps/command_words.hpp"

namespace orrery {
namespace {

/// " NAME, NAME" in the order of the names: the parser keeps options by where they lie in memory.
std::string names_of(const std::set<CLI::Option*>& options) {
  std::set<std::string> names;
  for (const CLI::Option* option : options) names.insert(option->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

class HelpFormat : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override {
    const OptionWords words = words_of(*option);
    if (option->get_positional()) return "";
    if (option->get_expected_min() == 0 && !words.value.empty()) return " [" + words.value + "]";
    return words.value.empty() ? "" : " " + words.value;
  }

  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override {
    const OptionWords words = words_of(*option);
    std::vector<std::string> notes;
    if (!words.choices.empty()) notes.push_back(fmt::format("{}", fmt::join(words.choices, ", ")));
    if (!words.range.empty()) notes.push_back(words.range);
    if (!option->get_default_str().empty()) notes.push_back("default " + option->get_default_str());
    if (option->get_required()) notes.emplace_back("required");
    if (!option->get_needs().empty()) notes.push_back("with " + names_of(option->get_needs()));
    if (!option->get_excludes().empty()) notes.push_back("not with " + names_of(option->get_excludes()));
    return notes.empty() ? words.help : fmt::format("{} ({})", words.help, fmt::join(notes, "; "));
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_format() {
  auto format = std::make_shared<HelpFormat>();
  format->label("Positionals", "Arguments");
  return format;
}

}  // namespace orrery
