#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "config/schema/menus.hpp"
#include "importers/import.hpp"
#include "importers/importers.hpp"

namespace orrery {
namespace {

using importers::Imported;

struct ImportCommandOptions {
  importers::ImportRequest request;
  std::string output, json;
  bool list = false;
};

int list_kinds() {
  for (const importers::Importer& importer : importers::importers())
    std::printf("%-20s %s\n", std::string(importer.name).c_str(), std::string(importer.summary).c_str());
  return kDone;
}

bool is_json(const std::string& path) { return path.ends_with(".json"); }

int run(const ImportCommandOptions& options, const CommonOptions& common) {
  if (options.list) return list_kinds();
  if (options.request.files.empty())
    throw InputError(
        {Diagnostic{"command line", 0, 0, "", "found no file, allowed one at least (orrery import --list)"}});
  Outputs outputs{""};
  for (const std::string& file : options.request.files) outputs.protect(file);
  OutputFile* output = outputs.open(options.output);
  OutputFile* json = outputs.open(options.json);
  const Imported imported = importers::import_files(options.request, Catalog::embedded(), menus());
  if (json != nullptr) importers::write_import_json(imported, to(*json));
  if (output != nullptr && !imported.stopped())
    output->write(is_json(options.output) ? imported.experiment_json : imported.experiment_yaml);
  if (!imported.stopped() || options.output.empty()) outputs.commit();
  const bool shown = (!common.quiet && !outputs.use_standard_output()) || imported.stopped();
  if (shown)
    importers::write_import_text(imported, [&imported](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), imported.stopped() ? stderr : stdout);
    });
  return imported.stopped() ? kWrongInput : kDone;
}

}  // namespace

Command add_import(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ImportCommandOptions>();
  app.add_option("files", options->request.files,
                 "Files of other tools: of a model, a launch, a machine, a log; merged from left to right")
      ->type_name(kFile);
  add_output(app, "--out", options->output,
             "Write the experiment: JSON where the name ends in .json, else YAML that says where each key "
             "comes from");
  add_output(app, "--report", options->json, "Write the report, and the experiment, as JSON");
  app.add_option("--set", options->request.settings,
                 "KEY=VALUE that decides over all files: a key of the experiment, launch.gpus, or a variable "
                 "of a script")
      ->type_name(kKeyValue);
  app.add_option("--as", options->request.kind, "Read every file as this kind (--list)")->type_name("KIND");
  app.add_flag("--approximate", options->request.approximate,
               "Take the nearest where an experiment cannot say what a file says, and tell how");
  app.add_flag("--list", options->list, "The kinds of files");
  return [options, &common] { return run(*options, common); };
}

}  // namespace orrery
