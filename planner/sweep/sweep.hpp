// Simulates all points of a space into a file of results. Used by the command line and the Python module;
// programs that compute results elsewhere put them into a ResultsFile.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "planner/space/space.hpp"
#include "planner/sweep/results_file.hpp"

namespace orrery {

/// A part of a space, by its points alone: block by block in turns, so that all parts are about as much work.
struct Shard {
  std::uint64_t index = 1;  ///< from 1
  std::uint64_t count = 1;
};

/// Reads "2/4". @throws InputError
[[nodiscard]] Shard parse_shard(const std::string& text);

/// The numbers of a sequence of points, in order.
struct PointRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The blocks of a shard of a space, by number from 0.
class ShardBlocks {
 public:
  ShardBlocks(const Space& space, Shard shard);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t points() const;
  [[nodiscard]] std::uint64_t number(std::uint64_t block) const {
    return block * shard_.count + shard_.index - 1;
  }
  [[nodiscard]] PointRange range(std::uint64_t block) const;

 private:
  std::uint64_t size_;
  std::uint64_t per_block_;
  Shard shard_;
  std::uint64_t count_ = 0;
};

/// Called as points are done, by several threads.
using SweepProgress = std::function<void(std::size_t done, std::size_t total)>;

struct SweepOptions {
  std::string file;
  unsigned threads = 1;
  Shard shard{};
  std::vector<std::string> keys{};  ///< of the result to keep; empty: default_sweep_keys()
  SweepProgress progress{};
  std::function<void()> begin_thread{};     ///< called first in each thread of the sweep
  const std::atomic<bool>* stop = nullptr;  ///< where true, no point is begun any more
  std::chrono::milliseconds lock_wait = ResultsFile::kLockWait;
};

struct Removed {
  std::uint64_t points = 0;
  std::string message;  ///< of one of them; "" for a condition
};

/// Counts what a file has of a sweep. Points that are equal to others count as points.
struct SweepSummary {
  std::int64_t sweep = 0;    ///< its id in the file
  std::uint64_t points = 0;  ///< of the space
  std::uint64_t feasible = 0;
  std::uint64_t infeasible = 0;
  std::uint64_t failed = 0;
  std::uint64_t distinct = 0;              ///< of these three, points that differ
  std::map<std::string, Removed> removed;  ///< by the condition or key that stands against them

  [[nodiscard]] std::uint64_t valid() const { return feasible + infeasible + failed; }
  [[nodiscard]] std::uint64_t removed_points() const;
  [[nodiscard]] bool complete() const { return valid() + removed_points() == points; }
};

/// Every key of the result that is a scalar and no matter of the machine or of the experiment's name.
[[nodiscard]] std::vector<std::string> default_sweep_keys(const Space& space);

/// Simulates a point; the figures are those of ResultSelection(ResultsFile::keys()). Safe to call from
/// several threads.
[[nodiscard]] PointResult simulate_point(const Experiment& experiment, const ResultSelection& keys,
                                         Simulator& simulator);

/// Simulates the points that the file does not have yet. A finished point is in the file within half a
/// second, and stays there even if the process dies. The file does not depend on the number of threads but
/// for the order of rows. @throws InputError for a space that has no valid point (which says how many points
/// each reason removed) or none that can be simulated (which says why), or no such key of the result; as
/// ResultsFile.
[[nodiscard]] SweepSummary sweep(const Space& space, const SweepOptions& options, Simulator& simulator);

/// @throws InputError with the errors of the points if a sweep is done and no point of it has a result.
void refuse_without_results(const Space& space, const Database& database, const SweepSummary& summary);

/// @throws as ResultsFile, and InputError where the file has no sweep of that id; 0: the latest.
[[nodiscard]] SweepSummary summarize_sweep(const Database& database, std::int64_t sweep);

}  // namespace orrery
