// Implements D2 (Tang et al. 2018), that is Exact Diffusion (Yuan, Ying, Zhao and Sayed 2019): gossip that
// takes back the error of the previous step's average, so that different data no longer pull workers apart,
// at the bytes of gossip.
#include "studies/converge/method.hpp"
#include "studies/converge/mixing.hpp"

namespace orrery {
namespace {

/// psi = x - rate D(x); x <- (I + W) / 2 (psi + x - psi of the step before), the first time (I + W) / 2 psi.
/// W alone would need eigenvalues above -1/3, which a ring of an even number has not.
class ExactDiffusion final : public Method {
 public:
  explicit ExactDiffusion(const MethodSetup& setup) : Method(setup), before_(setup.start) {}

  void step(std::int64_t iteration, double rate) override {
    const Matrix adapted = models_ - rate * directions(iteration, models_);
    const Matrix corrected = adapted + models_ - before_;
    models_ = (corrected + mix(round(iteration), corrected, corrected, setup_.threads)) / 2;
    before_ = adapted;
  }

 private:
  Matrix before_;  ///< psi of the step before; first x itself, so that nothing is corrected
};

}  // namespace

std::unique_ptr<Method> make_exact_diffusion(const MethodSetup& setup) {
  return std::make_unique<ExactDiffusion>(setup);
}

}  // namespace orrery
