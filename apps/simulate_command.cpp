#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/experiment_arguments.hpp"
#include "apps/key_selection.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/page_origin.hpp"
#include "apps/page_output.hpp"
#include "apps/picture_options.hpp"
#include "apps/post_training_run.hpp"
#include "apps/progress.hpp"
#include "apps/trace_options.hpp"
#include "config/experiment/read_post_training.hpp"
#include "config/text/document.hpp"
#include "face/process_stats.hpp"
#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "orrery/simulate.hpp"
#include "planner/emit/emit.hpp"
#include "planner/emit/verl.hpp"
#include "reports/writers.hpp"
#include "sim/metrics/memory_moment.hpp"
#include "sim/metrics/replica_memory.hpp"
#include "sim/run/asynchronous_run.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/recorded_outcome.hpp"
#include "studies/sensitivity/costly_defaults.hpp"
#include "studies/sensitivity/what_if.hpp"

namespace orrery {
namespace {

constexpr const char* kAll = "all";

struct SimulateOptions {
  ExperimentArguments arguments;
  std::string json, csv, html;
  TraceArguments trace;
  KeySelection keys;
  bool skip_infeasible = false;
  bool resolved = false;
  std::string framework;
  bool memory_timeline = false;
  PictureArguments pictures;
  std::optional<std::string> what_if;  ///< keys with commas between them; "all"
};

/// None stands for all.
std::vector<std::string> what_if_keys(const std::string& given) {
  std::vector<std::string> keys;
  if (given == kAll) return keys;
  for (std::size_t begin = 0; begin <= given.size();) {
    const std::size_t comma = std::min(given.find(',', begin), given.size());
    keys.push_back(given.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return keys;
}

void add_what_if(const std::string& given, const Experiment& experiment, Report& report) {
  WhatIfs answers = what_if(experiment, what_if_keys(given));
  report.what_if = std::move(answers.list);
  report.assumptions.push_back(std::move(answers.claim));
}

/// The files that a result is written to.
struct ResultFiles {
  OutputFile* json = nullptr;
  OutputFile* csv = nullptr;

  ResultFiles(Outputs& outputs, const SimulateOptions& options)
      : json(outputs.open(options.json)), csv(outputs.open(options.csv)) {}

  void write(const Report& report, const ResultSelection& keys) const {
    if (json != nullptr) write_json(report, keys, 2, to(*json));
    if (csv != nullptr) write_csv(report, keys, to(*csv));
  }
};

/// Times are recorded only where something shows them. A report alone is made as in a batch, which folds
/// micro-batches that repeat and refuses the same plans.
Recording recording_for(const SimulateOptions& options) {
  if (options.trace.any() || options.pictures.any() || !options.html.empty()) return Recording::operations;
  return options.memory_timeline ? Recording::timeline : Recording::figures;
}

void add_memory_timeline(RecordedOutcome& outcome) {
  Report& report = outcome.run.report;
  report.memory_timeline = outcome.requests != nullptr
                               ? replica_memory(*outcome.requests)
                               : memory_of_stages(outcome.run.view(), report.stage_memory.size());
}

/// Returns the report as the summary shows it, with options that the plan leaves off at a high cost.
Report shown_report(const LocatedExperiment& read, const Report& report) {
  Report shown = report;
  if (report.serving) return shown;
  for (std::string& sentence : costly_defaults(
           read.experiment, report, [&](const std::string& key) { return read.positions.changed(key); }))
    shown.warnings.push_back(std::move(sentence));
  return shown;
}

/// Writes everything a run is asked for; the exit status.
int deliver(const SimulateOptions& options, const CommonOptions& common, const ResultSelection& keys,
            const LocatedExperiment& read) {
  const Experiment& experiment = read.experiment;
  const auto begin = std::chrono::steady_clock::now();
  if (options.what_if && experiment.inference) require_one_timeline(experiment);
  Outputs outputs(options.arguments.experiment);
  for (const std::string& file : options.arguments.calibrations) outputs.protect(file);
  const ResultFiles files(outputs, options);
  TraceOutputs traces(options.trace, experiment, options.arguments.overrides, outputs);
  OutputFile* html_file = outputs.open(options.html);
  const Pictures pictures(options.pictures, experiment, outputs);
  Figures figures;
  figures.capacity = keys.figures().capacity;
  figures.kernels = keys.figures().kernels;
  figures.long_run = keys.figures().long_run;
  RecordedOutcome outcome = [&] {
    const ProgressReport progress = progress_on_terminal(common);
    return record_outcome(experiment, recording_for(options), figures,
                          experiment.inference ? progress : ProgressReport{});
  }();
  const Report& report = outcome.report();
  measure_process(begin, outcome.run.report.stats);
  if (options.trace.any() || options.pictures.any()) require_something_to_draw(experiment, report);
  if (options.memory_timeline) add_memory_timeline(outcome);
  if (options.what_if) add_what_if(*options.what_if, experiment, outcome.run.report);
  files.write(report, keys);
  traces.write(outcome, experiment);
  if (html_file != nullptr) write_page_of(outcome, read, page_to(*html_file, common));
  pictures.write(outcome);
  const std::string drawn = pictures.drawn(outcome);
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) {
    print_summary(shown_report(read, report));
    traces.print_notes(report);
  }
  if (!drawn.empty()) std::printf("%s%s", common.quiet ? "" : "\n", drawn.c_str());
  return report.feasible ? kDone : kInfeasible;
}

/// Returns the frameworks of training, and that of training from rollouts.
std::vector<std::string> frameworks_of_steps() {
  std::vector<std::string> names = framework_names();
  names.emplace_back(kVerl);
  return names;
}

/// Prints the whole experiment, or its export to a framework, instead of simulating it.
int print_experiment(const SimulateOptions& options, const CommonOptions& common) {
  if (options.framework == kVerl)
    throw InputError({Diagnostic{options.arguments.experiment, 0, 0, "/post_training",
                                 "missing, and verl trains from rollouts"}});
  const LocatedExperiment read = read_one(options.arguments, common);
  Memo memo;
  const std::string text = read.apply([&](const Experiment& experiment) {
    const Experiment resolved = with_resolved_plan(experiment, memo);
    return options.resolved ? read.positions.resolved(resolved) : emit(options.framework, resolved);
  });
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kDone;
}

/// A step of several roles has phases in place of one plan's operations.
void require_phases_alone(const SimulateOptions& options) {
  const std::array<std::pair<const char*, bool>, 10> others{
      {{"--resolved", options.resolved},
       {"--emit", !options.framework.empty() && options.framework != kVerl},
       {"--html", !options.html.empty()},
       {"--svg and --draw", options.pictures.any()},
       {"--what-if", options.what_if.has_value()},
       {"--memory-timeline", options.memory_timeline},
       {"--only", options.keys.only.has_value()},
       {"--kineto", !options.trace.kineto.empty()},
       {"--chakra", !options.trace.chakra.empty()},
       {"--ranks", !options.trace.ranks.empty()}}};
  for (const auto& [name, given] : others)
    if (given)
      throw InputError(
          {Diagnostic{"command line", 0, 0, "",
                      std::string("found ") + name +
                          " with post_training, allowed --json, --csv, --trace and --emit verl"}});
}

/// Returns the exit status where the experiment is a step of post-training; reads its text.
std::optional<int> try_post_training(SimulateOptions& options, const CommonOptions& common) {
  ExperimentArguments& arguments = options.arguments;
  if (arguments.batch || arguments.experiment.empty()) return std::nullopt;
  arguments.text = read_text(arguments.experiment);
  if (!has_post_training(*arguments.text, arguments.experiment, arguments.overrides)) return std::nullopt;
  require_phases_alone(options);
  if (!options.framework.empty()) return emit_post_training(*arguments.text, arguments);
  return run_post_training(*arguments.text, arguments, {options.json, options.csv, options.trace.file},
                           common);
}

LineMaker make_answer(const ResultSelection& keys, const Figures& figures, Simulator& simulator) {
  return [keys, figures, &simulator](const Experiment& experiment) {
    const auto begin = std::chrono::steady_clock::now();
    Report report = simulator.simulate(experiment, figures);
    if (figures.process) measure_process(begin, report.stats);
    return json_line(report, keys);
  };
}

}  // namespace

Command add_simulate(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::Option* batch = add_experiment_arguments(app, options->arguments);
  add_output(app, "--json", options->json, "Write the result as JSON (- for standard output)")
      ->excludes(batch);
  add_output(app, "--csv", options->csv, "Write the result as one CSV row")->excludes(batch);
  add_only(app, options->keys);
  app.add_flag("--memory-timeline", options->memory_timeline,
               "Add the memory of each stage over time to the JSON result (memory.timeline)")
      ->needs(app.get_option("--json"));
  app.add_option(
         "--what-if", options->what_if,
         "Rank bandwidths, latencies, peaks and times of the host by what the step time owes to them: "
         "keys with commas between them, or all")
      ->type_name(kKeys)
      ->expected(0, 1)
      ->default_str(kAll)
      ->excludes(batch);
  app.add_flag("--skip-infeasible", options->skip_infeasible,
               "Plans that do not fit into memory are not simulated: their times are null")
      ->needs(batch);
  CLI::Option* resolved = app.add_flag(
      "--resolved", options->resolved,
      "Print the experiment with every default and where values come from; nothing is simulated");
  resolved->excludes(batch);
  CLI::Option* emitted =
      app.add_option("--emit", options->framework,
                     "Print the plan as arguments or configuration of a framework; nothing is simulated")
          ->type_name("FRAMEWORK")
          ->check(one_of(frameworks_of_steps()))
          ->excludes(batch)
          ->excludes(resolved);
  for (const char* output : {"--json", "--csv", "--only", "--what-if"})
    for (CLI::Option* printed : {resolved, emitted}) printed->excludes(app.get_option(output));
  add_trace(app, options->trace, {batch, resolved, emitted});
  add_output(app, "--html", options->html, "Write a page that shows the run, for any browser")
      ->excludes(batch)
      ->excludes(resolved)
      ->excludes(emitted);
  for (CLI::Option* picture : add_picture_options(app, options->pictures))
    picture->excludes(batch)->excludes(resolved)->excludes(emitted);
  return [options, &common] {
    if (const std::optional<int> status = try_post_training(*options, common)) return *status;
    if (options->resolved || !options->framework.empty()) return print_experiment(*options, common);
    const bool csv = !options->csv.empty();
    const ResultSelection keys =
        selected_keys(options->keys, csv || !options->json.empty() || options->arguments.batch, csv);
    const auto one = [&](const LocatedExperiment& read) { return deliver(*options, common, keys, read); };
    Figures figures = keys.figures();
    figures.of_infeasible = !options->skip_infeasible;
    static auto* const simulator = new Simulator;  // never freed: piece by piece takes 4 % of a search
    return run_on_experiments(options->arguments, common, one,
                              [&] { return make_answer(keys, figures, *simulator); });
  };
}

}  // namespace orrery
