#include "importers/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "config/experiment/read_experiment.hpp"
#include "config/experiment/read_post_training.hpp"
#include "config/schema/aliases.hpp"
#include "config/schema/experiment_keys.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/wording.hpp"
#include "config/text/yaml_text.hpp"
#include "importers/combine.hpp"
#include "importers/importers.hpp"
#include "importers/write_experiment.hpp"
#include "orrery/error.hpp"

namespace orrery::importers {
namespace {

/// Holds the decisions of the command line.
struct Settled {
  std::map<std::string, Json> keys;
  ImportOptions options;
};

bool is_key(const std::string& key) {
  const std::vector<std::string>& keys = experiment_keys();
  return key.starts_with("launch.") || key.starts_with("post_training.") ||
         std::ranges::find(keys, key) != keys.end() || key == "model" || key == "cluster";
}

/// A part that is given by name is its base.
std::string whole_part(const std::string& key) {
  return key == "model" || key == "cluster" ? key + ".base" : key;
}

Settled settle(const ImportRequest& request) {
  Settled settled;
  settled.options.approximate = request.approximate;
  for (const std::string& setting : request.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError({Diagnostic{kCommandLine, 0, 0, "",
                                   fmt::format("--set: found {}, allowed KEY=VALUE", quote(setting))}});
    const std::string name = setting.substr(0, equals), value = setting.substr(equals + 1);
    const std::string key = full_key(name);
    if (is_key(key))
      settled.keys[whole_part(key)] = parse_yaml(value);
    else
      settled.options.variables[name] = value;
  }
  return settled;
}

const Importer& importer_of(const SourceFile& file, const std::string& kind) {
  const std::span<const Importer> all = importers();
  if (!kind.empty()) {
    const std::vector<std::string> names = importer_names();
    const auto named = std::ranges::find(all, kind, &Importer::name);
    if (named != all.end()) return *named;
    throw InputError({Diagnostic{kCommandLine, 0, 0, "",
                                 fmt::format("--as: found {}, allowed {}{}", quote(kind),
                                             joined(views(names)), hint(kind, views(names)))}});
  }
  const auto found = std::ranges::find_if(all, [&file](const Importer& i) { return i.recognises(file); });
  if (found != all.end()) return *found;
  throw InputError(
      {Diagnostic{file.path(), 0, 0, "",
                  "found no file of a kind that orrery import knows; orrery import --list names them, "
                  "and --as KIND reads it as one of them"}});
}

/// Puts the problems of the experiment to the keys of the files that gave the values.
void add_problems(const InputError& error, const Draft& draft, std::vector<ImportItem>& items) {
  for (const Diagnostic& problem : error.diagnostics()) {
    std::string ours = problem.pointer.empty() ? "" : problem.pointer.substr(1);
    std::ranges::replace(ours, '/', '.');
    const ImportItem* origin = draft.origin(ours);
    ImportItem item{Fate::contradictory, {}, "", "", ours, problem.message};
    if (origin != nullptr)
      item = {Fate::contradictory, origin->place, origin->key, origin->found, ours, problem.message};
    items.push_back(std::move(item));
  }
}

Json document_of(const Draft& draft) {
  Json document = Json::object();
  for (const auto& [key, fact] : draft.facts())
    if (!key.starts_with("launch.")) set_key(document, key, fact.value);
  return document;
}

/// @throws InputError with what is wrong with the experiment
void check(const Json& document, const Catalog& catalog, const Menus& menus) {
  constexpr const char* kSource = "the imported experiment";
  if (document.contains("post_training"))
    PostTrainingExperiment(document.dump(), kSource, {}, catalog, menus);
  else
    read_experiment_text(document.dump(), kSource, {}, catalog, menus);
}

}  // namespace

Imported import_files(const ImportRequest& request, const Catalog& catalog, const Menus& menus) {
  const Settled settled = settle(request);
  Draft draft(settled.keys);
  Imported imported;
  for (const std::string& path : request.files) {
    const SourceFile file(path);
    const Importer& importer = importer_of(file, request.kind);
    imported.files.push_back({path, std::string(importer.name)});
    importer.read({file, settled.options, catalog}, draft);
  }
  draft.settle_awaited();
  if (!draft.stopped()) combine(draft, catalog);
  imported.items = draft.items();
  if (draft.stopped()) return imported;
  const Json document = document_of(draft);
  try {
    check(document, catalog, menus);
  } catch (const InputError& error) {
    add_problems(error, draft, imported.items);
    return imported;
  }
  imported.experiment_json = document.dump(2) + "\n";
  imported.experiment_yaml = experiment_with_origins(document, draft);
  return imported;
}

}  // namespace orrery::importers
