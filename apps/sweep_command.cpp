#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/chart_options.hpp"
#include "apps/commands.hpp"
#include "apps/far_sweep.hpp"
#include "apps/key_selection.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/page_origin.hpp"
#include "apps/progress.hpp"
#include "apps/space_arguments.hpp"
#include "apps/sweep_tables.hpp"
#include "apps/table_arguments.hpp"
#include "apps/text_columns.hpp"
#include "config/text/document.hpp"
#include "config/text/wording.hpp"
#include "face/heap.hpp"
#include "orrery/error.hpp"
#include "planner/sweep/results_table.hpp"
#include "planner/sweep/sweep.hpp"
#include "planner/sweep/sweep_picture.hpp"

namespace orrery {
namespace {

constexpr std::uint64_t kUsualTop = 5;

struct SweepCommandOptions {
  SpaceArguments space;
  std::string file;
  KeySelection keys;
  std::string shard = "1/1";
  std::string dask;    ///< address of a scheduler; "" for this machine
  std::string format;  ///< of --export; "" for none
  std::string to = "-";
  std::string html;
  ChartArguments picture;
  std::string axes;       ///< of the picture
  std::uint64_t top = 0;  ///< 0: not asked for
  std::string by;
  std::string pareto;  ///< keys with commas between them
  std::int64_t sweep = 0;
};

[[noreturn]] void refuse_sweep_options(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Returns true if the text describes a space and no experiment, whose keys have no dots.
bool describes_space(const std::string& text, const std::string& source) {
  const Json root = parse_document(text, source).value;
  return root.is_object() && std::ranges::any_of(root.items(), [](const auto& entry) {
           const std::string& key = entry.key();
           return key == "experiment" || key == "where" || key.find('.') != std::string::npos;
         });
}

/// Files are a space, an experiment, or both in this order.
Space read_sweep_space(SpaceArguments arguments) {
  const std::vector<std::string> files = tables_among(arguments.files);
  if (files.size() > 2)
    refuse_sweep_options("found " + std::to_string(files.size()) +
                         " files, allowed a space and an experiment");
  std::string experiment = files.empty() ? "" : files.back();
  // Standard input can be read but once.
  const bool describes =
      files.size() == 1 &&
      (experiment == "-" ? arguments.vary.empty() : describes_space(read_text(experiment), experiment));
  if (files.size() == 2 || describes) arguments.space = files.front();
  if (describes) experiment.clear();
  SpaceDescription description = description_of(arguments);
  if (description.keys.empty())
    refuse_sweep_options(quote(experiment) + " is an experiment: a space of it needs --vary");
  return space_around(experiment, std::move(description), arguments);
}

/// Scalars of the keys of --only, and of the objects among them.
std::vector<std::string> kept_keys(const KeySelection& selection, const Space& space) {
  if (!selection.only) return default_sweep_keys(space);
  const std::vector<std::string_view> names = row_names(selected_keys(selection, true, true));
  return {names.begin(), names.end()};
}

/// The number of the sweep in the file.
std::int64_t run_sweep(const SweepCommandOptions& options, const CommonOptions& common, unsigned threads) {
  const Space space = read_sweep_space(options.space);
  std::vector<std::string> inputs = tables_among(options.space.files);
  inputs.insert(inputs.end(), options.space.calibrations.begin(), options.space.calibrations.end());
  for (const std::string& file : inputs)
    if (same_file(file, options.file))
      refuse_sweep_options("the output " + quote(options.file) + " would replace the input " + quote(file));
  if (!options.dask.empty()) {
    sweep_far(space,
              {options.dask, options.file, kept_keys(options.keys, space), options.space.calibrations});
    const Database file(options.file, Database::Access::read, ResultsFile::kLockWait);
    const SweepSummary summary = summarize_sweep(file, 0);  // the last of the file
    refuse_without_results(space, file, summary);
    return summary.sweep;
  }
  SweepOptions sweep_options;
  sweep_options.file = options.file;
  sweep_options.threads = threads;
  sweep_options.shard = parse_shard(options.shard);
  sweep_options.keys = kept_keys(options.keys, space);
  sweep_options.progress = progress_on_terminal(common);
  sweep_options.begin_thread = prepare_heap_of_thread;
  std::signal(SIGXFSZ, SIG_IGN);                 // a write beyond the limit of file sizes fails instead
  static auto* const simulator = new Simulator;  // never freed: piece by piece takes 4 % of a search
  return sweep(space, sweep_options, *simulator).sweep;
}

/// Returns the points to show or export: the best ones, the Pareto front, or nullopt for all.
std::optional<std::vector<std::uint64_t>> chosen(const SweepCommandOptions& options,
                                                 const ResultsTable& table, const std::vector<Aim>& aims) {
  if (!options.pareto.empty()) return table.pareto(aims);
  if (options.top > 0) return table.best(aims.front(), options.top);
  return {};
}

std::vector<Aim> aims_of(const SweepCommandOptions& options, const ResultsTable& table) {
  std::vector<Aim> aims;
  const std::string by = options.by.empty() ? table.usual_figure() : options.by;
  for (const std::string& key : split(options.pareto.empty() ? by : options.pareto))
    aims.push_back(parse_aim(key));
  return aims;
}

void show(const SweepCommandOptions& options, const ResultsTable& table, const SweepSummary& summary) {
  const std::vector<Aim> aims = aims_of(options, table);
  auto points = chosen(options, table, aims);
  if (!points && summary.feasible > 0 && table.has_figure(aims.front().key))
    points = table.best(aims.front(), kUsualTop);
  const auto width = static_cast<std::size_t>(text_columns());
  std::cout << summary_text(summary, options.file, width);
  if (points && !points->empty())
    std::cout << "\n" << points_text(table, *points, aims, width, colour_on_standard_output());
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
}

int run_sweep_command(const SweepCommandOptions& options, const CommonOptions& common, unsigned threads) {
  std::int64_t id = options.sweep;
  const bool runs = !options.space.files.empty() || !options.space.vary.empty();
  if (!options.axes.empty() && !options.picture.any())
    refuse_sweep_options("--picture does nothing without --svg, --png or --pdf");
  if (runs && id != 0)
    refuse_sweep_options("--sweep chooses among sweeps in the file: allowed without a space");
  if (runs) id = run_sweep(options, common, threads);
  const ResultsTable table(options.file, id);
  const SweepSummary summary = table.summary();
  Outputs outputs("");
  for (const char* part : {"", "-wal", "-shm", "-journal"}) outputs.protect(options.file + part);
  for (const std::string& file : tables_among(options.space.files)) outputs.protect(file);
  outputs.protect(options.space.space);
  OutputFile* page = outputs.open(options.html);
  const ChartFiles picture(options.picture, outputs);
  if (!options.format.empty()) {
    OutputFile* file = outputs.open(options.to);
    const auto format = std::ranges::find(kExportFormatNames, options.format) - kExportFormatNames.begin();
    export_results(table, static_cast<ExportFormat>(format), chosen(options, table, aims_of(options, table)),
                   to(*file));
  }
  if (page != nullptr) write_sweep_page(table, options.file, page_to(*page, common));
  if (picture.any()) picture.write(sweep_scene(table, options.axes));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) show(options, table, summary);
  return summary.feasible > 0 || !summary.complete() ? kDone : kInfeasible;
}

}  // namespace

Command add_sweep(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<SweepCommandOptions>();
  app.add_option("space", options->space.files,
                 "JSON or YAML files: a space of experiments, an experiment, or both in this order; - for "
                 "standard input; and key=value for every point")
      ->type_name(kExperiments);
  add_space_options(app, options->space);
  app.add_option("-o,--out", options->file,
                 "The file of results, an SQLite database: made, or gone on with; without a space, read")
      ->type_name(kFile)
      ->required();
  add_only(app, options->keys)->description("Keys of the result to keep, by default all that are scalars");
  CLI::Option* shard = app.add_option("--shard", options->shard, "I/N: only the I-th of N parts of the space")
                           ->type_name("I/N");
  app.add_option("--dask", options->dask,
                 "ADDRESS of a Dask scheduler, such as tcp://10.0.0.1:8786: its workers simulate; needs the "
                 "Python module orrery")
      ->type_name("ADDRESS")
      ->excludes(shard);
  app.add_option("--sweep", options->sweep,
                 "Of several sweeps in the file the one of this number; by default the last")
      ->check(integer_within(1, std::int64_t{1} << 53));
  CLI::Option* top = app.add_option("--top", options->top, "The N best points that differ")
                         ->check(integer_within(1, 1'000'000));
  app.add_option("--by", options->by,
                 "KEY of the result that the best have least of, or most where more is better; min:KEY or "
                 "max:KEY to say so; by default step_time_s, or "
                 "tokens_per_s_per_gpu of requests that are served")
      ->type_name("KEY")
      ->needs(top);
  app.add_option("--pareto", options->pareto,
                 "KEYS with commas between them, such as step_time_s,memory.peak_gb: the points than which "
                 "none is better in all")
      ->type_name(kKeys)
      ->excludes(top);
  CLI::Option* format = app.add_option("--export", options->format,
                                       "Write all points, or those of --top or --pareto, as csv, jsonl (an "
                                       "object per line) or columns (one object of JSON with a list each)")
                            ->type_name("FORMAT")
                            ->check(one_of({kExportFormatNames.begin(), kExportFormatNames.end()}));
  add_output(app, "--to", options->to, "Where --export writes; by default - for standard output")
      ->needs(format);
  add_output(app, "--html", options->html, "Write a page that shows the points");
  add_chart_options(app, options->picture, "the feasible points");
  app.add_option(
         "--picture", options->axes,
         "X:Y, a scatter of two figures or keys, such as memory.peak_gb:step_time_s; or X:Y:FIGURE, a heat "
         "map of the best values by two keys")
      ->type_name("X:Y");
  return [options, &common, &app] { return run_sweep_command(*options, common, threads_of(app, common)); };
}

}  // namespace orrery
