#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "apps/commands.hpp"
#include "apps/completion_scripts.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "config/catalog/catalog.hpp"
#include "config/experiment/schema.hpp"
#include "config/schema/menus.hpp"
#include "orrery/write.hpp"
#include "sim/run/run.hpp"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

struct Shell {
  std::string_view name;
  std::string (*script)(const CompletionWords&);
};
constexpr std::array<Shell, 3> kShells{
    {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}}};

/// The forms that a value of the schema may have: itself and those below it.
std::vector<const Json*> forms_of(const Json& value) {
  std::vector<const Json*> forms{&value};
  if (const auto several = value.find("anyOf"); several != value.end()) {
    for (const Json& form : *several)
      for (const Json* each : forms_of(form)) forms.push_back(each);
  }
  return forms;
}

/// The names that a value may be, in whichever of its forms.
std::vector<std::string> names_in(const std::vector<const Json*>& forms) {
  std::vector<std::string> names;
  for (const Json* form : forms) {
    const auto list = form->find("enum");
    if (list == form->end()) continue;
    for (const Json& name : *list)
      if (name.is_string()) names.push_back(name);
  }
  return names;
}

/// Adds the keys below `prefix`, with the names that their values may be.
void add_keys(const Json& properties, const std::string& prefix, CompletionWords& words) {
  for (const auto& [name, value] : properties.items()) {
    const std::string key = prefix + name;
    const std::size_t before = words.keys.size();
    const std::vector<const Json*> forms = forms_of(value);
    for (const Json* form : forms) {
      if (const auto below = form->find("properties"); below != form->end())
        add_keys(*below, key + ".", words);
    }
    std::vector<std::string> names = names_in(forms);
    const bool leaf = words.keys.size() == before;
    if (leaf || !names.empty()) words.keys[key] = std::move(names);
  }
}

CompletionWords words_of_program(const CLI::App& program) {
  CompletionWords words;
  words.commands = command_words(program);
  const Json schema = Json::parse(json_schema("experiment", menus()));
  add_keys(schema.at("properties"), "", words);
  const Catalog catalog = Catalog::embedded();
  words.keys["model"] = catalog.names(CatalogKind::model);
  words.keys["cluster"] = catalog.names(CatalogKind::cluster);
  words.keys["cluster.gpu"] = catalog.names(CatalogKind::gpu);
  for (std::size_t kind = 0; kind < kCatalogKindCount; ++kind) {
    for (std::string& name : catalog.names(static_cast<CatalogKind>(kind)))
      words.entries.push_back(std::move(name));
  }
  for (const auto& [name, text] : embedded_measurements()) words.entries.push_back(name);
  for (const std::string_view key : ResultSelection::names()) words.result_keys.emplace_back(key);
  return words;
}

}  // namespace

Command add_completion(CLI::App& app, const CommonOptions& /*common*/) {
  auto shell = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Shell& known : kShells) names.emplace_back(known.name);
  app.add_option("shell", *shell, "Whose script to print")->required()->check(one_of(names));
  return [shell, &app] {
    const CompletionWords words = words_of_program(*app.get_parent());
    for (const Shell& known : kShells) {
      if (known.name != *shell) continue;
      print_written([&](const Sink& sink) { sink(known.script(words)); });
    }
    return kDone;
  };
}

}  // namespace orrery
