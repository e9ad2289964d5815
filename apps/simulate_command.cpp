#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/batch.hpp"
#include "apps/commands.hpp"
#include "apps/process_stats.hpp"
#include "apps/rank_list.hpp"
#include "orrery/error.hpp"
#include "sim/io/output_file.hpp"
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

Sink to(OutputFile& file) {
  return [&file](std::string_view text) { file.write(text); };
}

/// The files a run writes, opened before it so that an unwritable one costs no simulation, and put
/// in place together after it.
class Outputs {
 public:
  OutputFile* open(const std::string& path) {
    if (path.empty()) return nullptr;
    files_.push_back(std::make_unique<OutputFile>(path));
    to_terminal_ = to_terminal_ || path == "-";
    return files_.back().get();
  }
  void commit() {
    for (const auto& file : files_) file->commit();
  }
  [[nodiscard]] bool use_standard_output() const { return to_terminal_; }

 private:
  std::vector<std::unique_ptr<OutputFile>> files_;
  bool to_terminal_ = false;
};

void print_summary(const Report& report) {
  const bool colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  write_summary(report, colour, [](std::string_view text) { std::cout << text; });
}

/// Runs the experiment; mistakes that only show while it runs name its file as well.
Run run_named(const Experiment& experiment, const std::string& source) {
  try {
    return run(experiment);
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      if (problem.source.empty()) problem.source = source;
    }
    throw InputError(std::move(problems));
  }
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
  return trace;
}

int simulate_one(const SimulateOptions& options, const CommonOptions& common) {
  const auto begin = std::chrono::steady_clock::now();
  const Experiment experiment =
      read_experiment_file(options.experiment, options.overrides, Catalog::embedded(), menus());
  const TraceOptions trace = trace_options(options, experiment);
  Outputs outputs;
  OutputFile* json_file = outputs.open(options.json);
  OutputFile* csv_file = outputs.open(options.csv);
  OutputFile* trace_file = outputs.open(options.trace);
  Run run = run_named(experiment, options.experiment);
  measure_process(begin, run.report.stats);
  TraceInfo written;
  if (json_file != nullptr) write_json(run.report, 2, to(*json_file));
  if (csv_file != nullptr) write_csv(run.report, to(*csv_file));
  if (trace_file != nullptr)
    written = write_trace(run.view(), RankLayout(experiment.plan), trace, to(*trace_file));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) {
    print_summary(run.report);
    if (trace_file != nullptr) {
      std::printf("\ntrace: %llu spans of %llu of %lld GPUs in %s; open it at https://ui.perfetto.dev\n",
                  static_cast<unsigned long long>(written.spans),
                  static_cast<unsigned long long>(written.ranks), static_cast<long long>(run.report.gpus),
                  options.trace.c_str());
    }
  }
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
  return run.report.feasible ? kDone : kInfeasible;
}

int simulate_batch(const SimulateOptions& options, const CommonOptions& common) {
  const Catalog catalog = Catalog::embedded();
  const Menus names = menus();
  return run_batch(common.threads, [&](const std::string& line, std::uint64_t number) {
    const auto begin = std::chrono::steady_clock::now();
    const Experiment experiment =
        read_experiment_text(line, "line " + std::to_string(number), options.overrides, catalog, names);
    Report report = run(experiment).report;
    measure_process(begin, report.stats);
    std::string answer;
    write_json(report, -1, [&answer](std::string_view text) { answer += text; });
    return answer;
  });
}

}  // namespace

Command add_simulate(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<SimulateOptions>();
  app.add_option("experiment", options->experiment, "JSON or YAML file, - for standard input");
  app.add_option("overrides", options->overrides, "key=value, such as plan.tensor_parallel=4");
  app.add_option("--json", options->json, "Write the result as JSON (- for standard output)");
  app.add_option("--csv", options->csv, "Write the result as one CSV row");
  app.add_option("--trace", options->trace, "Write a Chrome trace; compressed if the name ends in .gz");
  app.add_option("--trace-ranks", options->trace_ranks, "Ranks in the trace, such as 0-7,64");
  app.add_option("--trace-steps", options->trace_steps, "Steps in the trace, such as 1-2");
  app.add_option("--trace-spans", options->trace_spans, "Choose fewer ranks rather than write more spans");
  app.add_flag("--batch", options->batch, "One experiment per line of standard input, one result line each");
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
