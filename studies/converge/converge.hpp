// Runs a synchronisation method on a small learning problem: loss and disagreement of the workers by
// iteration. It knows no time; the caller multiplies by simulated step times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "orrery/data_parallel_sync.hpp"
#include "orrery/problem.hpp"

namespace orrery {

struct ConvergenceSetup {
  LearningProblem problem;
  DataParallelSync sync;
  std::uint32_t workers = 1;           ///< where the problem does not say
  std::uint32_t workers_per_node = 1;  ///< for topologies that know nodes
  std::int64_t seed = 0;
  unsigned threads = 1;
  /// Speeds of workers, at which asynchronous methods let each go on at its own pace. Fewer than workers
  /// repeat; none: all are alike.
  std::vector<double> speeds;
};

struct ConvergencePoint {
  std::int64_t iteration = 0;  ///< done so far
  double loss = 0;             ///< of the workers' mean model over the samples of all workers
  double gradient_norm = 0;    ///< of that loss
  double consensus_error = 0;  ///< mean over workers of ||x_i - mean||^2
};

struct ConvergenceRun {
  std::uint32_t workers = 1;
  std::int64_t parameters = 0;
  std::vector<ConvergencePoint> points;     ///< the first before the first iteration, the last after the last
  std::optional<double> least_loss;         ///< of any model, where the problem is convex and small enough
  bool diverged = false;                    ///< the loss was no number any more, and the run ended there
  std::vector<std::vector<double>> models;  ///< at the end, per worker
};

/// Runs the method; the result is the same to the bit for any number of threads.
/// @throws InputError at /problem/... or /data_parallel_sync/... for a setup that cannot be run.
[[nodiscard]] ConvergenceRun converge(const ConvergenceSetup& setup);

}  // namespace orrery
