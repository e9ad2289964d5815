#include "importers/frameworks/verl_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "importers/common/python_value.hpp"
#include "importers/common/shell_script.hpp"
#include "importers/frameworks/arguments.hpp"
#include "importers/frameworks/omegaconf.hpp"

namespace orrery::importers::frameworks {
namespace {

/// The equals sign of an override of Hydra: a.b=1, +a.b=1, ++a.b=1. npos of any other word.
std::size_t equals_of(std::string_view word) {
  const std::size_t begin = std::min(word.find_first_not_of('+'), word.size());
  std::size_t at = begin;
  const auto names = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '@' || c == '/';
  };
  while (at < word.size() && names(word[at])) ++at;
  return at > begin && at < word.size() && word[at] == '=' ? at : std::string_view::npos;
}

std::size_t overrides_in(const ShellCommand& command) {
  return static_cast<std::size_t>(std::ranges::count_if(command.words, [](const PlacedText& word) {
    return word.text().find('.') < equals_of(word.text()) && equals_of(word.text()) < word.size();
  }));
}

/// "null" is nothing; else a value as Python or YAML has it.
Json override_value(std::string_view text) {
  if (text == "null" || text == "None") return nullptr;
  return word_value(text);
}

/// The words of the command that has the most overrides.
class CommandSettings {
 public:
  CommandSettings(const ImportContext& context, Draft& draft) : file_(context.file), draft_(draft) {}

  VerlSettings read(const ShellCommand& command, const ShellVariables& variables) {
    for (std::size_t i = 0; i < command.words.size(); ++i) {
      const PlacedText& word = command.words[i];
      const std::string& text = word.text();
      if (const std::size_t equals = equals_of(text); equals != std::string::npos)
        add(word, equals);
      else if (text == "-m" && i + 1 < command.words.size())
        settings_.program = command.words[++i].text();
      else if (text.ends_with(".py"))
        settings_.program = text;
      else
        report(word, variables);
    }
    return std::move(settings_);
  }

 private:
  void add(const PlacedText& word, std::size_t equals) {
    const std::size_t begin = word.text().find_first_not_of('+');
    const std::string name = word.text().substr(begin, equals - begin);
    settings_.keys.add({name, override_value(std::string_view(word.text()).substr(equals + 1)),
                        file_.place_at(word.offset())});
  }

  /// Other words say how the command starts, or stand for words that are not known.
  void report(const PlacedText& word, const ShellVariables& variables) {
    const std::string& text = word.text();
    const SourceKey key{text, nullptr, file_.place_at(word.offset())};
    if (text.starts_with('~') && text.find('.') != std::string::npos)
      return draft_.ignore(key, "it takes a key away; the default of verl is read in its place");
    if (!text.starts_with("${")) return;
    const std::string name = unresolved_variable(Json(text));
    if (!name.empty() && (variables.contains(name) && !variables.is_positional(name)))
      draft_.lack(key, fmt::format("settings depend on {}, which has no value: --set {}=VALUE", name, name));
    else
      draft_.ignore(key, "nothing sets it; settings in it are not read");
  }

  const SourceFile& file_;
  Draft& draft_;
  VerlSettings settings_;
};

VerlSettings settings_of_script(const ImportContext& context, Draft& draft) {
  ShellVariables variables(context.options.variables, context.file.path());
  const ShellScript script = read_shell_script(context.file, variables);
  const auto best = std::ranges::max_element(script.commands, {}, overrides_in);
  if (best == script.commands.end() || overrides_in(*best) == 0) {
    draft.lack({"script", nullptr, {context.file.path(), 0}},
               "found no command with settings of verl, such as data.train_batch_size=1024");
    return {};
  }
  if (!best->doubt.empty())
    draft.ignore({"command", nullptr, context.file.place_at(best->words.front().offset())},
                 fmt::format("it runs if {} is so; it is read as if it did", best->doubt));
  return CommandSettings(context, draft).read(*best, variables);
}

}  // namespace

bool is_verl(const SourceFile& file) {
  const std::string_view text = file.text();
  return text.find("actor_rollout_ref.") != std::string_view::npos ||
         text.find("actor_rollout_ref:") != std::string_view::npos;
}

VerlSettings verl_settings(const ImportContext& context, Draft& draft) {
  const std::string_view text = context.file.text();
  const bool yaml =
      text.starts_with("actor_rollout_ref:") || text.find("\nactor_rollout_ref:") != std::string_view::npos;
  if (!yaml) return settings_of_script(context, draft);
  return {interpolated(SourceKeys(context.file), context), ""};
}

}  // namespace orrery::importers::frameworks
