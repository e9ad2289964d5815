#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "apps/calibration_files.hpp"
#include "apps/commands.hpp"
#include "apps/experiment_arguments.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "config/text/document.hpp"
#include "studies/jobs/jobs_result.hpp"

namespace orrery {
namespace {

struct JobsOptions {
  ExperimentArguments arguments;
  std::string json, csv, trace;
};

int run_jobs(const JobsOptions& options, const CommonOptions& common) {
  const ExperimentArguments& arguments = options.arguments;
  Outputs outputs(arguments.experiment);
  for (const std::string& file : arguments.calibrations) outputs.protect(file);
  OutputFile* json = outputs.open(options.json);
  OutputFile* csv = outputs.open(options.csv);
  OutputFile* trace = outputs.open(options.trace);
  const JobsResult result =
      simulate_jobs(JobsExperiment(read_text(arguments.experiment), arguments.experiment, arguments.overrides,
                                   catalog_with(arguments.calibrations), menus()));
  if (json != nullptr) json->write(jobs_json(result));
  if (csv != nullptr) csv->write(jobs_csv(result));
  if (trace != nullptr) trace->write(jobs_trace(result));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) std::fputs(jobs_text(result).c_str(), stdout);
  return result.feasible() ? kDone : kInfeasible;
}

}  // namespace

Command add_jobs(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<JobsOptions>();
  add_one_experiment(app, options->arguments);
  add_output(app, "--json", options->json, "Write the result as JSON (- for standard output)");
  add_output(app, "--csv", options->csv, "Write a row of CSV for each job");
  add_output(app, "--trace", options->trace, "Write a Chrome trace with a row for each job");
  return [options, &common] { return run_jobs(*options, common); };
}

}  // namespace orrery
