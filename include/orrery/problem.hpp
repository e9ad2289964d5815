// Describes the small learning problem on which `converge` really runs a method: the `problem` of an
// experiment. It has nothing to do with the model whose step is simulated; it shows how averaging, staleness
// and compression act on accuracy. Read by studies/converge/.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace orrery {

enum class ProblemKind : std::uint8_t {
  logistic,             ///< convex: ln(1 + exp(-y h.x)), with l2 regularisation
  non_convex_logistic,  ///< the same with the regulariser sum of x^2 / (1 + x^2)
  network,              ///< two layers: ln(1 + exp(-y v.tanh(U h))), with l2 regularisation
};
inline constexpr std::array<std::string_view, 3> kProblemKindNames{"logistic", "non-convex-logistic",
                                                                   "network"};

enum class LocalOptimizer : std::uint8_t { sgd, adamw };
inline constexpr std::array<std::string_view, 2> kLocalOptimizerNames{"sgd", "adamw"};

/// Most workers a problem has: all their models are kept and compared.
inline constexpr std::int64_t kMaxProblemWorkers = 1024;

/// A worker that learns no more, or that learns from now on.
struct WorkerChange {
  std::int64_t iteration = 0;  ///< before which it happens
  std::int64_t leaves = -1;    ///< the worker; -1: none, then one joins
  std::int64_t joins = -1;     ///< a worker that joins first is away at the beginning

  [[nodiscard]] std::int64_t worker() const { return leaves >= 0 ? leaves : joins; }
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(iteration, leaves, joins);
  }
  friend bool operator==(const WorkerChange&, const WorkerChange&) = default;
};

struct LearningProblem {
  ProblemKind kind = ProblemKind::logistic;
  std::int64_t workers = 0;     ///< 0: as many as the plan has replicas, or nodes that average
  std::int64_t dimension = 10;  ///< features of a sample
  std::int64_t hidden = 8;      ///< network: neurons
  std::int64_t samples_per_worker = 200;
  std::int64_t batch = 32;   ///< samples of a gradient; as many as a worker has: all, in order
  double heterogeneity = 0;  ///< 0: all workers draw from one distribution, 1: each from its own
  double noise = 0;          ///< standard deviation added to every component of a gradient
  double regularization = 1e-3;
  double learning_rate = 0.02;
  std::int64_t halve_every = 0;  ///< iterations after which the learning rate halves; 0: never
  double momentum = 0;           ///< of sgd
  LocalOptimizer optimizer = LocalOptimizer::sgd;
  double outer_learning_rate = 0.7;  ///< diloco, slowmo, noloco, sparse-loco
  double outer_momentum = 0.9;       ///< diloco, slowmo, noloco
  double consensus_step = 0;         ///< compressed gossip: share of a difference taken; 0: by the compressor
  double initial_spread = 0;         ///< standard deviation of the workers' first models
  std::int64_t iterations = 1000;
  std::int64_t evaluate_every = 0;    ///< iterations from one figure to the next; 0: 200 figures
  std::vector<WorkerChange> changes;  ///< in order of iterations

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(kind, workers, dimension, hidden, samples_per_worker, batch, heterogeneity, noise,
                 regularization, learning_rate, halve_every, momentum, optimizer, outer_learning_rate,
                 outer_momentum, consensus_step, initial_spread, iterations, evaluate_every, changes);
  }
  friend bool operator==(const LearningProblem&, const LearningProblem&) = default;
};

}  // namespace orrery
