#include "apps/space_arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "apps/calibration_files.hpp"
#include "apps/option_checks.hpp"
#include "apps/table_arguments.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_space(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

Condition condition_of(const std::string& text) {
  try {
    return Condition(text);
  } catch (const ConditionError& error) {
    refuse_space("--where: " + error.message);
  }
}

}  // namespace

void add_space_options(CLI::App& app, SpaceArguments& arguments) {
  const auto once_each = [](CLI::Option* option) {
    option->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  once_each(app.add_option("--vary", arguments.vary,
                           "KEY=V1,V2,... or a range 1..64*2, 1..8+1, or auto: all values that may fit, or "
                           "50~800: all numbers between, for searches that take them")
                ->type_name(kKeyValue));
  once_each(app.add_option("--where", arguments.where,
                           "A condition, such as \"plan.tensor_parallel * plan.pipeline_parallel <= 64\"")
                ->type_name("CONDITION"));
  add_calibration_files(app, arguments.calibrations);
}

SpaceDescription description_of(const SpaceArguments& arguments) {
  SpaceDescription description;
  if (!arguments.space.empty()) description = read_space(read_text(arguments.space), arguments.space);
  // Keys of the file give way to those of the command line. The caller that counts the points finds a key
  // that is varied twice.
  std::vector<SpaceKey> varied;
  for (const std::string& text : arguments.vary) varied.push_back(parse_space_key(text));
  std::erase_if(description.keys, [&varied](const SpaceKey& key) {
    return std::ranges::find(varied, key.key, &SpaceKey::key) != varied.end();
  });
  std::ranges::move(varied, std::back_inserter(description.keys));
  for (const std::string& text : arguments.where) description.conditions.push_back(condition_of(text));
  return description;
}

Space space_around(const std::string& file, SpaceDescription description, const SpaceArguments& arguments,
                   Intervals intervals) {
  BaseExperiment base;
  if (!file.empty())
    base = {file, read_text(file)};
  else if (!description.experiment_text.empty())
    base = {"experiment of " + arguments.space, description.experiment_text};
  else if (!description.experiment_file.empty())
    base = {description.experiment_file, read_text(description.experiment_file)};
  else
    refuse_space("an experiment is missing: a file, or the key experiment of the space");
  base.overrides = overrides_among(arguments.files);
  return {std::move(description), std::move(base), catalog_with(arguments.calibrations), menus(), intervals};
}

}  // namespace orrery
