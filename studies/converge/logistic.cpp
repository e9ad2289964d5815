#include "studies/converge/problems.hpp"
#include "studies/converge/samples.hpp"

namespace orrery {
namespace {

constexpr std::uint64_t kTruthPurpose = 2, kSamplePurpose = 3;
constexpr double kTruthDeviation = 1;
/// Beyond it the least loss is not looked for: seconds of products of features.
constexpr double kMaxHessianWork = 4e8;
constexpr int kMaxNewtonSteps = 100;

/// Logistic regression with either regulariser.
class Logistic final : public LearningObjective {
 public:
  Logistic(const LearningProblem& problem, Eigen::Index workers, std::int64_t seed)
      : LearningObjective(problem, workers, seed) {
    const Matrix truths =
        draw_truths(problem, problem.dimension, workers, seed, kTruthPurpose, kTruthDeviation);
    samples_ = draw_samples(problem, workers, seed, kSamplePurpose,
                            [&](Eigen::Index worker, const Vector& h) { return truths.col(worker).dot(h); });
  }

  [[nodiscard]] Eigen::Index dimension() const override { return problem().dimension; }
  [[nodiscard]] Vector start() const override { return Vector::Zero(dimension()); }

  double add_sample(Eigen::Index worker, Eigen::Index s, const Vector& model, double share,
                    Vector& gradient) const override {
    const Eigen::Index column = worker * problem().samples_per_worker + s;
    const double label = samples_.labels[column];
    const double margin = label * samples_.features.col(column).dot(model);
    gradient -= (share * label * logistic_slope(margin)) * samples_.features.col(column);
    return logistic_loss(margin);
  }

  double add_regularizer(const Vector& model, Vector& gradient) const override {
    const double strength = problem().regularization;
    if (problem().kind == ProblemKind::logistic) {
      gradient += strength * model;
      return strength / 2 * model.squaredNorm();
    }
    const Eigen::ArrayXd square = model.array().square();
    gradient.array() += 2 * strength * model.array() / (1 + square).square();
    return strength * (square / (1 + square)).sum();
  }

  /// Newton's method with halved steps, where the problem is strongly convex.
  [[nodiscard]] std::optional<double> optimal_loss() const override {
    const auto d = static_cast<double>(dimension());
    const bool convex = problem().kind == ProblemKind::logistic && problem().regularization > 0;
    if (!convex || static_cast<double>(samples_.labels.size()) * d * d > kMaxHessianWork) return std::nullopt;
    Vector model = start();
    Vector gradient;
    double best = loss(model, gradient, 1);
    for (int step = 0; step < kMaxNewtonSteps; ++step) {
      const Vector direction = hessian(model).ldlt().solve(gradient);
      double share = 1;
      Vector next, slope;
      double value = best;
      for (; share > 1e-6; share /= 2) {
        next = model - share * direction;
        value = loss(next, slope, 1);
        if (value < best) break;
      }
      if (!(value < best)) break;
      best = value;
      model = next;
      gradient = slope;
    }
    return best;
  }

 private:
  [[nodiscard]] Matrix hessian(const Vector& model) const {
    const Eigen::ArrayXd margins = (samples_.features.transpose() * model).array();
    const Eigen::ArrayXd slopes = 1 / (1 + margins.exp());
    const Eigen::ArrayXd weights = slopes * (1 - slopes) / static_cast<double>(margins.size());
    Matrix out = samples_.features * weights.matrix().asDiagonal() * samples_.features.transpose();
    out.diagonal().array() += problem().regularization;
    return out;
  }

  Samples samples_;
};

}  // namespace

std::unique_ptr<LearningObjective> make_logistic(const LearningProblem& problem, std::int64_t workers,
                                                 std::int64_t seed) {
  return std::make_unique<Logistic>(problem, workers, seed);
}

}  // namespace orrery
