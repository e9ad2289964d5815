#include "studies/converge/converge.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "studies/converge/method.hpp"
#include "topologies/gossip/gossip.hpp"

namespace orrery {
namespace {

constexpr double kMaxFeatures = 134217728;  // 2^27 numbers: 1 GB
constexpr double kMaxModels = 16777216;     // 2^24 numbers, some ten times: 1 GB
constexpr double kMaxWork = 1e12;           // multiplications: some ten minutes
constexpr double kStepOverhead = 1e3;       // of a worker's step or figure, in multiplications
constexpr std::int64_t kUsualFigures = 200;
constexpr std::int64_t kMaxRandomRounds = 4096;
constexpr std::uint64_t kSpreadPurpose = 9;

std::uint32_t worker_count(const ConvergenceSetup& setup) {
  if (setup.problem.workers > 0) return static_cast<std::uint32_t>(setup.problem.workers);
  if (setup.workers <= kMaxProblemWorkers) return setup.workers;
  throw InputError("/problem/workers", "found none, and the plan has " + std::to_string(setup.workers) +
                                           " workers; allowed are 1 to " +
                                           std::to_string(kMaxProblemWorkers));
}

std::int64_t parameters_of(const LearningProblem& problem) {
  return problem.kind == ProblemKind::network ? problem.hidden * (problem.dimension + 1) : problem.dimension;
}

std::int64_t figures_every(const LearningProblem& problem) {
  if (problem.evaluate_every > 0) return problem.evaluate_every;
  return std::max<std::int64_t>(1, problem.iterations / kUsualFigures);
}

void check_amount(const char* key, const char* what, double found, double most) {
  if (found <= most) return;
  throw InputError(std::string("/problem/") + key,
                   "found " + std::string(what) + " of " + std::to_string(static_cast<std::int64_t>(found)) +
                       "; allowed are at most " + std::to_string(static_cast<std::int64_t>(most)));
}

void check_size(const LearningProblem& problem, std::uint32_t workers) {
  const double n = workers;
  const auto dimension = static_cast<double>(problem.dimension);
  const auto samples = static_cast<double>(problem.samples_per_worker);
  const double length = problem.kind == ProblemKind::network
                            ? static_cast<double>(problem.hidden) * (dimension + 1)
                            : dimension;
  check_amount("samples_per_worker", "workers x samples x dimension", n * samples * dimension, kMaxFeatures);
  check_amount("dimension", "workers x parameters", n * length, kMaxModels);
  const auto batch = static_cast<double>(std::min(problem.batch, problem.samples_per_worker));
  const auto iterations = static_cast<double>(problem.iterations);
  const double figures = iterations / static_cast<double>(figures_every(problem)) + 2;
  check_amount("iterations", "iterations x workers x batch x parameters",
               iterations * n * (batch * length + kStepOverhead), kMaxWork);
  check_amount("evaluate_every", "figures x workers x samples x parameters",
               figures * n * (samples * length + kStepOverhead), kMaxWork);
}

void check_method(const ConvergenceSetup& setup, std::int64_t length) {
  const DataParallelSync& sync = setup.sync;
  if (setup.problem.optimizer == LocalOptimizer::adamw && setup.problem.momentum > 0) {
    throw InputError("/problem/momentum", "found a value that does nothing with adamw; allowed with sgd");
  }
  if (sync.method == SyncMethod::qg_dsgdm &&
      (setup.problem.optimizer != LocalOptimizer::sgd || setup.problem.momentum == 0)) {
    throw InputError("/problem/momentum",
                     "found none with qg-dsgdm, which is about it; allowed is one above 0, with sgd");
  }
  if (sync.method == SyncMethod::diloco && sync.fragments > length) {
    throw InputError("/data_parallel_sync/fragments", "found " + std::to_string(sync.fragments) +
                                                          "; allowed are at most the problem's " +
                                                          std::to_string(length) + " parameters");
  }
  if (sync.compression.method == Compression::Method::none) return;
  const std::string pointer = "/data_parallel_sync/compression";
  if (sync.method == SyncMethod::push_sum) {
    throw InputError(pointer,
                     "found a method with push-sum, of which converge runs the uncompressed form "
                     "alone; allowed is none");
  }
  if (sync.gossips() && sync.overlap == SyncOverlap::one_step_stale) {
    throw InputError(pointer,
                     "found a method with one-step-stale, of which converge runs the uncompressed "
                     "form alone; allowed is none");
  }
}

/// Returns the graph over present workers.
GossipGraph graph_of(const ConvergenceSetup& setup, const Presence& presence) {
  if (!setup.sync.gossips()) return {};
  const std::int64_t rounds = std::clamp<std::int64_t>(setup.problem.iterations, 1, kMaxRandomRounds);
  const auto workers = static_cast<std::uint32_t>(presence.count());
  return presence.spread(build_gossip_graph(
      setup.sync, {workers, setup.workers_per_node, static_cast<std::uint32_t>(rounds), setup.seed}));
}

Matrix first_models(const LearningObjective& objective, std::int64_t seed) {
  Matrix models(objective.dimension(), objective.workers());
  models.colwise() = objective.start();
  const double spread = objective.problem().initial_spread;
  for (Eigen::Index worker = 0; worker < models.cols() && spread > 0; ++worker) {
    SplitMix64 random = random_stream(seed, kSpreadPurpose, static_cast<std::uint64_t>(worker));
    for (double& value : models.col(worker)) value += spread * normal(random);
  }
  return models;
}

ConvergencePoint figures(const LearningObjective& objective, const Method& method, const Presence& presence,
                         std::int64_t iteration, unsigned threads) {
  ConvergencePoint point;
  point.iteration = iteration;
  const Vector mean = method.mean();
  Vector gradient;
  point.loss = objective.loss(mean, gradient, threads);
  point.gradient_norm = gradient.norm();
  const Matrix models = method.models();
  const Vector middle = presence.mean(models);
  for (Eigen::Index worker = 0; worker < models.cols(); ++worker)
    if (presence.has(worker)) point.consensus_error += (models.col(worker) - middle).squaredNorm();
  point.consensus_error /= static_cast<double>(presence.count());
  return point;
}

double rate_of(const LearningProblem& problem, std::int64_t iteration) {
  if (problem.halve_every == 0) return problem.learning_rate;
  const std::int64_t halvings = std::min<std::int64_t>(iteration / problem.halve_every, 1000);
  return std::ldexp(problem.learning_rate, -static_cast<int>(halvings));
}

/// A run with all it consists of.
class Iteration {
 public:
  explicit Iteration(const ConvergenceSetup& setup)
      : setup_(setup),
        objective_(make_objective(setup.problem, worker_count(setup), setup.seed)),
        presence_(setup.problem, objective_->workers()),
        graph_(graph_of(setup, presence_)),
        parts_{*objective_, setup.sync,    graph_,      presence_, first_models(*objective_, setup.seed),
               setup.seed,  setup.threads, setup.speeds},
        method_(make_method(parts_)) {
    if (setup.problem.changes.empty() || method_->is_elastic()) return;
    throw InputError("/problem/changes",
                     "found workers that come and go, allowed with all-reduce, "
                     "parameter-server, local-sgd, diloco, push-sum and gossip, uncompressed");
  }

  ConvergenceRun run() {
    ConvergenceRun run;
    run.workers = static_cast<std::uint32_t>(objective_->workers());
    run.parameters = objective_->dimension();
    iterate(run);
    run.least_loss = objective_->optimal_loss();
    const Matrix models = method_->models();
    for (Eigen::Index worker = 0; worker < models.cols(); ++worker)
      run.models.emplace_back(models.col(worker).begin(), models.col(worker).end());
    return run;
  }

 private:
  void iterate(ConvergenceRun& run) {
    const LearningProblem& problem = setup_.problem;
    const std::int64_t every = figures_every(problem);
    const auto measure = [&](std::int64_t done) {
      run.points.push_back(figures(*objective_, *method_, presence_, done, setup_.threads));
    };
    measure(0);
    for (std::int64_t k = 0; k < problem.iterations && !run.diverged; ++k) {
      change_workers(k);
      method_->step(k, rate_of(problem, k));
      if ((k + 1) % every != 0 && k + 1 != problem.iterations) continue;
      measure(k + 1);
      run.diverged = !std::isfinite(run.points.back().loss);
    }
  }

  void change_workers(std::int64_t iteration) {
    const std::vector<WorkerChange>& changes = setup_.problem.changes;
    bool changed = false;
    for (; next_ < changes.size() && changes[next_].iteration == iteration; ++next_, changed = true) {
      const WorkerChange& change = changes[next_];
      if (change.joins >= 0) {
        const Vector model = method_->mean();
        presence_.set(change.joins, true);
        method_->join(change.joins, model);
      } else {
        presence_.set(change.leaves, false);
        method_->leave(change.leaves, heir_of(change.leaves));
      }
    }
    if (changed) graph_ = graph_of(setup_, presence_);
  }

  /// The next worker that is there.
  [[nodiscard]] Eigen::Index heir_of(Eigen::Index worker) const {
    Eigen::Index heir = worker;
    while (!presence_.has(heir)) heir = (heir + 1) % objective_->workers();
    return heir;
  }

  const ConvergenceSetup& setup_;
  std::unique_ptr<LearningObjective> objective_;
  Presence presence_;
  GossipGraph graph_;
  MethodSetup parts_;
  std::unique_ptr<Method> method_;
  std::size_t next_ = 0;  ///< of the changes
};

}  // namespace

ConvergenceRun converge(const ConvergenceSetup& setup) {
  check_size(setup.problem, worker_count(setup));
  check_method(setup, parameters_of(setup.problem));
  return Iteration(setup).run();
}

}  // namespace orrery
