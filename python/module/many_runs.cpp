#include "python/module/many_runs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "face/heap.hpp"
#include "face/process_stats.hpp"

namespace orrery::python {
namespace {

/// Most experiments that a worker takes at a time if they are short work, and the limits of short and long
/// work: those of `orrery simulate --batch`.
constexpr std::size_t kMostPieces = 1024;
constexpr std::chrono::milliseconds kShortWork{1};
constexpr std::chrono::milliseconds kLongWork{10};

}  // namespace

Outcome simulate_given(GivenExperiment given, InputSeries& series, Simulator& simulator,
                       const Figures& figures) {
  Outcome outcome;
  try {
    const auto begin = std::chrono::steady_clock::now();
    series.apply(given, [&](const Experiment& experiment, const ExperimentPositions&) {
      auto report = std::make_shared<Report>(simulator.simulate(experiment, figures));
      if (figures.process) measure_process(begin, report->stats);
      outcome.report = std::move(report);
    });
  } catch (...) {
    outcome.failure = std::current_exception();
  }
  outcome.given = std::move(given);
  return outcome;
}

ManyRuns::ManyRuns(unsigned threads, std::shared_ptr<const ReadSetting> setting, Figures figures,
                   Simulator& simulator)
    : setting_(std::move(setting)), figures_(figures), simulator_(simulator), shares_(threads) {
  prepare_heap_as_guest();
  for (unsigned worker = 0; worker < threads; ++worker)
    threads_.emplace_back([this, worker] { work(worker); });
}

ManyRuns::~ManyRuns() {
  stop();
  threads_.clear();
}

void ManyRuns::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  came_.notify_all();
  done_.notify_all();
}

void ManyRuns::give(std::vector<GivenExperiment> experiments) {
  {
    const std::lock_guard lock(mutex_);
    for (GivenExperiment& given : experiments) waiting_.push_back({given_++, std::move(given)});
  }
  came_.notify_all();
}

std::deque<Outcome> ManyRuns::take(std::chrono::milliseconds longest) {
  std::deque<Outcome> outcomes;
  std::unique_lock lock(mutex_);
  done_.wait_for(lock, longest, [this] { return stopped_ || made_.contains(taken_); });
  for (auto next = made_.begin(); next != made_.end() && next->first == taken_; next = made_.erase(next)) {
    outcomes.push_back(std::move(next->second));
    ++taken_;
  }
  return outcomes;
}

void ManyRuns::work(unsigned worker) {
  prepare_heap_of_thread();
  InputSeries series(*setting_);
  for (std::size_t most = 1; !stopped_ && (shares_.halve_largest(worker) || fetch(worker, most));)
    most = work_on_share(worker, series) ? kMostPieces : 1;
}

/// Gives a worker its part of the waiting experiments, neighbours together, and up to `most`; waits for the
/// first. Returns false when all are done.
bool ManyRuns::fetch(unsigned worker, std::size_t most) {
  std::unique_lock lock(mutex_);
  ++idle_;
  came_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
  const std::size_t fair = (waiting_.size() + idle_ - 1) / idle_;
  --idle_;
  if (stopped_) return false;
  std::deque<Piece> share;
  for (std::size_t left = std::min(most, fair); left > 0; --left) {
    share.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  lock.unlock();
  shares_.give(worker, std::move(share));
  return true;
}

/// Runs a share; returns true if its pieces were short work. After long work it takes the next pieces in
/// order, so that outcomes come in order. Outcomes of short work are delivered together for a short interval,
/// so that the waiting thread is woken less often.
bool ManyRuns::work_on_share(unsigned worker, InputSeries& series) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Clock::time_point latest = begin;
  Clock::time_point delivered = begin;
  std::int64_t pieces = 0;
  bool took_long = false;
  Numbered outcomes;
  while (!stopped_) {
    std::optional<Piece> piece = took_long ? shares_.first() : shares_.next(worker);
    if (!piece) break;
    outcomes.emplace_back(piece->ticket,
                          simulate_given(std::move(piece->given), series, simulator_, figures_));
    ++pieces;
    const Clock::time_point now = Clock::now();
    took_long = now - std::exchange(latest, now) > kLongWork;
    if (now - delivered < kShortWork) continue;
    delivered = now;
    deliver(std::exchange(outcomes, {}));
  }
  deliver(std::move(outcomes));
  return Clock::now() - begin < pieces * kShortWork;
}

void ManyRuns::deliver(Numbered outcomes) {
  bool has_next = false;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [ticket, outcome] : outcomes) {
      has_next = has_next || ticket == taken_;
      made_.emplace(ticket, std::move(outcome));
    }
  }
  if (has_next) done_.notify_one();
}

}  // namespace orrery::python
