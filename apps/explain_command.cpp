#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/calibration_files.hpp"
#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/page_origin.hpp"
#include "apps/table_arguments.hpp"
#include "apps/text_columns.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "studies/explain/constants.hpp"
#include "studies/explain/explain.hpp"
#include "studies/explain/writers.hpp"

namespace orrery {
namespace {

struct ExplainOptions {
  std::vector<std::string> arguments;
  std::vector<std::string> calibrations;
  std::string json, html, trace;
  bool calibrate = false;
};

void print_explanation(const Explanation& explanation) {
  write_explanation_text(explanation, static_cast<std::size_t>(text_columns()), colour_on_standard_output(),
                         [](std::string_view text) { std::cout << text; });
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
}

/// The first file is the experiment, the others were measured.
std::vector<std::string> files_of(const ExplainOptions& options) {
  std::vector<std::string> files = tables_among(options.arguments);
  if (files.size() < 2)
    throw InputError({Diagnostic{"command line", 0, 0, "",
                                 "found " + std::to_string(files.size()) +
                                     " files, allowed an experiment and at least one file of measurements"}});
  return files;
}

int run_explain(const ExplainOptions& options, const CommonOptions& common) {
  const std::vector<std::string> files = files_of(options);
  Outputs outputs("");
  for (const std::string& file : files) outputs.protect(file);
  for (const std::string& file : options.calibrations) outputs.protect(file);
  OutputFile* json = outputs.open(options.json);
  OutputFile* page = outputs.open(options.html);
  OutputFile* trace = outputs.open(options.trace);
  const LocatedExperiment read = read_experiment_file(files.front(), overrides_among(options.arguments),
                                                      catalog_with(options.calibrations), menus());
  const Measurements measured = read_measurements({files.begin() + 1, files.end()});
  ExplainedTimelines timelines;
  const bool draws = page != nullptr || trace != nullptr;
  const Explanation explanation = read.apply([&](const Experiment& experiment) {
    Explanation one = explain(experiment, measured, draws ? &timelines : nullptr);
    if (options.calibrate) find_constants(experiment, one);
    return one;
  });
  if (page != nullptr) write_explanation_page(explanation, timelines, page_to(*page, common));
  if (trace != nullptr) write_both_traces(measured.profiles, timelines, to(*trace));
  if (json != nullptr) write_explanation_json(explanation, to(*json));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print_explanation(explanation);
  return kDone;
}

}  // namespace

Command add_explain(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ExplainOptions>();
  app.add_option(
         "files", options->arguments,
         "The experiment (JSON or YAML), then files of measurements: logs of training, traces of PyTorch's "
         "profiler, exports of Nsight Systems, logs of nccl-tests, results of vLLM's benchmark; and "
         "key=value for the experiment")
      ->type_name(kExperiments)
      ->required();
  add_calibration_files(app, options->calibrations);
  add_output(app, "--json", options->json, "Write the explanation as JSON (- for standard output)");
  add_output(app, "--html", options->html, "Write a page with the terms, their causes and both timelines");
  add_output(
      app, "--trace", options->trace,
      "Write one Chrome trace of the last measured step and of the simulated one, from a common beginning");
  app.add_flag("--calibrate", options->calibrate,
               "Say which constants of the experiment the run contradicts, and which values it implies");
  return [options, &common] { return run_explain(*options, common); };
}

}  // namespace orrery
