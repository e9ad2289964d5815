// Runs an experiment with a section `post_training`, for `orrery simulate`.
#pragma once

#include <optional>
#include <string>

#include "apps/commands.hpp"
#include "apps/experiment_arguments.hpp"

namespace orrery {

struct PostTrainingFiles {
  std::string json, csv, trace;
};

/// @param text  of the experiment
/// @returns the exit status
int run_post_training(const std::string& text, const ExperimentArguments& arguments,
                      const PostTrainingFiles& files, const CommonOptions& common);

/// Prints the step as the launch of verl; returns the exit status.
int emit_post_training(const std::string& text, const ExperimentArguments& arguments);

}  // namespace orrery
