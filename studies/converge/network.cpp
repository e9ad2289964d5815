#include "studies/converge/problems.hpp"
#include "studies/converge/samples.hpp"

namespace orrery {
namespace {

constexpr std::uint64_t kNetworkTruth = 4, kNetworkSamples = 5, kStartPurpose = 6;
constexpr double kNetworkDeviation = 1;

/// v.tanh(U h) as the log-odds of a label that such a network made. A model is U row by row, then v.
class TwoLayerNetwork final : public LearningObjective {
 public:
  TwoLayerNetwork(const LearningProblem& problem, Eigen::Index workers, std::int64_t seed)
      : LearningObjective(problem, workers, seed), seed_(seed) {
    const Matrix truths = draw_truths(problem, dimension(), workers, seed, kNetworkTruth, kNetworkDeviation);
    samples_ =
        draw_samples(problem, workers, seed, kNetworkSamples, [&](Eigen::Index worker, const Vector& h) {
          const Vector truth = truths.col(worker);
          return outputs(truth).dot(activations(truth, h));
        });
  }

  [[nodiscard]] Eigen::Index dimension() const override {
    return problem().hidden * (problem().dimension + 1);
  }

  [[nodiscard]] Vector start() const override {
    SplitMix64 random = random_stream(seed_, kStartPurpose);
    Vector model(dimension());
    const double deviation = 1 / std::sqrt(static_cast<double>(problem().dimension));
    for (double& value : model) value = deviation * normal(random);
    return model;
  }

  double add_sample(Eigen::Index worker, Eigen::Index s, const Vector& model, double share,
                    Vector& gradient) const override {
    const Eigen::Index column = worker * problem().samples_per_worker + s;
    const double label = samples_.labels[column];
    const Vector feature = samples_.features.col(column);
    const Vector hidden = activations(model, feature);
    const double margin = label * outputs(model).dot(hidden);
    const double slope = -share * label * logistic_slope(margin);
    const Vector back = slope * outputs(model).array() * (1 - hidden.array().square());
    gradient.tail(problem().hidden) += slope * hidden;
    for (Eigen::Index i = 0; i < problem().hidden; ++i) {
      gradient.segment(i * problem().dimension, problem().dimension) += back[i] * feature;
    }
    return logistic_loss(margin);
  }

  double add_regularizer(const Vector& model, Vector& gradient) const override {
    gradient += problem().regularization * model;
    return problem().regularization / 2 * model.squaredNorm();
  }

 private:
  [[nodiscard]] Eigen::VectorBlock<const Vector> outputs(const Vector& model) const {
    return model.tail(problem().hidden);
  }
  [[nodiscard]] Vector activations(const Vector& model, const Vector& feature) const {
    Vector hidden(problem().hidden);
    for (Eigen::Index i = 0; i < hidden.size(); ++i) {
      hidden[i] = std::tanh(model.segment(i * problem().dimension, problem().dimension).dot(feature));
    }
    return hidden;
  }

  std::int64_t seed_;
  Samples samples_;
};

}  // namespace

std::unique_ptr<LearningObjective> make_network(const LearningProblem& problem, std::int64_t workers,
                                                std::int64_t seed) {
  return std::make_unique<TwoLayerNetwork>(problem, workers, seed);
}

std::unique_ptr<LearningObjective> make_objective(const LearningProblem& problem, std::int64_t workers,
                                                  std::int64_t seed) {
  return problem.kind == ProblemKind::network ? make_network(problem, workers, seed)
                                              : make_logistic(problem, workers, seed);
}

}  // namespace orrery
