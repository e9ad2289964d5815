#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/experiment_arguments.hpp"
#include "apps/key_selection.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/progress.hpp"
#include "apps/rank_list.hpp"
#include "face/process_stats.hpp"
#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "orrery/simulate.hpp"
#include "planner/emit/emit.hpp"
#include "reports/writers.hpp"
#include "sim/metrics/memory_moment.hpp"
#include "sim/run/asynchronous_run.hpp"
#include "sim/run/concrete_plan.hpp"
#include "sim/run/run.hpp"
#include "studies/sensitivity/what_if.hpp"

namespace orrery {
namespace {

constexpr const char* kAll = "all";

struct SimulateOptions {
  ExperimentArguments arguments;
  std::string json, csv, trace;
  std::string trace_ranks, trace_steps;
  std::uint64_t trace_spans = 1'000'000;
  KeySelection keys;
  bool skip_infeasible = false;
  bool resolved = false;
  std::string framework;
  bool memory_timeline = false;
  std::optional<std::string> what_if;  ///< keys with commas between them; "all"
};

/// What a viewer shows about the origin of a trace.
std::string trace_metadata(const Experiment& experiment, const SimulateOptions& options) {
  const nlohmann::ordered_json metadata{
      {"experiment", experiment.name},      {"overrides", options.arguments.overrides},
      {"model", experiment.model.name},     {"cluster", experiment.cluster.name},
      {"seed", experiment.simulation.seed}, {"orrery_version", ORRERY_VERSION}};
  return metadata.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TraceOptions trace_options(const SimulateOptions& options, const Experiment& experiment) {
  TraceOptions trace;
  trace.ranks = parse_number_list(options.trace_ranks, static_cast<std::uint64_t>(experiment.plan.gpus()),
                                  "--trace-ranks");
  for (const std::uint32_t step : parse_number_list(
           options.trace_steps, static_cast<std::uint64_t>(experiment.simulation.steps), "--trace-steps")) {
    trace.steps.push_back(static_cast<std::int32_t>(step));
  }
  trace.max_spans = options.trace_spans;
  trace.metadata_json = trace_metadata(experiment, options);
  return trace;
}

void print_trace_note(const TraceInfo& written, const Report& report, const std::string& path) {
  std::printf("\ntrace: %llu spans of %llu of %lld GPUs in %s; open it at https://ui.perfetto.dev\n",
              static_cast<unsigned long long>(written.spans), static_cast<unsigned long long>(written.ranks),
              static_cast<long long>(report.gpus), path.c_str());
}

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

/// Writes everything a run is asked for; the exit status.
int deliver(const SimulateOptions& options, const CommonOptions& common, const ResultSelection& keys,
            const Experiment& experiment) {
  const auto begin = std::chrono::steady_clock::now();
  if (!options.trace.empty()) require_one_timeline(experiment);
  const TraceOptions trace = trace_options(options, experiment);
  Outputs outputs(options.arguments.experiment);
  for (const std::string& file : options.arguments.calibrations) outputs.protect(file);
  OutputFile* json_file = outputs.open(options.json);
  OutputFile* csv_file = outputs.open(options.csv);
  OutputFile* trace_file = outputs.open(options.trace);
  Run run = [&] {
    const ProgressReport progress = progress_on_terminal(common);
    return orrery::run(experiment);
  }();
  measure_process(begin, run.report.stats);
  if (options.memory_timeline) run.report.memory_timeline = memory_over_time(run.view());
  if (options.what_if) add_what_if(*options.what_if, experiment, run.report);
  TraceInfo written;
  if (json_file != nullptr) write_json(run.report, keys, 2, to(*json_file));
  if (csv_file != nullptr) write_csv(run.report, keys, to(*csv_file));
  if (trace_file != nullptr)
    written = write_trace(run.view(), RankGrid(experiment.plan), trace, to(*trace_file));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) {
    print_summary(run.report);
    if (trace_file != nullptr) print_trace_note(written, run.report, options.trace);
  }
  return run.report.feasible ? kDone : kInfeasible;
}

/// The whole experiment, or what a framework is told of it, in place of its simulation.
int print_experiment(const SimulateOptions& options, const CommonOptions& common) {
  const LocatedExperiment read = read_one(options.arguments, common);
  Memo memo;
  const std::string text = read.apply([&](const Experiment& experiment) {
    return with_concrete_plan(experiment, memo, [&](const Experiment& e) {
      return options.resolved ? read.positions.resolved(e) : emit(options.framework, e);
    });
  });
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kDone;
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
          ->check(one_of(framework_names()))
          ->excludes(batch)
          ->excludes(resolved);
  for (const char* output : {"--json", "--csv", "--only", "--what-if"})
    for (CLI::Option* printed : {resolved, emitted}) printed->excludes(app.get_option(output));
  CLI::Option* trace =
      add_output(app, "--trace", options->trace, "Write a Chrome trace; compressed if the name ends in .gz");
  trace->excludes(batch)->excludes(resolved)->excludes(emitted);
  app.add_option("--trace-ranks", options->trace_ranks, "Ranks in the trace, such as 0-7,64")->needs(trace);
  app.add_option("--trace-steps", options->trace_steps, "Steps in the trace, such as 1-2")->needs(trace);
  app.add_option("--trace-spans", options->trace_spans, "Choose fewer ranks rather than write more spans")
      ->needs(trace)
      ->check(integer_within(1, std::int64_t{1} << 40));
  return [options, &common] {
    if (options->resolved || !options->framework.empty()) return print_experiment(*options, common);
    const bool csv = !options->csv.empty();
    const ResultSelection keys =
        selected_keys(options->keys, csv || !options->json.empty() || options->arguments.batch, csv);
    const auto one = [&](const Experiment& experiment) {
      return deliver(*options, common, keys, experiment);
    };
    Figures figures = keys.figures();
    figures.of_infeasible = !options->skip_infeasible;
    static auto* const simulator = new Simulator;  // never freed: piece by piece takes 4 % of a search
    return run_on_experiments(options->arguments, common, one,
                              [&] { return make_answer(keys, figures, *simulator); });
  };
}

}  // namespace orrery
