#include "apps/trace_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/option_checks.hpp"
#include "apps/rank_list.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "sim/run/asynchronous_run.hpp"

namespace orrery {
namespace {

/// Returns the origin of a trace, which a viewer shows.
std::string metadata(const Experiment& experiment, const std::vector<std::string>& overrides) {
  const nlohmann::ordered_json metadata{
      {"experiment", experiment.name},      {"overrides", overrides},
      {"model", experiment.model.name},     {"cluster", experiment.cluster.name},
      {"seed", experiment.simulation.seed}, {"orrery_version", ORRERY_VERSION}};
  return metadata.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TraceOptions options_of(const TraceArguments& arguments, const Experiment& experiment) {
  TraceOptions trace;
  trace.ranks =
      parse_number_list(arguments.ranks, static_cast<std::uint64_t>(experiment.plan.gpus()), "--trace-ranks");
  for (const std::uint32_t step : parse_number_list(
           arguments.steps, static_cast<std::uint64_t>(experiment.simulation.steps), "--trace-steps")) {
    trace.steps.push_back(static_cast<std::int32_t>(step));
  }
  trace.max_spans = arguments.spans;
  const auto level = std::ranges::find(kTraceLevelNames, arguments.level);
  trace.level = static_cast<TraceLevel>(level - kTraceLevelNames.begin());
  trace.format = trace_format(arguments.file);
  return trace;
}

/// Refuses options that choose the contents of traces if there is no trace.
void require_trace(const TraceArguments& arguments) {
  if (arguments.any()) return;
  for (const auto& [option, value] :
       {std::pair{"--trace-ranks", arguments.ranks}, {"--trace-steps", arguments.steps}}) {
    if (!value.empty())
      throw InputError({Diagnostic{"command line", 0, 0, "",
                                   std::string(option) + " requires --trace, --kineto or --chakra"}});
  }
}

/// Replicas have neither ranks nor steps of their own to choose, and no kernels one by one.
void require_timeline(const TraceArguments& arguments, const Experiment& experiment) {
  if (!experiment.inference) return require_one_timeline(experiment);
  for (const auto& [option, value] : {std::pair{"--kineto", arguments.kineto},
                                      {"--chakra", arguments.chakra},
                                      {"--trace-ranks", arguments.ranks},
                                      {"--trace-steps", arguments.steps}}) {
    if (!value.empty())
      throw InputError(
          {Diagnostic{"command line", 0, 0, "",
                      std::string(option) + ": found an experiment that serves requests, allowed steps of "
                                            "training; --trace shows replicas and requests"}});
  }
}

const char* viewer_of(TraceFormat format) {
  return format == TraceFormat::speedscope ? "https://www.speedscope.app" : "https://ui.perfetto.dev";
}

}  // namespace

void add_trace(CLI::App& app, TraceArguments& arguments, std::initializer_list<CLI::Option*> excluded) {
  CLI::Option* trace =
      add_output(app, "--trace", arguments.file,
                 "Write a Chrome trace; for speedscope if the name ends in .speedscope.json, in Perfetto's "
                 "native form if in .pftrace; compressed if .gz follows");
  const auto given = [](const std::string& name) -> std::string {
    if (!name.empty() && name != "-") return "";
    return "found " + quote(name) + ", allowed the name of a folder that is not there yet, or empty";
  };
  CLI::Option* kineto =
      app.add_option("--kineto", arguments.kineto,
                     "Write a new folder with a trace of each rank as PyTorch's profiler writes them, for "
                     "Holistic Trace Analysis")
          ->type_name(kFolder)
          ->check(CLI::Validator(given, ""));
  CLI::Option* chakra =
      app.add_option(
             "--chakra", arguments.chakra,
             "Write a new folder with an execution trace of each rank in the schema of MLCommons Chakra, "
             "for ASTRA-sim")
          ->type_name(kFolder)
          ->check(CLI::Validator(given, ""));
  CLI::Option* ranks = app.add_option("--trace-ranks", arguments.ranks, "Ranks in the traces, such as 0-7,64")
                           ->type_name("NUMBERS")
                           ->check(not_empty("numbers, such as 0-7,64"));
  CLI::Option* steps = app.add_option("--trace-steps", arguments.steps, "Steps in the traces, such as 1-2")
                           ->type_name("NUMBERS")
                           ->check(not_empty("numbers, such as 0-7,64"));
  CLI::Option* spans =
      app.add_option("--trace-spans", arguments.spans, "Choose fewer ranks rather than write more spans")
          ->check(integer_within(1, std::int64_t{1} << 40));
  for (CLI::Option* option : {trace, kineto, chakra, ranks, steps, spans}) {
    for (CLI::Option* other : excluded) option->excludes(other);
  }
  app.add_option("--trace-level", arguments.level,
                 "How much the trace shows: step, pass (and steps) or operation (and those)")
      ->needs(trace)
      ->check(one_of({kTraceLevelNames.begin(), kTraceLevelNames.end()}));
}

TraceOutputs::TraceOutputs(const TraceArguments& arguments, const Experiment& experiment,
                           const std::vector<std::string>& overrides, Outputs& outputs)
    : arguments_(arguments) {
  require_trace(arguments);
  if (arguments.any()) require_timeline(arguments, experiment);
  options_ = options_of(arguments, experiment);
  options_.metadata_json = metadata(experiment, overrides);
  file_ = outputs.open(arguments.file);
  folder_ = outputs.open_folder(arguments.kineto);
  chakra_ = outputs.open_folder(arguments.chakra);
}

void TraceOutputs::write(const RecordedOutcome& outcome, const Experiment& experiment) {
  if (!arguments_.any()) return;
  if (outcome.requests != nullptr) {
    written_ = write_serving_trace(*outcome.requests, options_, to(*file_));
    return;
  }
  const RunView run = outcome.run.view();
  const RankGrid grid(experiment.plan);
  if (file_ != nullptr) written_ = write_trace(run, grid, options_, to(*file_));
  const auto maker_in = [](OutputFolder* folder) {
    return [folder](const std::string& name, const std::function<void(const Sink&)>& write) {
      OutputFile file(folder->file(name));
      write(to(file));
      file.commit();
    };
  };
  if (folder_ != nullptr) written_to_folder_ = write_kineto(run, grid, options_, maker_in(folder_));
  if (chakra_ != nullptr) written_as_chakra_ = write_chakra(run, grid, options_, maker_in(chakra_));
}

void TraceOutputs::print_serving_notes() const {
  if (file_ == nullptr) return;
  std::printf("\ntrace: %llu spans of %llu replicas and their requests in %s; open it at %s\n",
              static_cast<unsigned long long>(written_.spans),
              static_cast<unsigned long long>(written_.ranks), arguments_.file.c_str(),
              viewer_of(options_.format));
  if (written_.left_out > 0)
    std::printf("       %llu iterations and requests are left out; --trace-spans allows more\n",
                static_cast<unsigned long long>(written_.left_out));
}

void TraceOutputs::print_notes(const Report& report) const {
  if (report.serving) return print_serving_notes();
  const std::int64_t gpus = report.gpus;
  if (file_ != nullptr)
    std::printf("\ntrace: %llu spans of %llu of %lld GPUs in %s; open it at %s\n",
                static_cast<unsigned long long>(written_.spans),
                static_cast<unsigned long long>(written_.ranks), static_cast<long long>(gpus),
                arguments_.file.c_str(), viewer_of(options_.format));
  if (folder_ != nullptr)
    std::printf("\ntraces: %llu kernels of %llu of %lld GPUs in %s, for Holistic Trace Analysis\n",
                static_cast<unsigned long long>(written_to_folder_.spans),
                static_cast<unsigned long long>(written_to_folder_.ranks), static_cast<long long>(gpus),
                arguments_.kineto.c_str());
  if (chakra_ != nullptr)
    std::printf("\nexecution traces: %llu nodes of %llu of %lld GPUs in %s, for ASTRA-sim\n",
                static_cast<unsigned long long>(written_as_chakra_.spans),
                static_cast<unsigned long long>(written_as_chakra_.ranks), static_cast<long long>(gpus),
                arguments_.chakra.c_str());
}

}  // namespace orrery
