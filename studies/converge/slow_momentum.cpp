// Implements SlowMo (Wang, Tantia, Ballas and Rabbat 2020, algorithm 1): steps of a base method, gossip or
// local SGD; every `period` of them all models are averaged, and their change goes through a momentum.
#include "studies/converge/method.hpp"
#include "studies/converge/mixing.hpp"

namespace orrery {
namespace {

/// u <- beta u + (y - mean(x)) / rate; y <- y - alpha rate u; x <- y. Gossip of the last step of a period
/// would leave its mean as it is and is left out.
class SlowMomentum final : public Method {
 public:
  explicit SlowMomentum(const MethodSetup& setup)
      : Method(setup), slow_(Method::mean()), momentum_(Vector::Zero(length())) {}

  void step(std::int64_t iteration, double rate) override {
    models_ -= rate * directions(iteration, models_);
    if ((iteration + 1) % sync().period == 0) {
      end_period(rate);
    } else if (sync().base == SlowBase::gossip) {
      models_ = mix(round(iteration), models_, models_, setup_.threads);
    }
  }

 private:
  void end_period(double rate) {
    const LearningProblem& problem = setup_.objective.problem();
    const Vector mean = models_.rowwise().mean();
    if (rate > 0) momentum_ = problem.outer_momentum * momentum_ + (slow_ - mean) / rate;
    slow_ -= problem.outer_learning_rate * rate * momentum_;
    models_.colwise() = slow_;
  }

  Vector slow_;      ///< y, with which the period began
  Vector momentum_;  ///< u
};

}  // namespace

std::unique_ptr<Method> make_slow_momentum(const MethodSetup& setup) {
  return std::make_unique<SlowMomentum>(setup);
}

}  // namespace orrery
