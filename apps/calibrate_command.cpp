#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/calibration_files.hpp"
#include "apps/commands.hpp"
#include "apps/measured_arguments.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/progress.hpp"
#include "apps/table_arguments.hpp"
#include "apps/version.hpp"
#include "config/schema/menus.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"
#include "sim/run/run.hpp"
#include "studies/calibrate/calibrate.hpp"
#include "studies/calibrate/calibration_file.hpp"
#include "studies/calibrate/fit_errors.hpp"
#include "studies/calibrate/fit_files.hpp"
#include "studies/calibrate/joint_fit.hpp"
#include "studies/calibrate/left_out.hpp"
#include "studies/explain/measured_figures.hpp"

namespace orrery {
namespace {

struct CalibrateOptions {
  std::vector<std::string> arguments;
  std::vector<std::string> calibrations;
  std::vector<std::string> bases, keys, bounds, out;
  bool together = false;
  FitOptions fit;
};

[[noreturn]] void refuse_calibration(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

bool read_number(std::string_view text, double& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size() && std::isfinite(value);
}

std::map<std::string, Bounds> bounds_of(const std::vector<std::string>& given) {
  std::map<std::string, Bounds> out;
  for (const std::string& text : given) {
    const auto equals = text.find('=');
    const auto colon = text.find(':', equals == std::string::npos ? 0 : equals);
    Bounds bounds;
    const bool right =
        equals != std::string::npos && colon != std::string::npos &&
        read_number(std::string_view(text).substr(equals + 1, colon - equals - 1), bounds.low) &&
        read_number(std::string_view(text).substr(colon + 1), bounds.high);
    if (!right) refuse_calibration("--bounds: found \"" + text + "\", allowed KEY=LOW:HIGH");
    if (!out.emplace(text.substr(0, equals), bounds).second)
      refuse_calibration("--bounds: found \"" + text.substr(0, equals) + "\" twice");
  }
  return out;
}

FitArguments files_of(const CalibrateOptions& options, Outputs& outputs) {
  const auto names = tables_among(options.arguments);
  if (names.empty())
    refuse_calibration(
        "a table of measured runs is missing, or an experiment followed by what was measured of it");
  for (const std::string& name : names) outputs.protect(name);
  return sort_fit_arguments(names);
}

std::vector<TableText> tables_of(const FitArguments& files) {
  std::vector<TableText> tables;
  for (const std::string& name : files.tables) tables.push_back(load_table_text(name));
  return tables;
}

/// Reads what was measured of each experiment.
std::vector<MeasuredRun> runs_of(const FitArguments& files, const TableContext& context) {
  std::vector<MeasuredRun> runs;
  for (const ExperimentFiles& one : files.runs) {
    const Measurements measured = read_measurements(one.measured);
    MeasuredRun run{{one.experiment, read_text(one.experiment)}, {}};
    run.figures = measured_figures(read_measured_run(run, context).rows.front().experiment, measured);
    runs.push_back(std::move(run));
  }
  return runs;
}

FitOrigin origin_of(const FitArguments& files, const std::vector<TableText>& tables) {
  FitOrigin origin{kVersionText, {}};
  for (const TableText& table : tables) origin.files.push_back(fit_file(table.source, table.text));
  for (const ExperimentFiles& run : files.runs) {
    origin.files.push_back(fit_file(run.experiment));
    for (const std::string& path : run.measured) origin.files.push_back(fit_file(path));
  }
  return origin;
}

FitProgress fit_progress_on_terminal(const CommonOptions& common) {
  if (common.quiet || isatty(STDERR_FILENO) == 0) return {};
  return [last = std::chrono::steady_clock::time_point()](const std::string& phase, int evaluations,
                                                          double loss) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::milliseconds(100)) return;
    last = now;
    std::fprintf(stderr, "\r\x1b[K%s: %d evaluations, loss %.5g", phase.c_str(), evaluations, loss);
  };
}

void print(const Fit& fit, const std::vector<std::string>& out) {
  write_fit_text(fit, [](std::string_view text) { std::cout << text; });
  if (out.empty()) std::cout << "nothing was written; --out FILE writes the calibration\n";
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
}

/// Everything that a fit of single constants is told and a joint one finds in the catalog.
void check_together(const CalibrateOptions& options) {
  if (!options.bases.empty() || !options.keys.empty() || !options.bounds.empty())
    refuse_calibration(
        "--together: found --base, --fit or --bounds, allowed none of them: it fits what the "
        "calibrations of the rows give a spread");
  if (options.out.size() > 1) refuse_calibration("--together: found --out twice, allowed one folder");
}

int run_together(const CalibrateOptions& options, const CommonOptions& common, unsigned threads) {
  check_together(options);
  Outputs outputs("");
  for (const std::string& file : options.calibrations) outputs.protect(file);
  const TableContext context{catalog_with(options.calibrations), menus(), overrides_among(options.arguments)};
  const FitArguments given = files_of(options, outputs);
  if (!given.runs.empty())
    refuse_calibration("--together: found experiment \"" + given.runs.front().experiment +
                       "\", allowed tables");
  const std::vector<TableText> tables = tables_of(given);
  const JointProblem problem = make_joint_problem(tables, context);
  // Before the fit, which takes minutes: a folder that cannot be written is found out at once.
  OutputFolder* const folder = options.out.empty() ? nullptr : outputs.open_folder(options.out.front());
  const ProgressReport report = progress_on_terminal(common);
  const JointProgress progress = [&](const std::string&, int done, int expected) {
    if (report) report(static_cast<std::size_t>(done), static_cast<std::size_t>(expected));
  };
  const JointFit fit = fit_jointly(problem, threads, progress);
  if (folder != nullptr) {
    auto texts = calibration_texts(context.catalog, problem, fit);
    TableContext fitted = context;
    for (const auto& [name, text] : texts)
      fitted.catalog = fitted.catalog.with_calibration(text, name, name).first;
    const JointProblem again = make_joint_problem(tables, fitted);
    texts = with_ranges(std::move(texts), again, left_out_rows(again, kAllLeftOut, threads, progress));
    for (const auto& [name, text] : texts) {
      OutputFile file(folder->file(name + ".json"));
      file.write(text);
      file.commit();
    }
  }
  outputs.commit();
  if (!common.quiet) {
    write_joint_text(problem, fit, [](std::string_view text) { std::cout << text; });
    if (options.out.empty()) std::cout << "nothing was written; --out FOLDER writes the calibrations\n";
  }
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
  return kDone;
}

int run_calibrate(const CalibrateOptions& options, const CommonOptions& common, unsigned threads) {
  if (options.together) return run_together(options, common, threads);
  Outputs outputs("");
  for (const std::string& file : options.calibrations) outputs.protect(file);
  const TableContext context{catalog_with(options.calibrations), menus(), overrides_among(options.arguments)};
  const FitArguments given = files_of(options, outputs);
  const std::vector<TableText> tables = tables_of(given);
  const FitProblem problem = make_fit_problem(
      {tables, options.bases, options.keys, bounds_of(options.bounds), runs_of(given, context)}, context);
  if (!options.out.empty() && options.out.size() != options.bases.size())
    refuse_calibration("--out: one file for each --base, in their order");
  std::vector<OutputFile*> files;
  for (const std::string& path : options.out) files.push_back(outputs.open(path));
  FitOptions how = options.fit;
  how.threads = threads;
  const FitProgress progress = fit_progress_on_terminal(common);
  const Fit fit = calibrate(problem, how, progress);
  if (progress) std::fprintf(stderr, "\r\x1b[K");
  const FitOrigin origin = origin_of(given, tables);
  for (std::size_t i = 0; i < files.size(); ++i)
    files[i]->write(calibration_text(context.catalog, options.bases[i], fit, origin));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print(fit, options.out);
  return kDone;
}

/// Options that may be given several times, one value each.
CLI::Option* add_repeatable(CLI::App& app, const char* name, std::vector<std::string>& target,
                            const char* help) {
  return app.add_option(name, target, help)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

Command add_calibrate(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<CalibrateOptions>();
  app.add_option(
         "tables", options->arguments,
         "CSV files or names of orrery list measurements; or experiments, each followed by files that "
         "were measured of it, as orrery explain reads them; and key=value for every row")
      ->type_name(kExperiments);
  add_repeatable(app, "--base", options->bases, "The calibration to start from; repeatable")
      ->type_name(kEntry);
  add_repeatable(app, "--fit", options->keys, "Constants to fit, as KEY,KEY,... of an experiment; repeatable")
      ->type_name(kKeys)
      ->delimiter(',');
  add_repeatable(app, "--bounds", options->bounds, "KEY=LOW:HIGH, where a constant is searched; repeatable")
      ->type_name("BOUNDS");
  add_repeatable(app, "--out", options->out,
                 "Write the calibration (- for standard output); one for each --base")
      ->type_name(kFile);
  app.add_flag("--together", options->together,
               "Fit all constants that have a spread, in all calibrations of the rows and those they inherit "
               "from; --out is a folder");
  add_calibration_files(app, options->calibrations);
  app.add_option("--folds", options->fit.folds, "Folds of the cross-validation (default 5), 0 for none")
      ->check(integer_within(0, 1000));
  app.add_option("--seed", options->fit.seed, "Of the folds and of starts after the first (default 0)")
      ->check(integer_within(0, kLargestSeed));
  app.add_option("--starts", options->fit.starts,
                 "Searches, those after the first from random places (default 1)")
      ->check(integer_within(1, 1000));
  app.add_option("--evaluations", options->fit.evaluations,
                 "Most evaluations of a search (default: 40 for each constant and one more)")
      ->check(integer_within(1, 1'000'000));
  return [options, &common, &app] { return run_calibrate(*options, common, threads_of(app, common)); };
}

}  // namespace orrery
