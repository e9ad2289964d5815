#include "studies/jobs/jobs_simulation.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "orrery/error.hpp"
#include "studies/jobs/link_sharing.hpp"
#include "studies/jobs/node_pool.hpp"

namespace orrery {
namespace {

constexpr int kPaceBits = 30;  // a job that nobody slows has the pace 2^30
constexpr std::int64_t kFullJobPace = std::int64_t{1} << kPaceBits;
constexpr std::size_t kMostBackfillTests = 1000;  // waiting jobs that may pass the first one, each time

enum class JobState : std::uint8_t { coming, waiting, restarting, running, leaving, done };

struct LiveJob {
  JobState state = JobState::coming;
  LongPicoseconds left_ps = 0;   ///< of its work, at `since_ps`
  LongPicoseconds since_ps = 0;  ///< its state, or its pace, is as it is
  LongPicoseconds queued_ps = 0;
  LongPicoseconds stint_ps = 0;  ///< begin of the stint
  LongPicoseconds event_ps = 0;  ///< its next one
  std::int64_t pace = kFullJobPace;
  bool ran = false;
  std::vector<GpuId> gpus;
};

class JobsSimulation {
 public:
  explicit JobsSimulation(const JobsModel& model)
      : model_(model), pool_(model.nodes, model.gpus_per_node, model.nodes_per_leaf), sharing_(model) {
    jobs_.resize(model.jobs.size());
    outcome_.jobs.resize(model.jobs.size());
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      jobs_[job].left_ps = model.jobs[job].work_ps;
      expect(job, model.jobs[job].arrival_ps);
    }
  }

  JobsOutcome run() {
    while (done_ < jobs_.size()) {
      move_to(std::get<0>(*events_.begin()));
      while (!events_.empty() && std::get<0>(*events_.begin()) == now_) {
        const std::size_t job = std::get<1>(*events_.begin());
        events_.erase(events_.begin());
        take_event(job);
      }
      schedule();
      set_paces();
    }
    outcome_.makespan_ps = now_;
    return std::move(outcome_);
  }

 private:
  /// Waiting jobs in their order: priority, then what the queueing goes by, then number.
  using Turn = std::tuple<std::int64_t, LongPicoseconds, std::size_t>;
  static constexpr std::size_t kTick = static_cast<std::size_t>(-1);

  [[nodiscard]] const ModelJob& of(std::size_t job) const { return model_.jobs[job]; }

  // --- time
  // -------------------------------------------------------------------------------------------------

  void expect(std::size_t job, LongPicoseconds time) {
    events_.erase({jobs_[job].event_ps, job});
    jobs_[job].event_ps = time;
    events_.emplace(time, job);
  }

  void move_to(LongPicoseconds time) {
    outcome_.idle_gpu_ps += Int128{pool_.free_gpus()} * (time - now_);
    if (blocked_) outcome_.blocked_ps += time - now_;
    now_ = time;
  }

  void take_event(std::size_t job) {
    if (job == kTick) return;
    LiveJob& live = jobs_[job];
    switch (live.state) {
      case JobState::coming:
        return wait(job);
      case JobState::restarting:
        outcome_.jobs[job].lost_ps += now_ - live.since_ps;
        return begin_steps(job);
      case JobState::running:
        account_steps(job);
        outcome_.jobs[job].end_ps = now_;
        ++done_;
        return leave(job, JobState::done);
      case JobState::leaving:
        outcome_.jobs[job].lost_ps += now_ - live.since_ps;
        --leaving_;
        leave(job, JobState::waiting);
        return wait(job);
      case JobState::waiting:
      case JobState::done:
        break;
    }
  }

  void wait(std::size_t job) {
    LiveJob& live = jobs_[job];
    live.state = JobState::waiting;
    live.since_ps = now_;
    const bool first_again = model_.queueing == JobQueueing::priority && live.ran;
    live.queued_ps = first_again ? of(job).arrival_ps : now_;
    waiting_.insert(turn(job));
  }

  [[nodiscard]] Turn turn(std::size_t job) const {
    const bool by_work = model_.queueing == JobQueueing::shortest;
    return {-of(job).priority, by_work ? jobs_[job].left_ps : jobs_[job].queued_ps, job};
  }

  // --- GPUs
  // -------------------------------------------------------------------------------------------------

  void start(std::size_t job, std::vector<GpuId> gpus) {
    LiveJob& live = jobs_[job];
    waiting_.erase(turn(job));
    pool_.take(gpus);
    on_gpus_.insert(job);
    live.gpus = std::move(gpus);
    live.stint_ps = now_;
    JobOutcome& outcome = outcome_.jobs[job];
    outcome.wait_ps += now_ - live.since_ps;
    if (!live.ran) outcome.start_ps = now_;
    count_places(live.gpus, outcome);
    live.since_ps = now_;
    if (!live.ran) return begin_steps(job);
    live.state = JobState::restarting;
    expect(job, now_ + model_.restart_ps);
  }

  void count_places(const std::vector<GpuId>& gpus, JobOutcome& outcome) const {
    std::set<std::int64_t> nodes;
    std::set<std::int64_t> leaves;
    for (const GpuId gpu : gpus) nodes.insert(index(gpu) / model_.gpus_per_node);
    for (const std::int64_t node : nodes) leaves.insert(node / model_.nodes_per_leaf);
    outcome.nodes = std::ssize(nodes);
    outcome.leaves = std::ssize(leaves);
  }

  void begin_steps(std::size_t job) {
    LiveJob& live = jobs_[job];
    live.state = JobState::running;
    live.ran = true;
    live.since_ps = now_;
    live.pace = kFullJobPace;
    sharing_.start(job, live.gpus);
    expect_end(job);
  }

  void expect_end(std::size_t job) {
    const LiveJob& live = jobs_[job];
    expect(job, now_ + ((live.left_ps << kPaceBits) + live.pace - 1) / live.pace);
  }

  void account_steps(std::size_t job) {
    LiveJob& live = jobs_[job];
    const LongPicoseconds time = now_ - live.since_ps;
    live.left_ps -= std::min(live.left_ps, time * live.pace >> kPaceBits);
    outcome_.jobs[job].running_ps += time;
    live.since_ps = now_;
  }

  void leave(std::size_t job, JobState next) {
    LiveJob& live = jobs_[job];
    if (next == JobState::done) sharing_.stop(job);
    pool_.give_back(live.gpus);
    on_gpus_.erase(job);
    live.gpus.clear();
    live.state = next;
    if (stints_++ < JobsOutcome::kMostStints) outcome_.jobs[job].stints.push_back({live.stint_ps, now_});
  }

  /// Makes a job write a checkpoint and leave.
  void evict(std::size_t job) {
    LiveJob& live = jobs_[job];
    account_steps(job);
    sharing_.stop(job);
    live.state = JobState::leaving;
    ++leaving_;
    ++outcome_.jobs[job].preemptions;
    if (++preemptions_ > kMostPreemptions)
      throw InputError("/preemption", "found jobs that left for each other " +
                                          std::to_string(kMostPreemptions) +
                                          " times, allowed longer slices, or shorter jobs");
    expect(job, now_ + model_.checkpoint_ps);
  }

  void set_paces() {
    for (const StretchChange& change : sharing_.changes()) {
      LiveJob& live = jobs_[change.job];
      account_steps(change.job);
      live.pace = std::max<std::int64_t>(
          1, static_cast<std::int64_t>(static_cast<double>(kFullJobPace) / std::max(1.0, change.slowdown)));
      expect_end(change.job);
    }
  }

  // --- the queue
  // --------------------------------------------------------------------------------------------

  void schedule() {
    blocked_ = false;
    while (!waiting_.empty()) {
      const std::size_t job = std::get<2>(*waiting_.begin());
      auto gpus = pool_.find(of(job).gpus, model_.placement);
      if (!gpus) break;
      start(job, std::move(*gpus));
    }
    if (waiting_.empty()) return;
    const std::size_t first = std::get<2>(*waiting_.begin());
    if (model_.queueing == JobQueueing::backfill) pass(first);
    blocked_ = pool_.free_gpus() >= of(first).gpus;
    if (model_.queueing == JobQueueing::priority || model_.queueing == JobQueueing::gang) make_room(first);
  }

  /// Jobs that may leave for another one, the first to leave first.
  [[nodiscard]] std::vector<std::size_t> evictable(std::size_t first) const {
    std::vector<std::size_t> out;
    const bool slices = model_.queueing == JobQueueing::gang;
    for (const std::size_t job : on_gpus_) {
      const LiveJob& live = jobs_[job];
      if (live.state != JobState::running) continue;
      const bool in_turn =
          of(job).priority == of(first).priority && slices && now_ - live.stint_ps >= model_.slice_ps;
      if (of(job).priority < of(first).priority || in_turn) out.push_back(job);
    }
    std::ranges::stable_sort(out, [&](std::size_t a, std::size_t b) {
      if (of(a).priority != of(b).priority) return of(a).priority < of(b).priority;
      return slices ? jobs_[a].stint_ps < jobs_[b].stint_ps : jobs_[a].stint_ps > jobs_[b].stint_ps;
    });
    return out;
  }

  /// Makes as few jobs leave as the first one needs, if that is enough; one at a time.
  void make_room(std::size_t first) {
    if (leaving_ > 0) return;
    NodePool pool = pool_;
    std::vector<std::size_t> leaves;
    for (const std::size_t job : evictable(first)) {
      pool.give_back(jobs_[job].gpus);
      leaves.push_back(job);
      if (!pool.find(of(first).gpus, model_.placement)) continue;
      for (const std::size_t each : leaves) evict(each);
      return;
    }
    if (model_.queueing == JobQueueing::gang) expect_slice();
  }

  /// Comes back when the next slice is over.
  void expect_slice() {
    LongPicoseconds next = 0;
    for (const std::size_t job : on_gpus_) {
      const LongPicoseconds end = jobs_[job].stint_ps + model_.slice_ps;
      if (jobs_[job].state != JobState::leaving && end > now_ && (next == 0 || end < next)) next = end;
    }
    if (next > now_) events_.emplace(next, kTick);
  }

  /// Starts jobs that do not delay the first one: they end before it can start, or leave it its GPUs.
  void pass(std::size_t first) {
    std::vector<std::pair<LongPicoseconds, std::size_t>> ends;
    for (const std::size_t job : on_gpus_) ends.emplace_back(jobs_[job].event_ps, job);
    std::ranges::sort(ends);
    NodePool later = pool_;
    LongPicoseconds start_of_first = 0;
    for (const auto& [end, job] : ends) {
      later.give_back(jobs_[job].gpus);
      start_of_first = end;
      const auto gpus = later.find(of(first).gpus, model_.placement);
      if (!gpus) continue;
      later.take(*gpus);
      break;
    }
    std::size_t tests = 0;
    for (auto turn_of = std::next(waiting_.begin());
         turn_of != waiting_.end() && tests < kMostBackfillTests;) {
      const std::size_t job = std::get<2>(*turn_of++);
      ++tests;
      if (pool_.free_gpus() == 0) return;
      auto gpus = pool_.find(of(job).gpus, model_.placement);
      if (!gpus) continue;
      const bool is_over = now_ + jobs_[job].left_ps <= start_of_first;
      if (!is_over && !later.has(*gpus)) continue;
      if (!is_over) later.take(*gpus);
      start(job, std::move(*gpus));
    }
  }

  const JobsModel& model_;
  NodePool pool_;
  LinkSharing sharing_;
  std::vector<LiveJob> jobs_;
  std::set<std::pair<LongPicoseconds, std::size_t>> events_;
  std::set<Turn> waiting_;
  std::set<std::size_t> on_gpus_;
  LongPicoseconds now_ = 0;
  std::int64_t leaving_ = 0;
  std::int64_t preemptions_ = 0;
  std::size_t stints_ = 0;
  std::size_t done_ = 0;
  bool blocked_ = false;
  JobsOutcome outcome_;
};

}  // namespace

JobsOutcome simulate_jobs(const JobsModel& model) { return JobsSimulation(model).run(); }

}  // namespace orrery
