// Writes a step of post-training as the launch of verl. Names are those of verl 0.6 with its recipes
// one_step_off_policy and fully_async_policy (2025-11).
#pragma once

#include <string>

#include "config/experiment/read_post_training.hpp"

namespace orrery {

inline constexpr const char* kVerl = "verl";

/// Returns a shell script: each setting with the key that it comes from, and below them in comments the keys
/// that verl has no word for, with the reason.
[[nodiscard]] std::string write_verl(const PostTrainingExperiment& experiment);

}  // namespace orrery
