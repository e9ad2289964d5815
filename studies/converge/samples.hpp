// Holds the samples of the workers: features and labels. Inside studies/converge/.
#pragma once

#include <cmath>

#include "studies/converge/objective.hpp"

namespace orrery {

/// Samples of worker i are the columns [i * samples, (i + 1) * samples).
struct Samples {
  Matrix features;
  Vector labels;  ///< -1 or 1
};

/// The features of worker i are normal around a mean of its own, as far from 0 as the heterogeneity is
/// large; `score(i, h)` is the log-odds of the label 1.
template <class Score>
Samples draw_samples(const LearningProblem& problem, std::int64_t workers, std::int64_t seed,
                     std::uint64_t purpose, const Score& score) {
  Samples out{Matrix(problem.dimension, workers * problem.samples_per_worker),
              Vector(workers * problem.samples_per_worker)};
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    SplitMix64 random = random_stream(seed, purpose, static_cast<std::uint64_t>(worker));
    Vector mean(problem.dimension);
    for (double& value : mean) value = problem.heterogeneity * normal(random);
    for (std::int64_t s = 0; s < problem.samples_per_worker; ++s) {
      Vector feature = mean;
      for (double& value : feature) value += normal(random);
      const std::int64_t column = worker * problem.samples_per_worker + s;
      out.labels[column] = random.uniform() * (1 + std::exp(-score(worker, feature))) < 1 ? 1 : -1;
      out.features.col(column) = feature;
    }
  }
  return out;
}

/// Draws the truths that workers learn: (1 - heterogeneity) of a shared one, the rest of one of their own;
/// each entry is normal with the deviation given.
[[nodiscard]] inline Matrix draw_truths(const LearningProblem& problem, Eigen::Index length,
                                        std::int64_t workers, std::int64_t seed, std::uint64_t purpose,
                                        double deviation) {
  SplitMix64 shared = random_stream(seed, purpose);
  Vector common(length);
  for (double& value : common) value = deviation * normal(shared);
  Matrix truths(length, workers);
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    SplitMix64 random = random_stream(seed, purpose, static_cast<std::uint64_t>(worker) + 1);
    for (Eigen::Index i = 0; i < length; ++i) {
      truths(i, worker) =
          (1 - problem.heterogeneity) * common[i] + problem.heterogeneity * deviation * normal(random);
    }
  }
  return truths;
}

/// ln(1 + exp(-margin)).
[[nodiscard]] inline double logistic_loss(double margin) {
  return margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
}

/// 1 / (1 + exp(margin)): minus the slope of the loss.
[[nodiscard]] inline double logistic_slope(double margin) { return 1 / (1 + std::exp(margin)); }

}  // namespace orrery
