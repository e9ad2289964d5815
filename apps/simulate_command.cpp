#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/batch.hpp"
#include "apps/commands.hpp"
#include "apps/outputs.hpp"
#include "apps/process_stats.hpp"
#include "apps/rank_list.hpp"
#include "orrery/error.hpp"
#include "orrery/rank_layout.hpp"
#include "orrery/simulate.hpp"
#include "sim/io/read_experiment.hpp"
#include "sim/report/writers.hpp"
#include "sim/run/run.hpp"

namespace orrery {
namespace {

struct SimulateOptions {
  std::string experiment;
  std::vector<std::string> overrides;
  std::string json, csv, trace;
  std::string trace_ranks, trace_steps;
  std::uint64_t trace_spans = 1'000'000;
  bool batch = false;
};

/// What a viewer shows about the origin of a trace.
std::string trace_metadata(const Experiment& experiment, const SimulateOptions& options) {
  const nlohmann::ordered_json metadata{
      {"experiment", experiment.name},      {"overrides", options.overrides},
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

/// Writes everything a run is asked for; the exit status.
int deliver(const SimulateOptions& options, const CommonOptions& common, const Experiment& experiment,
            std::chrono::steady_clock::time_point begin) {
  const TraceOptions trace = trace_options(options, experiment);
  Outputs outputs(options.experiment);
  OutputFile* json_file = outputs.open(options.json);
  OutputFile* csv_file = outputs.open(options.csv);
  OutputFile* trace_file = outputs.open(options.trace);
  Run run = orrery::run(experiment);
  measure_process(begin, run.report.stats);
  TraceInfo written;
  if (json_file != nullptr) write_json(run.report, 2, to(*json_file));
  if (csv_file != nullptr) write_csv(run.report, to(*csv_file));
  if (trace_file != nullptr)
    written = write_trace(run.view(), RankLayout(experiment.plan), trace, to(*trace_file));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) {
    print_summary(run.report);
    if (trace_file != nullptr) print_trace_note(written, run.report, options.trace);
  }
  return run.report.feasible ? kDone : kInfeasible;
}

int simulate_one(const SimulateOptions& options, const CommonOptions& common) {
  const auto begin = std::chrono::steady_clock::now();
  int status = kDone;
  read_experiment_file(
      options.experiment, options.overrides, Catalog::embedded(), menus(),
      [&](const Experiment& experiment) { status = deliver(options, common, experiment, begin); });
  return status;
}

int simulate_batch(const SimulateOptions& options, const CommonOptions& common) {
  const Catalog catalog = Catalog::embedded();
  const Menus names = menus();
  return run_batch(common.threads, [&](const std::string& line, std::uint64_t number) {
    const auto begin = std::chrono::steady_clock::now();
    Report report;
    read_experiment_text(line, "line " + std::to_string(number), options.overrides, catalog, names,
                         [&report](const Experiment& experiment) { report = simulate(experiment); });
    measure_process(begin, report.stats);
    return json_line(report);
  });
}

}  // namespace

Command add_simulate(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<SimulateOptions>();
  app.add_option("experiment", options->experiment, "JSON or YAML file, - for standard input");
  app.add_option("overrides", options->overrides, "key=value, such as plan.tensor_parallel=4");
  CLI::Option* batch = app.add_flag("--batch", options->batch,
                                    "One experiment per line of standard input, one result line each");
  app.add_option("--json", options->json, "Write the result as JSON (- for standard output)")
      ->excludes(batch);
  app.add_option("--csv", options->csv, "Write the result as one CSV row")->excludes(batch);
  CLI::Option* trace =
      app.add_option("--trace", options->trace, "Write a Chrome trace; compressed if the name ends in .gz");
  trace->excludes(batch);
  app.add_option("--trace-ranks", options->trace_ranks, "Ranks in the trace, such as 0-7,64")->needs(trace);
  app.add_option("--trace-steps", options->trace_steps, "Steps in the trace, such as 1-2")->needs(trace);
  app.add_option("--trace-spans", options->trace_spans, "Choose fewer ranks rather than write more spans")
      ->needs(trace)
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  return [options, &common] {
    if (options->batch) {
      // Without an experiment file, the first positional is an override as well.
      if (!options->experiment.empty())
        options->overrides.insert(options->overrides.begin(), options->experiment);
      return simulate_batch(*options, common);
    }
    if (options->experiment.empty()) throw InputError("", "simulate needs an experiment file (or --batch)");
    return simulate_one(*options, common);
  };
}

}  // namespace orrery
