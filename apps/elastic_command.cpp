#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/calibration_files.hpp"
#include "apps/chart_options.hpp"
#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/table_arguments.hpp"
#include "config/schema/menus.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"
#include "studies/elastic/elastic.hpp"

namespace orrery {
namespace {

struct ElasticOptions {
  std::vector<std::string> arguments;
  std::vector<std::string> changes;
  std::vector<std::string> calibrations;
  std::int64_t steps = 0;
  std::int64_t quorum = 1;
  std::string json, csv;
  ChartArguments picture;
};

ElasticRequest request_of(const ElasticOptions& options) {
  const std::vector<std::string> files = tables_among(options.arguments);
  if (files.size() != 1)
    throw InputError(
        {Diagnostic{"command line", 0, 0, "",
                    "found " + std::to_string(files.size()) + " experiment files, allowed one"}});
  ElasticRequest request{
      files.front(), read_text(files.front()), overrides_among(options.arguments), {},
      options.steps, options.quorum,           catalog_with(options.calibrations), menus()};
  for (const std::string& text : options.changes) request.changes.push_back(parse_change(text));
  return request;
}

int run(const ElasticOptions& options, const CommonOptions& common) {
  Outputs outputs("");
  const ElasticRequest request = request_of(options);
  outputs.protect(request.source);
  OutputFile* file = outputs.open(options.json);
  OutputFile* csv = outputs.open(options.csv);
  const ChartFiles picture(options.picture, outputs);
  const ElasticRun result = simulate_elastic(request);
  if (file != nullptr) file->write(elastic_json(result));
  if (csv != nullptr) csv->write(elastic_csv(result));
  if (picture.any()) picture.write(elastic_scene(result));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) std::fputs(elastic_text(result).c_str(), stdout);
  const auto feasible = [](const ElasticPhase& phase) { return phase.report.feasible; };
  return std::ranges::all_of(result.phases, feasible) ? kDone : kInfeasible;
}

}  // namespace

Command add_elastic(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<ElasticOptions>();
  app.add_option("experiment", options->arguments,
                 "A JSON or YAML file with cluster.regions, - for standard input, and key=value for it")
      ->type_name(kExperiments)
      ->required();
  app.add_option("--steps", options->steps, "Steps of the whole run")
      ->required()
      ->check(integer_within(1, 1'000'000'000));
  app.add_option("--change", options->changes,
                 "STEP:-SITE or STEP:+SITE: the site leaves or joins with that step; several may follow")
      ->type_name("STEP:+SITE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--quorum", options->quorum, "Fewest workers that may go on")
      ->check(integer_within(1, 1'000'000));
  add_calibration_files(app, options->calibrations);
  add_output(app, "--json", options->json, "Write phases and sums as JSON (- for standard output)");
  add_output(app, "--csv", options->csv, "Write a line per phase");
  add_chart_options(app, options->picture, "step times over the run, with its changes,");
  return [options, &common] { return run(*options, common); };
}

}  // namespace orrery
