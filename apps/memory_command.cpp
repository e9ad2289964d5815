#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/chart_options.hpp"
#include "apps/experiment_arguments.hpp"
#include "apps/key_selection.hpp"
#include "apps/option_checks.hpp"
#include "apps/outputs.hpp"
#include "orrery/error.hpp"
#include "orrery/explorer_memory.hpp"
#include "orrery/require_training.hpp"
#include "orrery/simulate.hpp"
#include "reports/chart/memory_scene.hpp"
#include "reports/explorer_writers.hpp"
#include "sim/metrics/memory_fit.hpp"

namespace orrery {
namespace {

struct MemoryOptions {
  ExperimentArguments arguments;
  std::string json, csv;
  ChartArguments picture;
  KeySelection keys;
  std::string accounting = "orrery";
};

/// Writes a result in one of its formats.
using Writer = std::function<void(const Sink&)>;

/// Holds the result of a memory accounting.
struct MemoryResult {
  bool feasible = true;
  Writer json, csv, summary;
  std::function<ChartScene()> scene;  ///< none where the accounting has no stages
};

int deliver(const MemoryOptions& options, const CommonOptions& common, const MemoryResult& result) {
  Outputs outputs(options.arguments.experiment);
  for (const std::string& file : options.arguments.calibrations) outputs.protect(file);
  OutputFile* json = outputs.open(options.json);
  OutputFile* csv = outputs.open(options.csv);
  const ChartFiles picture(options.picture, outputs);
  if (json != nullptr) result.json(to(*json));
  if (csv != nullptr) result.csv(to(*csv));
  if (picture.any()) picture.write(result.scene());
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) print_written(result.summary);
  return result.feasible ? kDone : kInfeasible;
}

/// A way to count memory: for one experiment, and for a line of a batch; of the result those keys.
struct Accounting {
  std::string name;
  MemoryResult (*result)(const Experiment&, const ResultSelection& keys);
  std::string (*line)(const Experiment&, const ResultSelection& keys, const Figures& of_keys);
};

MemoryResult orrery_result(const Experiment& experiment, const ResultSelection& keys) {
  const Report report = account_memory(experiment);
  return {report.feasible, [report, keys](const Sink& sink) { write_json(report, keys, 2, sink); },
          [report, keys](const Sink& sink) { write_csv(report, keys, sink); },
          [report](const Sink& sink) { write_summary(report, terminal_style(), sink); },
          [report] { return memory_scene(report); }};
}

std::string orrery_line(const Experiment& experiment, const ResultSelection& keys, const Figures& of_keys) {
  return json_line(account_memory(experiment, of_keys), keys);
}

ExplorerAnswer explorer_answer(const Experiment& experiment) {
  require_training(experiment, "memory as the explorer counts it");
  return {experiment, explorer_memory(experiment.model, experiment.plan),
          smallest_gpu_memory(experiment.cluster).whole};
}

MemoryResult explorer_result(const Experiment& experiment, const ResultSelection&) {
  const ExplorerAnswer answer = explorer_answer(experiment);
  return {answer.feasible(),
          [answer](const Sink& sink) { write_explorer_json(answer, 2, sink); },
          [answer](const Sink& sink) { write_explorer_csv(answer, sink); },
          [answer](const Sink& sink) { write_explorer_summary(answer, sink); },
          {}};
}

std::string explorer_line(const Experiment& experiment, const ResultSelection&, const Figures&) {
  std::string line;
  write_explorer_json(explorer_answer(experiment), -1, [&line](std::string_view text) { line += text; });
  return line;
}

const std::vector<Accounting>& accountings() {
  static const std::vector<Accounting> all{{"orrery", orrery_result, orrery_line},
                                           {"explorer", explorer_result, explorer_line}};
  return all;
}

const Accounting& accounting_named(const std::string& name) {
  return *std::ranges::find(accountings(), name, &Accounting::name);
}

std::vector<std::string> accounting_names() {
  std::vector<std::string> names;
  for (const Accounting& accounting : accountings()) names.push_back(accounting.name);
  return names;
}

ResultSelection selected_by(const MemoryOptions& options) {
  if (options.keys.only && options.accounting != "orrery")
    throw InputError(
        {Diagnostic{"command line", 0, 0, "", "--only is allowed only with --accounting orrery"}});
  if (options.picture.any() && options.accounting != "orrery")
    throw InputError({Diagnostic{"command line", 0, 0, "",
                                 "--svg, --png and --pdf are allowed only with --accounting orrery"}});
  const bool csv = !options.csv.empty();
  return selected_keys(options.keys, csv || !options.json.empty() || options.arguments.batch, csv);
}

}  // namespace

Command add_memory(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<MemoryOptions>();
  CLI::Option* batch = add_experiment_arguments(app, options->arguments);
  add_output(app, "--json", options->json, "Write the result as JSON, its times null (- for standard output)")
      ->excludes(batch);
  add_output(app, "--csv", options->csv, "Write the result as one CSV row")->excludes(batch);
  for (CLI::Option* picture : add_chart_options(app, options->picture, "what each stage holds"))
    picture->excludes(batch);
  app.add_option("--accounting", options->accounting,
                 "How memory is counted: by category and stage, or as the LLM Parallelism Explorer does")
      ->type_name("NAME")
      ->check(one_of(accounting_names()));
  add_only(app, options->keys);
  return [options, &common] {
    const Accounting& accounting = accounting_named(options->accounting);
    const ResultSelection keys = selected_by(*options);
    const Figures of_keys = keys.figures();
    const auto one = [&](const LocatedExperiment& read) {
      return deliver(*options, common, read.apply([&](const Experiment& experiment) {
        return accounting.result(experiment, keys);
      }));
    };
    return run_on_experiments(options->arguments, common, one, [&]() -> LineMaker {
      return [&](const Experiment& experiment) { return accounting.line(experiment, keys, of_keys); };
    });
  };
}

}  // namespace orrery
