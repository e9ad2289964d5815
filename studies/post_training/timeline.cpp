#include "studies/post_training/timeline.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace orrery {
namespace {

using Work = PostTrainingPhase;

Picoseconds of(const PhaseTimes& times, Work phase) { return times[static_cast<std::size_t>(phase)]; }

/// Whose GPUs a phase of training runs on.
GpuPool pool_of(const PostTrainingExperiment& experiment, Work phase) {
  if (experiment.section().placement != RolePlacement::hybrid) return GpuPool::trainers;
  if (phase == Work::reference) return GpuPool::reference;
  if (phase == Work::reward) return GpuPool::reward;
  return phase == Work::values || phase == Work::update_critic ? GpuPool::critic : GpuPool::trainers;
}

/// Phases begin together where their GPUs differ, else in turn.
Picoseconds add_phases(const PostTrainingExperiment& experiment, const TrainingWork& work,
                       std::initializer_list<Work> phases, std::int64_t step, Picoseconds start_ps,
                       PostTrainingResult& result) {
  const bool together = experiment.section().placement == RolePlacement::hybrid;
  Picoseconds end = start_ps;
  Picoseconds covered = start_ps;
  for (const Work phase : phases) {
    const Picoseconds time = of(work.phases, phase);
    if (time == 0) continue;
    const Picoseconds finish =
        add_span(result, phase, pool_of(experiment, phase), step, together ? start_ps : end, time);
    end = std::max(end, finish);
    add_exposed(result, phase, std::max<Picoseconds>(0, finish - covered));
    covered = std::max(covered, finish);
  }
  return end;
}

/// GPUs of roles apart are idle but for their phases.
void add_idle_roles(const PostTrainingExperiment& experiment, PostTrainingResult& result) {
  using Role = PostTrainingRole;
  constexpr std::array kApart{std::pair{Role::reference, GpuPool::reference},
                              std::pair{Role::critic, GpuPool::critic},
                              std::pair{Role::reward, GpuPool::reward}};
  for (const auto& [role, pool] : kApart) {
    if (!experiment.has(role)) continue;
    Picoseconds busy = 0;
    for (const PhaseSpan& span : result.spans)
      if (span.pool == pool) busy += span.finish_ps - span.start_ps;
    result.idle.others_ps += Int128{result.duration_ps - busy} * experiment.gpus(role);
  }
}

void count_batch(const Batch& batch, PostTrainingResult& result) {
  count_samples(batch.trained, result);
  result.generated += batch.generated;
  result.idle.tail_ps += batch.tail_ps;
  result.preemptions += batch.generation.serving.preemptions;
}

void describe_first(const Batch& batch, PostTrainingResult& result) {
  result.running = running_samples(batch.generation);
  result.micro_batches = batch.work.first_update.shape.micro_batches;
  result.imbalance = batch.work.first_update.imbalance;
  result.fill = batch.work.first_update.fill;
  result.batch_mean = batch.generation.serving.batch_mean;
}

/// One step of phases in turn.
class Turns {
 public:
  Turns(const StepSetting& setting, PostTrainingResult& result)
      : setting_(setting), experiment_(setting.experiment), result_(result) {}

  void step(std::int64_t number, const Batch& batch) {
    const bool apart = experiment_.section().placement == RolePlacement::disaggregated;
    const GpuPool rollouts = apart ? GpuPool::rollouts : GpuPool::trainers;
    const Picoseconds begin = now_;
    add(Work::weight_sync, rollouts, number, setting_.sync_ps);
    add(Work::switching, rollouts, number, setting_.to_host_ps);
    add(Work::generation, rollouts, number, batch.generation_ps);
    add(Work::reward, rollouts, number, batch.reward_ps);
    const Picoseconds waited = now_ - begin - setting_.sync_ps;
    add(Work::switching, rollouts, number, setting_.from_host_ps);
    const Picoseconds trained_from = now_;
    now_ = add_training(experiment_, batch.work, number, now_, result_);
    if (!apart) return;
    result_.idle.trainers_ps += Int128{waited} * experiment_.gpus(PostTrainingRole::actor);
    result_.idle.rollouts_ps +=
        Int128{now_ - trained_from + batch.reward_ps} * experiment_.gpus(PostTrainingRole::rollout);
  }
  [[nodiscard]] Picoseconds now() const { return now_; }

 private:
  void add(Work phase, GpuPool pool, std::int64_t step, Picoseconds time) {
    if (time == 0) return;
    now_ = add_span(result_, phase, pool, step, now_, time);
    add_exposed(result_, phase, time);
  }

  const StepSetting& setting_;
  const PostTrainingExperiment& experiment_;
  PostTrainingResult& result_;
  Picoseconds now_ = 0;
};

/// When a batch is generated and trained on.
struct AheadStep {
  Picoseconds generation_start_ps = 0;
  Picoseconds ready_ps = 0;  ///< generated and verified
  Picoseconds load_ps = 0;   ///< of new weights, before its generation
  Picoseconds training_start_ps = 0;
  std::int64_t version = 0;  ///< updates in the weights that it is generated with
};

/// Updates and batches beside each other. With a bound of one, new weights come to the rollouts between two
/// batches, when an update has ended too: both wait for each other, and for the transfer. With a larger bound
/// trainers leave the weights where rollouts fetch them before their next batch.
class Ahead {
 public:
  Ahead(const StepSetting& setting, std::int64_t bound) : sync_ps_(setting.sync_ps), bound_(bound) {}

  void add(const Batch& batch) {
    AheadStep step;
    const auto k = static_cast<std::int64_t>(steps_.size());
    step.generation_start_ps = rollouts_free_;
    step.version = bound_ == 1 ? std::max<std::int64_t>(0, k - 1) : fetch(k, step);
    const Picoseconds generated = step.generation_start_ps + batch.generation_ps;
    step.ready_ps = generated + batch.reward_ps;
    step.training_start_ps = std::max(trainers_free_, step.ready_ps);
    if (bound_ == 1 && k > 0) step.training_start_ps += sync_ps_;
    rollouts_free_ = bound_ == 1 ? step.training_start_ps : generated;
    trainers_free_ = step.training_start_ps + batch.work.total_ps() + (bound_ == 1 ? 0 : sync_ps_);
    written_.push_back(trainers_free_);
    steps_.push_back(step);
  }
  [[nodiscard]] const std::vector<AheadStep>& steps() const { return steps_; }

 private:
  /// Waits until the weights are new enough, and loads the newest; returns their version.
  std::int64_t fetch(std::int64_t k, AheadStep& step) {
    Picoseconds start = rollouts_free_;
    if (k > bound_) start = std::max(start, written_[static_cast<std::size_t>(k - bound_ - 1)]);
    const std::int64_t newest = std::ranges::upper_bound(written_, start) - written_.begin();
    if (newest > loaded_) step.load_ps = sync_ps_;
    loaded_ = newest;
    step.generation_start_ps = start + step.load_ps;
    return newest;
  }

  Picoseconds sync_ps_;
  std::int64_t bound_;
  Picoseconds rollouts_free_ = 0;
  Picoseconds trainers_free_ = 0;
  std::int64_t loaded_ = 0;
  std::vector<Picoseconds> written_;
  std::vector<AheadStep> steps_;
};

void add_staleness(std::int64_t updates, std::int64_t samples, PostTrainingResult& result) {
  if (std::ssize(result.staleness) <= updates) result.staleness.resize(static_cast<std::size_t>(updates) + 1);
  result.staleness[static_cast<std::size_t>(updates)] += samples;
}

}  // namespace

Picoseconds add_span(PostTrainingResult& result, PostTrainingPhase phase, GpuPool pool, std::int64_t step,
                     Picoseconds start_ps, Picoseconds duration_ps) {
  result.spans.push_back({phase, pool, step, start_ps, start_ps + duration_ps});
  result.phases[static_cast<std::size_t>(phase)] += duration_ps;
  return start_ps + duration_ps;
}

Picoseconds add_training(const PostTrainingExperiment& experiment, const TrainingWork& work,
                         std::int64_t step, Picoseconds start_ps, PostTrainingResult& result) {
  const Picoseconds experienced =
      add_phases(experiment, work,
                 {Work::old_log_probabilities, Work::switching, Work::reference, Work::values, Work::reward},
                 step, start_ps, result);
  return add_phases(experiment, work, {Work::update_critic, Work::update_actor}, step, experienced, result);
}

void count_samples(const std::vector<Sample>& trained, PostTrainingResult& result) {
  result.samples += std::ssize(trained);
  for (const Sample& sample : trained) {
    result.prompt_tokens += sample.prompt_tokens;
    result.response_tokens += sample.response_tokens;
  }
}

std::vector<RunningSamples> running_samples(const Generation& generation) {
  constexpr std::array kPercent{25, 50, 75, 90, 95, 99};
  std::vector<RunningSamples> running;
  for (const int percent : kPercent) {
    const auto at = static_cast<Picoseconds>(Int128{generation.duration_ps} * percent / 100);
    const auto is_running = [at](const GeneratedSample& s) { return s.start_ps <= at && at < s.end_ps; };
    running.push_back({percent / 100.0, std::ranges::count_if(generation.samples, is_running)});
  }
  return running;
}

void take_turns(const StepSetting& setting, Batch first, PostTrainingResult& result) {
  const std::int64_t steps = std::max<std::int64_t>(1, setting.experiment.section().steps);
  Turns turns(setting, result);
  describe_first(first, result);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = step == 0 ? std::move(first) : setting.batches.batch(step);
    turns.step(step, batch);
    count_batch(batch, result);
  }
  result.steps = steps;
  result.duration_ps = turns.now();
  result.staleness = {result.samples};
  if (setting.experiment.section().placement == RolePlacement::hybrid)
    add_idle_roles(setting.experiment, result);
}

/// Figures are of steps after those in which the pipeline of batches fills, from the beginning of training on
/// a batch to that of the next one.
void generate_ahead(const StepSetting& setting, Batch first, PostTrainingResult& result) {
  const PostTrainingExperiment& experiment = setting.experiment;
  const std::int64_t bound = experiment.section().staleness_bound();
  constexpr std::int64_t kUsualSteps = 4;
  const std::int64_t measured = experiment.section().steps > 0 ? experiment.section().steps : kUsualSteps;
  const std::int64_t filling = bound + 1;
  describe_first(first, result);
  std::vector<Batch> batches;
  batches.push_back(std::move(first));
  Ahead ahead(setting, bound);
  ahead.add(batches.front());
  for (std::int64_t k = 1; k <= filling + measured; ++k) {
    batches.push_back(setting.batches.batch(k));
    ahead.add(batches.back());
  }
  const std::vector<AheadStep>& steps = ahead.steps();
  const auto at = [&](std::int64_t k) -> const AheadStep& { return steps[static_cast<std::size_t>(k)]; };
  const Picoseconds origin = at(filling).training_start_ps;
  result.steps = measured;
  result.duration_ps = at(filling + measured).training_start_ps - origin;
  Picoseconds generating = 0;
  for (std::int64_t k = filling; k < filling + measured; ++k) {
    const Batch& batch = batches[static_cast<std::size_t>(k)];
    const Picoseconds start = at(k).training_start_ps - origin;
    const Picoseconds end = add_training(experiment, batch.work, k, start, result);
    const AheadStep& next = at(k + 1);
    const Batch& coming = batches[static_cast<std::size_t>(k + 1)];
    const Picoseconds waited = next.training_start_ps - origin - end - setting.sync_ps;
    const Picoseconds verifying = std::min(waited, coming.reward_ps);
    add_span(result, Work::generation, GpuPool::rollouts, k + 1, next.generation_start_ps - origin,
             coming.generation_ps);
    if (coming.reward_ps > 0)
      add_span(result, Work::reward, GpuPool::rollouts, k + 1, next.ready_ps - coming.reward_ps - origin,
               coming.reward_ps);
    if (setting.sync_ps > 0) {
      const Picoseconds from = bound == 1 ? next.training_start_ps - origin - setting.sync_ps : end;
      add_span(result, Work::weight_sync, GpuPool::trainers, k, from, setting.sync_ps);
    }
    add_exposed(result, Work::weight_sync, setting.sync_ps);
    add_exposed(result, Work::reward, verifying);
    add_exposed(result, Work::generation, waited - verifying);
    result.idle.trainers_ps += Int128{waited} * experiment.gpus(PostTrainingRole::actor);
    generating += coming.generation_ps + (bound == 1 ? setting.sync_ps : next.load_ps);
    count_batch(batch, result);
    add_staleness(k - at(k).version, std::ssize(batch.trained), result);
  }
  result.idle.rollouts_ps += Int128{std::max<Picoseconds>(0, result.duration_ps - generating)} *
                             experiment.gpus(PostTrainingRole::rollout);
}

}  // namespace orrery
