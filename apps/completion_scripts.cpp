#include "apps/completion_scripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "apps/option_checks.hpp"

namespace orrery {
namespace {

std::string joined_words(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::string> names_of(const std::vector<CommandWords>& commands) {
  std::vector<std::string> names;
  for (const CommandWords& command : commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<OptionWords>& options) {
  std::vector<std::string> names;
  for (const OptionWords& option : options) names.push_back(option.name);
  return names;
}

bool takes_file(const OptionWords& option) {
  return option.value == kFile || option.value == kFolder || option.value == kExperiments;
}
bool takes_key(const OptionWords& option) {
  return option.value == kKeyValue || option.value == kExperiments;
}

/// Holds the completions that may follow a word, in the language of a shell.
struct Dialect {
  std::string_view files;    ///< offers files
  std::string_view entries;  ///< names of the catalog
  std::string_view keys;     ///< KEY= and KEY=VALUE of experiments
  std::string_view result_keys;
  std::string_view list;  ///< with {} for the words
};

/// Returns the statements that offer the values of an option, or of an argument.
std::string offers(const OptionWords& option, const Dialect& dialect) {
  std::vector<std::string> statements;
  if (!option.choices.empty())
    statements.push_back(fmt::format(fmt::runtime(dialect.list), joined_words(option.choices)));
  if (option.value == kEntry) statements.emplace_back(dialect.entries);
  if (option.value == kKeys) statements.emplace_back(dialect.result_keys);
  if (takes_key(option)) statements.emplace_back(dialect.keys);
  if (takes_file(option)) statements.emplace_back(dialect.files);
  return fmt::format("{}", fmt::join(statements, "; "));
}

/// `case` branches by command and the word before: an option that takes a value.
std::string value_branches(const CompletionWords& words, const Dialect& dialect) {
  std::string text;
  for (const CommandWords& command : words.commands) {
    for (const OptionWords& option : command.options) {
      if (option.value.empty()) continue;
      const std::string what = offers(option, dialect);
      text += fmt::format("    {}:{}) {} ;;\n", command.name, option.name, what.empty() ? ":" : what);
    }
  }
  return text;
}

/// Returns `case` branches by command: options if a dash was typed, else the values of its arguments.
std::string argument_branches(const CompletionWords& words, const Dialect& dialect) {
  std::string text;
  for (const CommandWords& command : words.commands) {
    std::vector<std::string> statements;
    for (const OptionWords& argument : command.arguments) {
      std::string what = offers(argument, dialect);
      if (!what.empty()) statements.push_back(std::move(what));
    }
    text += fmt::format("    {}:-*) {} ;;\n", command.name,
                        fmt::format(fmt::runtime(dialect.list), joined_words(names_of(command.options))));
    text += fmt::format("    {}:*) {} ;;\n", command.name,
                        statements.empty() ? ":" : fmt::format("{}", fmt::join(statements, "; ")));
  }
  return text;
}

/// `KEY=` of every key, and a branch with the values of each that has names.
std::string key_words(const CompletionWords& words) {
  std::string text;
  for (const auto& [key, values] : words.keys) text += (text.empty() ? "" : " ") + key + "=";
  return text;
}
std::string key_branches(const CompletionWords& words, std::string_view list) {
  std::string text;
  for (const auto& [key, values] : words.keys) {
    if (!values.empty())
      text += fmt::format("    {}) {} ;;\n", key, fmt::format(fmt::runtime(list), joined_words(values)));
  }
  return text;
}

constexpr std::string_view kBash = R"(# Completion of orrery in bash, made by: orrery completion bash
_orrery_words() {{ COMPREPLY+=($(compgen -W "$1" -- "$typed")); }}
_orrery_files() {{ compopt -o filenames; COMPREPLY+=($(compgen -f -- "$typed")); }}
_orrery_entries() {{ _orrery_words "{entries}"; }}
_orrery_result_keys() {{ _orrery_words "{result_keys}"; }}
_orrery_keys() {{ compopt -o nospace; _orrery_words "{keys}"; }}
_orrery_values() {{
  case $1 in
{key_values}  esac
}}
_orrery() {{
  local IFS=$' \t\n' typed=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=${{COMP_WORDS[1]}}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then _orrery_words "{commands}"; return; fi
  if [[ $typed == = ]]; then typed=; _orrery_values "$before"; return; fi
  if [[ $before == = ]]; then _orrery_values "${{COMP_WORDS[COMP_CWORD - 2]}}"; return; fi
  case $command:$before in
{values}    *) case $command:$typed in
{arguments}    esac ;;
  esac
}}
complete -F _orrery orrery
)";

constexpr std::string_view kZsh = R"(#compdef orrery
# Completion of orrery in zsh, made by: orrery completion zsh
_orrery_words() {{ compadd -- ${{=1}} }}
_orrery_files() {{ _files }}
_orrery_entries() {{ _orrery_words "{entries}" }}
_orrery_result_keys() {{ _orrery_words "{result_keys}" }}
_orrery_keys() {{
  if compset -P 1 '*='; then _orrery_values ${{IPREFIX%=}}; return; fi
  compadd -S '' -- {keys}
}}
_orrery_values() {{
  case $1 in
{key_values}  esac
}}
_orrery() {{
  local typed=${{words[CURRENT]}} before=${{words[CURRENT - 1]}} command=${{words[2]}}
  if ((CURRENT == 2)); then _orrery_words "{commands}"; return; fi
  case $command:$before in
{values}    *) case $command:$typed in
{arguments}    esac ;;
  esac
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _orrery "$@"; else compdef _orrery orrery; fi
)";

std::string script(std::string_view frame, const CompletionWords& words, const Dialect& dialect) {
  return fmt::format(fmt::runtime(frame), fmt::arg("commands", joined_words(names_of(words.commands))),
                     fmt::arg("entries", joined_words(words.entries)),
                     fmt::arg("result_keys", joined_words(words.result_keys)),
                     fmt::arg("keys", key_words(words)),
                     fmt::arg("key_values", key_branches(words, dialect.list)),
                     fmt::arg("values", value_branches(words, dialect)),
                     fmt::arg("arguments", argument_branches(words, dialect)));
}

/// Bash and zsh call functions of the same names.
constexpr Dialect kFunctions{"_orrery_files", "_orrery_entries", "_orrery_keys", "_orrery_result_keys",
                             "_orrery_words \"{}\""};

/// In single quotes.
std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

class FishScript {
 public:
  explicit FishScript(const CompletionWords& words) : words_(words) {}

  std::string text() {
    out_ = "# Completion of orrery in fish, made by: orrery completion fish\ncomplete -c orrery -f\n";
    for (const CommandWords& command : words_.commands) {
      out_ += fmt::format("complete -c orrery -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          in_single_quotes(command.help));
    }
    out_ += "function __orrery_keys\n";
    for (const auto& [key, values] : words_.keys) {
      out_ += fmt::format("  echo {}=\n", key);
      for (const std::string& value : values) out_ += fmt::format("  echo {}={}\n", key, value);
    }
    out_ += "end\n";
    for (const CommandWords& command : words_.commands) write(command);
    return out_;
  }

 private:
  [[nodiscard]] std::string list_of(const OptionWords& option) const {
    std::vector<std::string> lists;
    if (!option.choices.empty()) lists.push_back(joined_words(option.choices));
    if (option.value == kEntry) lists.push_back(joined_words(words_.entries));
    if (option.value == kKeys) lists.push_back(joined_words(words_.result_keys));
    if (takes_key(option)) lists.emplace_back("(__orrery_keys)");
    return fmt::format("{}", fmt::join(lists, " "));
  }

  void write(const CommandWords& command) {
    const std::string seen =
        fmt::format("complete -c orrery -n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionWords& option : command.options) {
      out_ += fmt::format("{} -l {} -d {}", seen, option.name.substr(2), in_single_quotes(option.help));
      const std::string list = list_of(option);
      if (!option.value.empty()) out_ += takes_file(option) ? " -r -F" : " -x";
      out_ += list.empty() ? "\n" : fmt::format(" -a {}\n", in_single_quotes(list));
    }
    for (const OptionWords& argument : command.arguments) {
      const std::string list = list_of(argument);
      if (takes_file(argument)) out_ += seen + " -F\n";
      if (!list.empty()) out_ += fmt::format("{} -a {}\n", seen, in_single_quotes(list));
    }
  }

  const CompletionWords& words_;
  std::string out_;
};

}  // namespace

std::string bash_completion(const CompletionWords& words) { return script(kBash, words, kFunctions); }
std::string zsh_completion(const CompletionWords& words) { return script(kZsh, words, kFunctions); }
std::string fish_completion(const CompletionWords& words) { return FishScript(words).text(); }

}  // namespace orrery
