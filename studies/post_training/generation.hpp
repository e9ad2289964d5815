// Generates the samples of a step on the serving engine, and verifies them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/post_training.hpp"
#include "orrery/serving.hpp"
#include "orrery/units.hpp"
#include "sim/step/memo.hpp"
#include "studies/post_training/samples.hpp"

namespace orrery {

struct GeneratedSample {
  Sample sample;
  std::uint32_t replica = 0;
  Picoseconds start_ps = 0;
  Picoseconds end_ps = 0;
  std::int64_t batch = 0;  ///< where batches follow each other without a break
};

/// Holds the samples of a batch with their times, from its beginning.
struct Generation {
  std::string obstacle;  ///< why nothing can be generated; else empty
  std::vector<GeneratedSample> samples;
  Serving serving;
  Picoseconds duration_ps = 0;  ///< until the batch has all that it needs
};

/// @param arrivals_ps  of each sample, ascending; empty: all at 0
[[nodiscard]] Generation generate(const Experiment& rollout, const PostTraining& section,
                                  const std::vector<Sample>& samples,
                                  const std::vector<Picoseconds>& arrivals_ps, Memo& memo);

/// Keeps the groups that end first, as many as a step needs, and ends the batch with the last of them.
void stop_early(Generation& generation, const PostTraining& section);

/// Returns when the last of the samples is verified, each in its turn once it has ended.
[[nodiscard]] Picoseconds verified_ps(const Generation& generation, const PostTraining& section);

}  // namespace orrery
