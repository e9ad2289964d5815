#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/chart_options.hpp"
#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "apps/page_origin.hpp"
#include "apps/progress.hpp"
#include "apps/space_arguments.hpp"
#include "apps/table_arguments.hpp"
#include "config/catalog/calibration_files.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"
#include "planner/emit/emit.hpp"
#include "planner/methods/search.hpp"
#include "planner/methods/usual_space.hpp"
#include "planner/methods/write_search.hpp"
#include "sim/run/prepare.hpp"
#include "sim/step/memo.hpp"

namespace orrery {
namespace {

struct PlanOptions {
  SpaceArguments space;
  std::string method = "exhaustive";
  std::string objective;  ///< "" for the usual one
  std::string pareto;
  std::vector<std::string> limits;
  std::string budget;
  std::string json, html;
  ChartArguments picture;
  std::string picture_name;  ///< of kSearchPictureNames; "": the first that there is
  std::string framework;     ///< of --emit; "" for none
  std::vector<std::string> also;
  std::int64_t top = 5;
  std::int64_t seed = 0;
};

[[noreturn]] void refuse_plan(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

/// Objectives with commas between them.
std::vector<Objective> objectives_in(const std::string& keys) {
  std::vector<Objective> objectives;
  for (std::size_t begin = 0; !keys.empty() && begin <= keys.size();) {
    const std::size_t end = std::min(keys.find(',', begin), keys.size());
    objectives.emplace_back(keys.substr(begin, end - begin));
    begin = end + 1;
  }
  return objectives;
}

SearchRequest request_of(const PlanOptions& options, unsigned threads) {
  SearchRequest request;
  request.method = options.method;
  if (!options.objective.empty()) request.objective = Objective(options.objective);
  for (const std::string& limit : options.limits) request.limits.emplace_back(limit);
  request.pareto = objectives_in(options.pareto);
  if (!options.budget.empty()) request.budget = parse_budget(options.budget);
  request.top = static_cast<std::size_t>(options.top);
  request.seed = static_cast<std::uint64_t>(options.seed);
  request.threads = threads;
  return request;
}

/// KEY=VALUES, or KEY for all values that may fit; plan. may be left out.
SpaceKey also_key(const std::string& text) {
  std::string key = text.substr(0, text.find('='));
  if (key.find('.') == std::string::npos) key.insert(0, "plan.");
  return parse_space_key(key + (text.find('=') == std::string::npos ? "=auto" : text.substr(text.find('='))));
}

/// The space that options or files describe, or the usual one around the experiment.
Space space_of(const PlanOptions& options) {
  const std::vector<std::string> files = tables_among(options.space.files);
  if (files.size() > 1) refuse_plan("found " + std::to_string(files.size()) + " experiments, allowed one");
  const std::string file = files.empty() ? "" : files.front();
  SpaceDescription description = description_of(options.space);
  if (description.keys.empty()) {
    if (file.empty()) refuse_plan("an experiment is missing");
    BaseExperiment base{file, read_text(file), overrides_among(options.space.files)};
    Catalog catalog = catalog_with(options.space.calibrations);
    SpaceDescription usual = usual_space(base, catalog, menus());
    std::ranges::move(description.conditions, std::back_inserter(usual.conditions));
    for (const std::string& text : options.also) {
      SpaceKey key = also_key(text);
      std::erase_if(usual.keys, [&](const SpaceKey& known) { return known.key == key.key; });
      usual.keys.push_back(std::move(key));
    }
    return {std::move(usual), std::move(base), std::move(catalog), menus()};
  }
  return space_around(file, std::move(description), options.space, Intervals::allowed);
}

/// The winner as a framework takes it, below the tables if there are any.
void print_launch(const std::string& framework, const Experiment& best, bool quiet) {
  Memo memo;
  const std::string text = emit(framework, with_resolved_plan(best, memo));
  std::printf("%s%s", quiet ? "" : "\n", text.c_str());
}

/// Returns the chart to draw. A front takes figures to weigh the objective against.
SearchPicture picture_of(const PlanOptions& options) {
  if (options.picture_name.empty())
    return options.pareto.empty() ? SearchPicture::search : SearchPicture::pareto;
  if (!options.picture.any()) refuse_plan("--picture does nothing without --svg, --png or --pdf");
  const auto found =
      std::ranges::find(kSearchPictureNames, options.picture_name) - kSearchPictureNames.begin();
  const auto picture = static_cast<SearchPicture>(found);
  if (picture == SearchPicture::pareto && options.pareto.empty())
    refuse_plan("--picture: found \"pareto\", allowed with --pareto KEY, such as --pareto memory.peak_gb");
  return picture;
}

int run(const PlanOptions& options, const CommonOptions& common, unsigned threads) {
  const SearchPicture drawn = picture_of(options);
  SearchRequest request = request_of(options, threads);
  const Space space = space_of(options);
  if (options.objective.empty()) request.objective = Objective(usual_objective(space));
  add_own_limits(space, request);
  Outputs outputs(space.base().source);
  outputs.protect(options.space.space);
  for (const std::string& file : options.space.calibrations) outputs.protect(file);
  OutputFile* json = outputs.open(options.json);
  OutputFile* page = outputs.open(options.html);
  const ChartFiles picture(options.picture, outputs);
  SearchResult result = search(space, request, progress_on_terminal(common));
  if (options.space.space.empty() && options.space.vary.empty())
    if (std::string note = not_varied(space); !note.empty()) result.notes.push_back(std::move(note));
  if (json != nullptr) json->write(search_json(result, space, request));
  if (page != nullptr) write_search_page(result, space, request, page_to(*page, common));
  if (picture.any()) picture.write(search_scene(result, space, request, drawn));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output())
    std::fputs(search_text(result, space, request).c_str(), stdout);
  if (result.best.empty()) return kInfeasible;
  if (!options.framework.empty())
    print_launch(options.framework, result.best.front().experiment, common.quiet);
  return kDone;
}

}  // namespace

Command add_plan(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<PlanOptions>();
  app.add_option("experiment", options->space.files,
                 "A JSON or YAML file, - for standard input, and key=value for all plans")
      ->type_name(kExperiments);
  app.add_option("--space", options->space.space,
                 "A file with keys and their values; without it and --vary the usual degrees of freedom")
      ->type_name(kFile);
  add_space_options(app, options->space);
  app.add_option("--also", options->also,
                 "KEY or KEY=VALUES: one more key of the plan beside the usual degrees of freedom, such as "
                 "precision; repeatable")
      ->type_name("KEY")
      ->excludes("--vary")
      ->excludes("--space")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
  app.add_option("--search", options->method, "How to search: a name of orrery list searches")
      ->type_name("METHOD")
      ->capture_default_str();
  app.add_option("--objective", options->objective,
                 "A number of the result, or min:KEY, max:KEY; by default step_time_s, or "
                 "tokens_per_s_per_gpu of requests that are served, end_to_end_s where they arrive at a rate")
      ->type_name("KEY");
  app.add_option("--pareto", options->pareto,
                 "KEY,KEY: numbers to weigh the objective against, such as memory.peak_gb")
      ->type_name(kKeys);
  app.add_option("--limit", options->limits,
                 "The most that a number of the result may be, or the least where more is better, such as "
                 "ttft_s_p99=0.5; repeatable")
      ->type_name(kKeyValue)
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
  app.add_option("--budget", options->budget,
                 "So many simulations, such as 500, or seconds, such as 30s; by default as many as a "
                 "proof needs, or 500 of methods that prove nothing")
      ->type_name("BUDGET");
  app.add_option("--top", options->top, "Best plans to show")
      ->check(integer_within(1, 1000))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "Of searches that draw lots")
      ->check(integer_within(0, std::int64_t{1} << 53));
  CLI::Option* json =
      add_output(app, "--json", options->json, "Write what was found as JSON (- for standard output)");
  add_output(app, "--html", options->html,
             "Write a page that shows the plans found and what became of the others");
  add_chart_options(app, options->picture, "the plans by what they weigh, or how the search got on,");
  app.add_option("--picture", options->picture_name,
                 "The chart: pareto (with --pareto the default) or search, its progress")
      ->type_name("NAME")
      ->check(one_of({kSearchPictureNames.begin(), kSearchPictureNames.end()}));
  app.add_option(
         "--emit", options->framework,
         "Print the best plan as arguments or configuration of a framework; with --quiet nothing else")
      ->type_name("FRAMEWORK")
      ->check(one_of(framework_names()))
      ->excludes(json);
  return [options, &common, &app] { return run(*options, common, threads_of(app, common)); };
}

}  // namespace orrery
