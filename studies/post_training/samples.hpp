// Draws the samples of a step: a prompt each, and the tokens of its outputs.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/post_training.hpp"

namespace orrery {

struct Sample {
  std::int64_t prompt_tokens = 0;
  std::int64_t response_tokens = 0;

  [[nodiscard]] std::int64_t tokens() const { return prompt_tokens + response_tokens; }
  friend bool operator==(const Sample&, const Sample&) = default;
};

/// Returns the samples of `prompts` prompts, those of one prompt side by side. Log-normal outputs are scaled
/// so that their mean, after the cut to the longest, is the one asked for: logs print that one.
/// @param draw  a number of its own for each set of samples
/// @param mean_response  of log-normal outputs
[[nodiscard]] std::vector<Sample> draw_samples(const PostTraining& section, std::uint64_t seed,
                                               std::uint64_t draw, std::int64_t prompts,
                                               double mean_response);

/// Returns the mean of log-normal outputs in a step, where it grows.
[[nodiscard]] double mean_response_of(const PostTraining& section, std::int64_t step);

}  // namespace orrery
