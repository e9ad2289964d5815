// Methods whose workers go on at their own pace: AD-PSGD (Lian et al. 2018), EASGD (Zhang, Choromanska and
// LeCun 2015), asynchronous DiLoCo (Liu et al. 2024). An iteration lasts as long as a step of the slowest
// worker; the others end as many of theirs in it as they are faster.
#include "studies/converge/event_order.hpp"
#include "studies/converge/method.hpp"

namespace orrery {
namespace {

class Asynchronous : public Method {
 public:
  explicit Asynchronous(const MethodSetup& setup)
      : Method(setup), ends_(setup.speeds, static_cast<std::uint32_t>(setup.start.cols())) {}

  void step(std::int64_t iteration, double rate) final {
    while (ends_.ends_by(static_cast<double>(iteration + 1))) end_step(ends_.next(), rate);
  }

 protected:
  virtual void end_step(const StepEnd& end, double rate) = 0;
  /// Down which a worker that read `model` steps in its step.
  [[nodiscard]] Vector direction(const StepEnd& end, const Vector& model) {
    return update_.direction(end.worker, setup_.objective.gradient(end.worker, end.step - 1, model));
  }

 private:
  StepEnds ends_;
};

/// Algorithm 1: with a gradient at the model that it read when its step began, a worker averages with a
/// neighbour, which goes on meanwhile, and then steps.
class AdPsgd final : public Asynchronous {
 public:
  explicit AdPsgd(const MethodSetup& setup) : Asynchronous(setup), read_(setup.start) {}

 private:
  void end_step(const StepEnd& end, double rate) override {
    const Vector down = direction(end, read_.col(end.worker));
    const std::uint32_t partner = partner_of(end, setup_.graph, setup_.seed);
    const Vector mean = (models_.col(end.worker) + models_.col(partner)) / 2;
    models_.col(partner) = mean;
    models_.col(end.worker) = mean - rate * down;
    read_.col(end.worker) = models_.col(end.worker);
  }

  Matrix read_;  ///< with which each worker's step began
};

/// Implements algorithm 1: every `period` of its steps a worker moves towards the centre, and the centre
/// towards it, by beta / n of their difference, beta the outer learning rate.
class Easgd final : public Asynchronous {
 public:
  explicit Easgd(const MethodSetup& setup) : Asynchronous(setup), centre_(Method::mean()) {}
  [[nodiscard]] Vector mean() const override { return centre_; }

 private:
  void end_step(const StepEnd& end, double rate) override {
    const Vector down = direction(end, models_.col(end.worker));
    if (end.step % sync().period == 0) {
      const double share = setup_.objective.problem().outer_learning_rate / static_cast<double>(workers());
      const Vector pull = share * (models_.col(end.worker) - centre_);
      models_.col(end.worker) -= pull;
      centre_ += pull;
    }
    models_.col(end.worker) -= rate * down;
  }

  Vector centre_;
};

/// Delayed Nesterov (algorithm 3, with c = 0): the outer model takes 1/n of each change when it comes, and
/// momentum once for every n of them.
class AsyncDiLoCo final : public Asynchronous {
 public:
  explicit AsyncDiLoCo(const MethodSetup& setup)
      : Asynchronous(setup),
        began_(setup.start),
        outer_(Method::mean()),
        velocity_(Vector::Zero(length())),
        sum_(Vector::Zero(length())) {
    models_.colwise() = outer_;
    began_.colwise() = outer_;
  }
  [[nodiscard]] Vector mean() const override { return outer_; }

 private:
  void end_step(const StepEnd& end, double rate) override {
    models_.col(end.worker) -= rate * direction(end, models_.col(end.worker));
    if (end.step % sync().period != 0) return;
    take(began_.col(end.worker) - models_.col(end.worker));
    models_.col(end.worker) = outer_;
    began_.col(end.worker) = outer_;
  }

  void take(const Vector& change) {
    const LearningProblem& problem = setup_.objective.problem();
    const double share = 1 / static_cast<double>(workers());
    Vector down = share * change;
    sum_ += share * change;
    if (++taken_ % workers() == 0) {
      velocity_ = problem.outer_momentum * velocity_ + sum_;
      sum_.setZero();
      down += problem.outer_momentum * velocity_;
    }
    outer_ -= problem.outer_learning_rate * down;
  }

  Matrix began_;  ///< the outer model that each worker began its period with
  Vector outer_, velocity_;
  Vector sum_;  ///< of changes since the last momentum
  std::int64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_ad_psgd(const MethodSetup& setup) { return std::make_unique<AdPsgd>(setup); }
std::unique_ptr<Method> make_easgd(const MethodSetup& setup) { return std::make_unique<Easgd>(setup); }
std::unique_ptr<Method> make_async_diloco(const MethodSetup& setup) {
  return std::make_unique<AsyncDiLoCo>(setup);
}

}  // namespace orrery
