#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/chart_options.hpp"
#include "apps/commands.hpp"
#include "apps/experiment_arguments.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/progress.hpp"
#include "apps/space_arguments.hpp"
#include "apps/table_arguments.hpp"
#include "config/catalog/calibration_files.hpp"
#include "config/schema/menus.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"
#include "planner/methods/search.hpp"
#include "planner/methods/usual_space.hpp"
#include "planner/methods/write_search.hpp"
#include "studies/capacity/capacity.hpp"

namespace orrery {
namespace {

struct CapacityOptions {
  ExperimentArguments arguments;
  std::string json;
  ChartArguments picture;
  bool plan = false;
};

constexpr const char* kMostRequests = "max_requests_per_s";

/// Returns the plan of the default space that takes most requests; its table is printed if `shown`. nullopt
/// if no plan takes any.
std::optional<Experiment> best_plan(const CapacityOptions& options, const CommonOptions& common,
                                    unsigned threads, bool shown) {
  const ExperimentArguments& arguments = options.arguments;
  BaseExperiment base{arguments.experiment, read_text(arguments.experiment), arguments.overrides};
  Catalog catalog = catalog_with(arguments.calibrations);
  check_capacity(experiment_of_any_plan(base, catalog, menus()));
  SpaceDescription usual = usual_space(base, catalog, menus());
  // Batches of any size are searched by the rate already: more requests are more in flight.
  std::erase_if(usual.keys, [](const SpaceKey& key) { return key.key == "inference.batch_size"; });
  const Space space{std::move(usual), std::move(base), std::move(catalog), menus()};
  SearchRequest request;
  request.objective = Objective(kMostRequests);
  request.threads = threads;
  const SearchResult result = search(space, request, progress_on_terminal(common));
  if (shown) std::printf("%s\n", search_text(result, space, request).c_str());
  if (result.best.empty()) return std::nullopt;
  return result.best.front().experiment;
}

/// Where the answer goes.
struct CapacityFiles {
  OutputFile* json;
  ChartFiles picture;
};

void draw(const Experiment& experiment, const Report& report, const ChartFiles& picture) {
  if (!picture.any()) return;
  const std::vector<ServedRate> rates = serve_at_rates(experiment, report);
  if (rates.empty()) throw InputError("/plan", "no rate of requests is served, so there is nothing to draw");
  picture.write(rate_scene(rates, report));
}

int deliver(const Experiment& experiment, const CommonOptions& common, Outputs& outputs,
            const CapacityFiles& files) {
  const Report report = report_at_capacity(experiment);
  if (files.json != nullptr) write_json(report, ResultSelection(), 2, to(*files.json));
  draw(experiment, report, files.picture);
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print_summary(report);
  return report.feasible ? kDone : kInfeasible;
}

int run(const CapacityOptions& options, const CommonOptions& common, unsigned threads) {
  Outputs outputs(options.arguments.experiment);
  for (const std::string& file : options.arguments.calibrations) outputs.protect(file);
  const CapacityFiles files{outputs.open(options.json), ChartFiles(options.picture, outputs)};
  if (options.plan) {
    const bool shown = !common.quiet && !outputs.use_standard_output();
    const std::optional<Experiment> best = best_plan(options, common, threads, shown);
    return best ? deliver(*best, common, outputs, files) : static_cast<int>(kInfeasible);
  }
  const auto one = [&](const LocatedExperiment& read) {
    return read.apply([&](const Experiment& e) { return deliver(e, common, outputs, files); });
  };
  const LineMaker line = [](const Experiment& experiment) {
    return json_line(report_at_capacity(experiment), ResultSelection());
  };
  return run_on_experiments(options.arguments, common, one, [&] { return line; });
}

}  // namespace

Command add_capacity(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<CapacityOptions>();
  CLI::Option* batch = add_experiment_arguments(app, options->arguments);
  add_output(app, "--json", options->json, "Write the result at that rate as JSON (- for standard output)")
      ->excludes(batch);
  for (CLI::Option* picture : add_chart_options(app, options->picture, "latencies over the rate of requests"))
    picture->excludes(batch);
  app.add_flag("--plan", options->plan, "Search for the plan that takes most requests")->excludes(batch);
  return [options, &common, &app] { return run(*options, common, threads_of(app, common)); };
}

}  // namespace orrery
