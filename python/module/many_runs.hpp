// Simulates experiments on several threads and hands out their results in the order in which they were given.
// Knows nothing of Python: its threads never need the interpreter's lock.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "face/work_shares.hpp"
#include "orrery/simulate.hpp"
#include "python/module/experiment_input.hpp"

namespace orrery::python {

/// Holds the result of one experiment: a report, or the error that it ended with.
struct Outcome {
  std::shared_ptr<const Report> report;
  std::exception_ptr failure;
  GivenExperiment given;
};

/// One experiment with a simulator that may be warm; never throws.
[[nodiscard]] Outcome simulate_given(GivenExperiment given, InputSeries& series, Simulator& simulator,
                                     const Figures& figures);

class ManyRuns {
 public:
  ManyRuns(unsigned threads, std::shared_ptr<const ReadSetting> setting, Figures figures,
           Simulator& simulator);
  /// Waits for the experiments that threads have begun.
  ~ManyRuns();
  ManyRuns(const ManyRuns&) = delete;
  ManyRuns& operator=(const ManyRuns&) = delete;

  /// Adds experiments after those given before. One thread gives and takes.
  void give(std::vector<GivenExperiment> experiments);
  /// Outcomes that come next, in order; waits for the first, but not longer than that.
  [[nodiscard]] std::deque<Outcome> take(std::chrono::milliseconds longest);
  /// Given, and not yet taken.
  [[nodiscard]] std::uint64_t open() const { return given_ - taken_; }
  /// Nothing more is begun.
  void stop();

 private:
  struct Piece {
    std::uint64_t ticket = 0;
    GivenExperiment given;
  };

  using Numbered = std::vector<std::pair<std::uint64_t, Outcome>>;  ///< by ticket

  void work(unsigned worker);
  bool fetch(unsigned worker, std::size_t most);
  bool work_on_share(unsigned worker, InputSeries& series);
  void deliver(Numbered outcomes);

  const std::shared_ptr<const ReadSetting> setting_;
  const Figures figures_;
  Simulator& simulator_;
  WorkShares<Piece> shares_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;  ///< of all below
  std::condition_variable came_, done_;
  std::deque<Piece> waiting_;              ///< for a worker
  std::map<std::uint64_t, Outcome> made_;  ///< by ticket
  std::uint64_t given_ = 0;
  std::uint64_t taken_ = 0;
  unsigned idle_ = 0;  ///< workers that wait
  std::vector<std::jthread> threads_;
};

}  // namespace orrery::python
