// Gradient tracking (Di Lorenzo and Scutari 2016; Nedic, Olshevsky and Shi 2017; with stochastic gradients Pu
// and Nedic 2021, Koloskova, Lin and Stich 2021): beside the models, estimates y of the mean gradient are
// gossiped, so that different data pull workers apart no more.
#include "studies/converge/method.hpp"
#include "studies/converge/mixing.hpp"

namespace orrery {
namespace {

/// y <- W y + g - g of the step before, first y = g; x <- W (x - rate D(y)).
class GradientTracking final : public Method {
 public:
  explicit GradientTracking(const MethodSetup& setup)
      : Method(setup),
        tracked_(Matrix::Zero(length(), workers())),
        before_(Matrix::Zero(length(), workers())) {}

  void step(std::int64_t iteration, double rate) override {
    const Matrix now = gradients(iteration, models_);
    if (iteration > 0) tracked_ = mix(round(iteration - 1), tracked_, tracked_, setup_.threads);
    tracked_ += now - before_;
    before_ = now;
    for (Eigen::Index worker = 0; worker < workers(); ++worker)
      models_.col(worker) -= rate * update_.direction(worker, tracked_.col(worker));
    models_ = mix(round(iteration), models_, models_, setup_.threads);
  }

 private:
  Matrix tracked_;  ///< y
  Matrix before_;   ///< gradients of the step before
};

}  // namespace

std::unique_ptr<Method> make_gradient_tracking(const MethodSetup& setup) {
  return std::make_unique<GradientTracking>(setup);
}

}  // namespace orrery
