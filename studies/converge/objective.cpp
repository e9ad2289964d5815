#include "studies/converge/objective.hpp"

#include <vector>

#include "studies/converge/parallel.hpp"

namespace orrery {
namespace {

constexpr std::uint64_t kGradientPurpose = 1;

}  // namespace

double normal(SplitMix64& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

SplitMix64 random_stream(std::int64_t seed, std::uint64_t purpose, std::uint64_t a, std::uint64_t b) {
  std::uint64_t state = SplitMix64(static_cast<std::uint64_t>(seed)).next() + purpose;
  for (const std::uint64_t part : {a, b}) state = SplitMix64(state).next() + part;
  return SplitMix64(SplitMix64(state).next());
}

Vector LearningObjective::gradient(Eigen::Index worker, std::int64_t iteration, const Vector& model) const {
  Vector gradient = Vector::Zero(dimension());
  SplitMix64 random = random_stream(seed_, kGradientPurpose, static_cast<std::uint64_t>(worker),
                                    static_cast<std::uint64_t>(iteration));
  const std::int64_t samples = problem_.samples_per_worker;
  const std::int64_t batch = std::min(problem_.batch, samples);
  const double share = 1.0 / static_cast<double>(batch);
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto sample =
        batch == samples ? i : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(samples)));
    add_sample(worker, sample, model, share, gradient);
  }
  add_regularizer(model, gradient);
  if (problem_.noise > 0) {
    for (double& value : gradient) value += problem_.noise * normal(random);
  }
  return gradient;
}

double LearningObjective::worker_loss(Eigen::Index worker, const Vector& model, Vector& gradient) const {
  const double share = 1.0 / static_cast<double>(problem_.samples_per_worker);
  double loss = 0;
  for (Eigen::Index s = 0; s < problem_.samples_per_worker; ++s) {
    loss += share * add_sample(worker, s, model, share, gradient);
  }
  return loss;
}

double LearningObjective::loss(const Vector& model, Vector& gradient, unsigned threads) const {
  Matrix gradients = Matrix::Zero(dimension(), workers_);
  Vector losses(workers_);
  for_each_worker(workers_, threads, [&](Eigen::Index worker) {
    Vector own = Vector::Zero(dimension());
    losses[worker] = worker_loss(worker, model, own);
    gradients.col(worker) = own;
  });
  gradient = gradients.rowwise().mean();
  return losses.mean() + add_regularizer(model, gradient);
}

}  // namespace orrery
