// Implements DiLoCo (Douillard et al. 2023) and its streaming form (Douillard et al. 2025): workers train by
// themselves; every `period` steps an outer optimizer takes the mean of their changes. With fragments, each
// part of the model has its turn; with a delay, workers go on while a part travels.
#include <deque>

#include "orrery/fragments.hpp"
#include "studies/converge/method.hpp"

namespace orrery {
namespace {

class DiLoCo final : public Method {
 public:
  explicit DiLoCo(const MethodSetup& setup)
      : Method(setup), outer_(Method::mean()), velocity_(Vector::Zero(length())) {
    models_.colwise() = outer_;
    for (std::int64_t part = 0; part < sync().fragments; ++part) {
      averages_.emplace_back(setup, size(part), setup.seed + part);
    }
  }

  void step(std::int64_t iteration, double rate) override {
    models_ -= rate * directions(iteration, models_);
    if (const auto part = fragment_due(sync(), iteration + sync().delay)) send(*part, iteration);
    while (!travelling_.empty() && travelling_.front().arrives == iteration) {
      arrive(travelling_.front());
      travelling_.pop_front();
    }
  }

  [[nodiscard]] bool is_elastic() const override { return true; }
  void join(Eigen::Index worker, const Vector& /*model*/) override { Method::join(worker, outer_); }

 private:
  struct Change {
    std::int64_t part, arrives;
    Vector mean;  ///< outer model less the workers' mean: the outer gradient
  };

  [[nodiscard]] Eigen::Index begin(std::int64_t part) const { return length() * part / sync().fragments; }
  [[nodiscard]] Eigen::Index size(std::int64_t part) const { return begin(part + 1) - begin(part); }

  void send(std::int64_t part, std::int64_t iteration) {
    const Vector outer = outer_.segment(begin(part), size(part));
    const Matrix changes = -(models_.middleRows(begin(part), size(part)).colwise() - outer);
    travelling_.push_back(
        {part, iteration + sync().delay, averages_[static_cast<std::size_t>(part)].mean(changes, iteration)});
  }

  /// Nesterov's momentum as optimizers of deep learning have it: v <- mu v + g, x <- x - rate (g + mu v).
  void arrive(const Change& change) {
    const LearningProblem& problem = setup_.objective.problem();
    auto outer = outer_.segment(begin(change.part), size(change.part));
    auto velocity = velocity_.segment(begin(change.part), size(change.part));
    velocity = problem.outer_momentum * velocity + change.mean;
    outer -= problem.outer_learning_rate * (change.mean + problem.outer_momentum * velocity);
    const double kept = sync().mixing;  // Streaming DiLoCo's alpha
    auto models = models_.middleRows(begin(change.part), size(change.part));
    models *= kept;
    models.colwise() += (1 - kept) * outer;
  }

  Vector outer_, velocity_;
  std::vector<CompressedMean> averages_;
  std::deque<Change> travelling_;
};

}  // namespace

std::unique_ptr<Method> make_diloco(const MethodSetup& setup) { return std::make_unique<DiLoCo>(setup); }

}  // namespace orrery
