#include "studies/post_training/training_work.hpp"

#include <algorithm>
#include <utility>

#include "studies/post_training/forward_pass.hpp"
#include "studies/post_training/role_memory.hpp"

namespace orrery {
namespace {

Picoseconds& of(PhaseTimes& times, PostTrainingPhase phase) { return times[static_cast<std::size_t>(phase)]; }

/// Fused attention over all earlier tokens can be kept within samples; windows, indexers, layers that recur
/// and sequences that ranks share are priced without such a mask.
bool can_pack(const Experiment& experiment) {
  const Model& model = experiment.model;
  const bool shares_sequences = experiment.plan.context_parallel > 1 &&
                                experiment.plan.context_parallel_type != ContextParallelType::all_to_all;
  return !shares_sequences && model.attention == Attention::flash && model.window == 0 &&
         model.indexer.top_k == 0 && model.layer_pattern.empty() && model.encoder_layers == 0;
}

/// A pipeline keeps activations of as many micro-batches as it has stages.
std::int64_t filling_micro_batches(const Plan& plan, std::int64_t multiple) {
  return (plan.pipeline_parallel + multiple - 1) / multiple * multiple;
}

/// Interleaved schedules run groups of micro-batches, and two copies of a model share them.
std::int64_t micro_batch_multiple(const Plan& plan) {
  return plan.model_copies() * (plan.virtual_stages > 1 ? plan.pipeline_parallel : 1);
}

}  // namespace

PackedSamples TrainingPricer::packed(PostTrainingRole role, bool forward_alone,
                                     std::vector<std::int64_t> lengths) const {
  const Experiment& experiment = experiment_.role(role);
  return pack_samples(
      std::move(lengths),
      {experiment.plan.data_parallel, experiment_.micro_batch_tokens(forward_alone),
       experiment_.tokens_divisor(role), forward_alone ? 1 : micro_batch_multiple(experiment.plan),
       can_pack(experiment), !experiment_.section().packing});
}

Picoseconds TrainingPricer::priced(PostTrainingRole role, bool forward_alone, const TrainingShape& shape) {
  const auto [known, is_new] = known_.try_emplace(
      {role, forward_alone, shape.sequence_tokens, shape.sample_tokens, shape.sequences, shape.micro_batches},
      0);
  if (!is_new) return known->second;
  const Experiment experiment = experiment_.training(role, shape);
  if (forward_alone) return known->second = forward_time(experiment, memo_);
  constexpr Figures kTimeAlone{false, false, false, false, false};
  const Report report = simulator_.simulate(experiment, kTimeAlone);
  return known->second = report.makespan_ps / report.steps;
}

Picoseconds TrainingPricer::forward(PostTrainingRole role, const std::vector<std::int64_t>& lengths) {
  return priced(role, true, packed(role, true, lengths).shape);
}

/// Updates take equal numbers of samples, one after the other.
Picoseconds TrainingPricer::updates(PostTrainingRole role, const std::vector<std::int64_t>& lengths,
                                    PackedSamples* first) {
  const PostTraining& section = experiment_.section();
  const auto count = static_cast<std::size_t>(section.updates_per_step);
  Picoseconds sum = 0;
  for (std::size_t update = 0; update < count; ++update) {
    const auto begin = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() * update / count);
    const auto end = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() * (update + 1) / count);
    const PackedSamples one = packed(role, false, {begin, end});
    if (update == 0 && first != nullptr) *first = one;
    sum += priced(role, false, one.shape);
  }
  return sum * section.epochs;
}

TrainingWork TrainingPricer::work(const std::vector<Sample>& samples) {
  const PostTraining& section = experiment_.section();
  std::vector<std::int64_t> lengths;
  for (const Sample& sample : samples) lengths.push_back(sample.tokens());
  TrainingWork work;
  PhaseTimes& times = work.phases;
  using Timed = PostTrainingPhase;
  using Role = PostTrainingRole;
  if (section.old_log_probabilities) of(times, Timed::old_log_probabilities) = forward(Role::actor, lengths);
  if (experiment_.has(Role::reference)) of(times, Timed::reference) = forward(Role::reference, lengths);
  if (section.swap_reference) of(times, Timed::switching) = swap_time();
  if (experiment_.has(Role::critic)) of(times, Timed::values) = forward(Role::critic, lengths);
  if (experiment_.has(Role::reward)) of(times, Timed::reward) = forward(Role::reward, lengths);
  of(times, Timed::update_actor) = updates(Role::actor, lengths, &work.first_update);
  if (experiment_.has(Role::critic))
    of(times, Timed::update_critic) = updates(Role::critic, lengths, nullptr);
  // Roles with GPUs of their own work side by side, others in turn.
  const std::array experience{of(times, Timed::old_log_probabilities), of(times, Timed::switching),
                              of(times, Timed::reference), of(times, Timed::values),
                              of(times, Timed::reward)};
  const std::array update{of(times, Timed::update_actor), of(times, Timed::update_critic)};
  if (section.placement == RolePlacement::hybrid) {
    work.experience_ps = *std::ranges::max_element(experience);
    work.update_ps = *std::ranges::max_element(update);
  } else {
    for (const Picoseconds one : experience) work.experience_ps += one;
    for (const Picoseconds one : update) work.update_ps += one;
  }
  return work;
}

/// The actor's weights go to the host, the reference's come from there, and the actor's come back.
Picoseconds TrainingPricer::swap_time() {
  if (swap_ps_ < 0) {
    const Report report = largest_update(PostTrainingRole::actor);
    const auto most = std::ranges::max_element(report.stage_memory, {}, &StageMemory::parameters);
    swap_ps_ =
        to_host_time(experiment_, most->parameters) + 2 * from_host_time(experiment_, most->parameters);
  }
  return swap_ps_;
}

Report TrainingPricer::largest_update(PostTrainingRole role) {
  const std::int64_t divisor = experiment_.tokens_divisor(role);
  const std::int64_t tokens = (experiment_.micro_batch_tokens(false) + divisor - 1) / divisor * divisor;
  const Plan& plan = experiment_.role(role).plan;
  return account_memory(
      experiment_.training(role, {tokens, 0, 1, filling_micro_batches(plan, micro_batch_multiple(plan))}));
}

}  // namespace orrery
