// Samples are generated without a break: each begins as soon as the bound of staleness and the engine allow,
// keeps its place when new weights come, and is trained on with those that end next.
#include <algorithm>
#include <utility>
#include <vector>

#include "studies/post_training/timeline.hpp"

namespace orrery {
namespace {

using Work = PostTrainingPhase;

/// The clock of the engine, which stands still while weights are loaded.
class EngineClock {
 public:
  explicit EngineClock(Picoseconds pause_ps) : pause_ps_(pause_ps) {}

  /// A pause begins; pauses come in order.
  void pause_at(Picoseconds wall_ps) { begins_.push_back(wall_ps - pause_ps_ * std::ssize(begins_)); }
  /// A sample that ends when a pause begins ends before it.
  [[nodiscard]] Picoseconds wall(Picoseconds engine_ps) const {
    return engine_ps + pause_ps_ * (std::ranges::lower_bound(begins_, engine_ps) - begins_.begin());
  }
  /// Pauses that began by then.
  [[nodiscard]] std::int64_t pauses_before(Picoseconds engine_ps) const {
    return std::ranges::upper_bound(begins_, engine_ps) - begins_.begin();
  }
  /// The time on this clock at which a pause begins and ends.
  [[nodiscard]] Picoseconds begin_of(std::int64_t pause) const {
    return begins_[static_cast<std::size_t>(pause)];
  }
  /// The time on this clock at a time outside pauses.
  [[nodiscard]] Picoseconds engine(Picoseconds wall_ps) const {
    std::int64_t over = 0;
    while (over < std::ssize(begins_) && wall_ps >= begin_of(over) + pause_ps_ * (over + 1)) ++over;
    return wall_ps - pause_ps_ * over;
  }

 private:
  Picoseconds pause_ps_;
  std::vector<Picoseconds> begins_;  ///< on this clock
};

struct StreamStep {
  Picoseconds start_ps = 0;
  TrainingWork work;
  std::vector<GeneratedSample> samples;
};

/// Batch k + bound + 1 may begin when update k has come to the rollouts. Whatever begins later changes
/// nothing before, so a run with n batches tells when the next one begins, and a run with that one in it goes
/// on from there.
class SampleStream {
 public:
  SampleStream(const StepSetting& setting, std::int64_t batches)
      : setting_(setting), section_(setting.experiment.section()), clock_(setting.sync_ps) {
    for (std::int64_t k = 0; k < batches; ++k) {
      const std::vector<Sample> drawn = setting.batches.samples(k);
      all_.insert(all_.end(), drawn.begin(), drawn.end());
    }
    batch_ = all_.size() / static_cast<std::size_t>(batches);
  }

  void run() {
    const std::int64_t all = std::ssize(all_) / static_cast<std::int64_t>(batch_);
    const std::int64_t bound = section_.staleness_bound();
    std::vector<Picoseconds> admitted(static_cast<std::size_t>(std::min(all, bound + 1)), 0);
    for (;; admitted.push_back(clock_.begin_of(std::ssize(admitted) - bound - 1))) {
      generate_until(admitted);
      train();
      if (std::ssize(admitted) == all) return;
    }
  }
  [[nodiscard]] const std::vector<StreamStep>& steps() const { return steps_; }
  [[nodiscard]] const EngineClock& clock() const { return clock_; }
  [[nodiscard]] const Generation& generation() const { return generation_; }

 private:
  /// @param admitted  when batches may begin, on the clock of the engine
  void generate_until(const std::vector<Picoseconds>& admitted) {
    std::vector<Picoseconds> arrivals;
    for (const Picoseconds at : admitted) arrivals.insert(arrivals.end(), batch_, at);
    const std::vector<Sample> samples(all_.begin(), all_.begin() + std::ssize(arrivals));
    generation_ =
        generate(setting_.experiment.rollout(), section_, samples, arrivals, setting_.batches.memo());
    for (std::size_t i = 0; i < generation_.samples.size(); ++i)
      generation_.samples[i].batch = static_cast<std::int64_t>(i / batch_);
    std::ranges::stable_sort(generation_.samples, {}, &GeneratedSample::end_ps);
    taken_.assign(generation_.samples.size(), false);
  }

  /// Takes samples that would be too old for the next step, and then those that end first; or those of the
  /// step's own batch.
  std::vector<GeneratedSample> take(std::int64_t step) {
    const std::int64_t oldest = step - section_.staleness_bound();
    std::vector<GeneratedSample> samples;
    for (const bool must : {true, false}) {
      for (std::size_t i = 0; i < taken_.size() && samples.size() < batch_; ++i) {
        const GeneratedSample& sample = generation_.samples[i];
        if (section_.whole_batches && sample.batch != step) continue;
        if (taken_[i] || (must && clock_.pauses_before(sample.start_ps) > oldest)) continue;
        taken_[i] = true;
        samples.push_back(sample);
      }
    }
    return samples;
  }

  void train() {
    const Picoseconds latency = from_microseconds(section_.verifier_latency_s * 1e6);
    clock_ = EngineClock(setting_.sync_ps);
    steps_.clear();
    Picoseconds free = 0;
    for (std::size_t first = 0; first + batch_ <= generation_.samples.size(); first += batch_) {
      StreamStep step;
      step.samples = take(std::ssize(steps_));
      step.work = setting_.batches.pricer().work(setting_.batches.trained(step.samples));
      const Picoseconds ended = std::ranges::max_element(step.samples, {}, &GeneratedSample::end_ps)->end_ps;
      step.start_ps = std::max(free, clock_.wall(ended) + latency);
      clock_.pause_at(step.start_ps + step.work.total_ps());
      free = step.start_ps + step.work.total_ps() + setting_.sync_ps;
      steps_.push_back(std::move(step));
    }
  }

  const StepSetting& setting_;
  const PostTraining& section_;
  std::vector<Sample> all_;
  std::size_t batch_ = 0;  ///< samples of a batch
  EngineClock clock_;
  Generation generation_;    ///< in the order of their ends
  std::vector<bool> taken_;  ///< by sample: it has been trained on
  std::vector<StreamStep> steps_;
};

void add_staleness(const StreamStep& step, std::int64_t number, const EngineClock& clock,
                   PostTrainingResult& result) {
  for (const GeneratedSample& sample : step.samples) {
    const auto updates =
        static_cast<std::size_t>(std::max<std::int64_t>(0, number - clock.pauses_before(sample.start_ps)));
    if (result.staleness.size() <= updates) result.staleness.resize(updates + 1);
    ++result.staleness[updates];
  }
}

/// Whole batches come in rounds of as many as may be begun ahead, with unlike times between them.
std::int64_t usual_steps(const PostTraining& section) {
  constexpr std::int64_t kUsualSteps = 3;
  if (!section.whole_batches) return kUsualSteps;
  const std::int64_t round = section.staleness_bound() + 1;
  return (kUsualSteps + round - 1) / round * round;
}

/// Time of replicas without a sample under way, summed over them, between two times of the engine.
Int128 idle_time(const Generation& generation, std::int64_t replicas, Picoseconds from, Picoseconds to) {
  std::vector<GeneratedSample> samples = generation.samples;
  std::ranges::sort(samples, {}, &GeneratedSample::start_ps);
  std::vector<Picoseconds> busy_until(static_cast<std::size_t>(replicas), from);
  Int128 idle = 0;
  for (const GeneratedSample& sample : samples) {
    Picoseconds& until = busy_until[sample.replica];
    idle += std::max<Picoseconds>(0, std::min(sample.start_ps, to) - until);
    until = std::max(until, std::min(sample.end_ps, to));
  }
  for (const Picoseconds until : busy_until) idle += std::max<Picoseconds>(0, to - until);
  return idle;
}

}  // namespace

/// Steps up to the one after whose begin no further batch could have changed anything.
void generate_on(const StepSetting& setting, PostTrainingResult& result) {
  const PostTrainingExperiment& experiment = setting.experiment;
  const PostTraining& section = experiment.section();
  const std::int64_t bound = section.staleness_bound();
  const std::int64_t measured = section.steps > 0 ? section.steps : usual_steps(section);
  const std::int64_t filling = bound + 1;
  SampleStream stream(setting, measured + filling + bound + 1);
  stream.run();
  const std::vector<StreamStep>& steps = stream.steps();
  const auto at = [&](std::int64_t k) -> const StreamStep& { return steps[static_cast<std::size_t>(k)]; };
  const Picoseconds origin = at(filling).start_ps;
  result.steps = measured;
  result.duration_ps = at(filling + measured).start_ps - origin;
  const Plan& plan = experiment.rollout().plan;
  result.idle.rollouts_ps = idle_time(stream.generation(), plan.data_parallel, stream.clock().engine(origin),
                                      stream.clock().engine(at(filling + measured).start_ps)) *
                            (plan.gpus() / plan.data_parallel);
  result.batch_mean = stream.generation().serving.batch_mean;
  result.preemptions = stream.generation().serving.preemptions;
  result.micro_batches = at(filling).work.first_update.shape.micro_batches;
  result.imbalance = at(filling).work.first_update.imbalance;
  result.fill = at(filling).work.first_update.fill;
  for (std::int64_t k = filling; k < filling + measured; ++k) {
    const Picoseconds start = at(k).start_ps - origin;
    const Picoseconds end = add_training(experiment, at(k).work, k, start, result);
    if (setting.sync_ps > 0) add_span(result, Work::weight_sync, GpuPool::trainers, k, end, setting.sync_ps);
    add_span(result, Work::generation, GpuPool::rollouts, k, start, at(k + 1).start_ps - at(k).start_ps);
    const Picoseconds waited = at(k + 1).start_ps - origin - end - setting.sync_ps;
    add_exposed(result, Work::weight_sync, setting.sync_ps);
    add_exposed(result, Work::generation, waited);
    result.idle.trainers_ps += Int128{waited} * experiment.gpus(PostTrainingRole::actor);
    count_samples(setting.batches.trained(at(k).samples), result);
    result.generated += std::ssize(at(k).samples);
    add_staleness(at(k), k, stream.clock(), result);
  }
}

}  // namespace orrery
