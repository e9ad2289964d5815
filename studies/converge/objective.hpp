// Declares the problems: data of every worker, losses and gradients. Inside studies/converge/ and its tests.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>

#include "orrery/problem.hpp"
#include "topologies/gossip/random_numbers.hpp"

namespace orrery {

/// A matrix with one column per worker.
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// About standard normal: the sum of twelve uniform numbers less six. Unlike others it needs no functions
/// that differ between machines.
[[nodiscard]] double normal(SplitMix64& random);

/// The random numbers of one purpose, apart from those of all others.
[[nodiscard]] SplitMix64 random_stream(std::int64_t seed, std::uint64_t purpose, std::uint64_t a = 0,
                                       std::uint64_t b = 0);

class LearningObjective {
 public:
  virtual ~LearningObjective() = default;
  /// Length of a model.
  [[nodiscard]] virtual Eigen::Index dimension() const = 0;
  /// Returns the model at which all workers start.
  [[nodiscard]] virtual Vector start() const = 0;
  /// Loss of sample `s` of a worker (s in [0, samples)); adds its gradient times `share` to `gradient`.
  virtual double add_sample(Eigen::Index worker, Eigen::Index s, const Vector& model, double share,
                            Vector& gradient) const = 0;
  /// The regulariser; adds its gradient.
  virtual double add_regularizer(const Vector& model, Vector& gradient) const = 0;
  /// Returns the least loss over all workers, if it is known.
  [[nodiscard]] virtual std::optional<double> optimal_loss() const { return std::nullopt; }

  [[nodiscard]] const LearningProblem& problem() const { return problem_; }
  [[nodiscard]] Eigen::Index workers() const { return workers_; }

  /// A stochastic gradient of a worker in an iteration.
  [[nodiscard]] Vector gradient(Eigen::Index worker, std::int64_t iteration, const Vector& model) const;
  /// Loss over all samples of all workers, and its gradient.
  double loss(const Vector& model, Vector& gradient, unsigned threads) const;

 protected:
  LearningObjective(const LearningProblem& problem, Eigen::Index workers, std::int64_t seed)
      : problem_(problem), workers_(workers), seed_(seed) {}

 private:
  double worker_loss(Eigen::Index worker, const Vector& model, Vector& gradient) const;
  LearningProblem problem_;
  Eigen::Index workers_;
  std::int64_t seed_;
};

[[nodiscard]] std::unique_ptr<LearningObjective> make_objective(const LearningProblem& problem,
                                                                std::int64_t workers, std::int64_t seed);

}  // namespace orrery
