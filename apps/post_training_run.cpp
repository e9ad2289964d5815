#include "apps/post_training_run.hpp"

#include <cstdio>

#include "apps/calibration_files.hpp"
#include "apps/outputs.hpp"
#include "config/experiment/read_post_training.hpp"
#include "planner/emit/verl.hpp"
#include "studies/post_training/post_training.hpp"

namespace orrery {
namespace {

PostTrainingExperiment read_post_training(const std::string& text, const ExperimentArguments& arguments) {
  return PostTrainingExperiment(text, arguments.experiment, arguments.overrides,
                                catalog_with(arguments.calibrations), menus());
}

}  // namespace

int emit_post_training(const std::string& text, const ExperimentArguments& arguments) {
  const std::string script = write_verl(read_post_training(text, arguments));
  std::fwrite(script.data(), 1, script.size(), stdout);
  return kDone;
}

int run_post_training(const std::string& text, const ExperimentArguments& arguments,
                      const PostTrainingFiles& files, const CommonOptions& common) {
  Outputs outputs(arguments.experiment);
  for (const std::string& file : arguments.calibrations) outputs.protect(file);
  OutputFile* const json = outputs.open(files.json);
  OutputFile* const csv = outputs.open(files.csv);
  OutputFile* const trace = outputs.open(files.trace);
  const PostTrainingExperiment experiment = read_post_training(text, arguments);
  const PostTrainingResult result = simulate_post_training(experiment);
  if (json != nullptr) json->write(post_training_json(result, 2));
  if (csv != nullptr) csv->write(post_training_csv(result));
  if (trace != nullptr) trace->write(post_training_trace(result));
  outputs.commit();
  if (!common.quiet && !outputs.use_standard_output()) std::fputs(post_training_text(result).c_str(), stdout);
  return result.feasible ? kDone : kInfeasible;
}

}  // namespace orrery
