#include "studies/post_training/batches.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace orrery {
namespace {

/// Summed over the replicas: from the end of its last sample to the end of the batch.
Int128 tail_of(const Generation& generation, std::int64_t replicas) {
  std::vector<Picoseconds> ends(static_cast<std::size_t>(replicas));
  for (const GeneratedSample& sample : generation.samples)
    ends[sample.replica] = std::max(ends[sample.replica], sample.end_ps);
  Int128 sum = 0;
  for (const Picoseconds end : ends) sum += generation.duration_ps - std::min(end, generation.duration_ps);
  return sum;
}

}  // namespace

std::vector<Sample> BatchMaker::drawn(std::int64_t step, std::int64_t round) const {
  const auto prompts = static_cast<std::int64_t>(
      std::ceil(section_.oversampling * static_cast<double>(section_.prompts_per_step) - 1e-9));
  const std::int64_t draw = step * rounds() + round;
  return draw_samples(section_, experiment_.seed(), static_cast<std::uint64_t>(draw), prompts,
                      mean_response_of(section_, step));
}

/// Batches until enough of their groups can be kept.
std::int64_t BatchMaker::rounds() const {
  return static_cast<std::int64_t>(std::ceil(1 / (section_.kept_groups * section_.oversampling) - 1e-9));
}

/// The best sample of a prompt may be any of them.
std::vector<Sample> BatchMaker::trained(const std::vector<GeneratedSample>& generated) const {
  const bool best_alone = section_.algorithm == PostTrainingAlgorithm::rejection;
  const auto stride = static_cast<std::size_t>(best_alone ? section_.samples_per_prompt : 1);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < generated.size(); i += stride) samples.push_back(generated[i].sample);
  return samples;
}

Batch BatchMaker::batch(std::int64_t step) {
  Batch batch;
  const Plan& plan = experiment_.rollout().plan;
  for (std::int64_t round = 0; round < std::max<std::int64_t>(1, rounds()); ++round) {
    const std::vector<Sample> samples = drawn(step, round);
    batch.generation = generate(experiment_.rollout(), section_, samples, {}, memo_);
    if (!batch.generation.obstacle.empty()) return batch;
    if (section_.kept_groups * section_.oversampling >= 1) stop_early(batch.generation, section_);
    batch.generated += static_cast<std::int64_t>(samples.size());
    batch.generation_ps += batch.generation.duration_ps;
    batch.reward_ps += verified_ps(batch.generation, section_) - batch.generation.duration_ps;
    batch.tail_ps += tail_of(batch.generation, plan.data_parallel) * (plan.gpus() / plan.data_parallel);
  }
  batch.generation.samples.resize(
      std::min(batch.generation.samples.size(), static_cast<std::size_t>(section_.samples_per_step())));
  batch.trained = trained(batch.generation.samples);
  batch.work = pricer_.work(batch.trained);
  return batch;
}

}  // namespace orrery
