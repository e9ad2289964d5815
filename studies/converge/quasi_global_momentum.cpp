// Implements QG-DSGDm (Lin, Karimireddy, Stich and Jaggi 2021, "Quasi-global momentum", algorithm 1): gossip
// whose momentum follows the models' change over a whole step, averages included, in place of local
// gradients.
#include "studies/converge/method.hpp"
#include "studies/converge/mixing.hpp"

namespace orrery {
namespace {

/// x' = W (x - rate (beta m + g)); m <- beta m + (1 - beta) (x - x') / rate.
class QuasiGlobalMomentum final : public Method {
 public:
  explicit QuasiGlobalMomentum(const MethodSetup& setup)
      : Method(setup), momentum_(Matrix::Zero(length(), workers())) {}

  void step(std::int64_t iteration, double rate) override {
    const double beta = setup_.objective.problem().momentum;
    const Matrix half = models_ - rate * (beta * momentum_ + gradients(iteration, models_));
    const Matrix next = mix(round(iteration), half, half, setup_.threads);
    if (rate > 0) momentum_ = beta * momentum_ + (1 - beta) / rate * (models_ - next);
    models_ = next;
  }

 private:
  Matrix momentum_;
};

}  // namespace

std::unique_ptr<Method> make_quasi_global_momentum(const MethodSetup& setup) {
  return std::make_unique<QuasiGlobalMomentum>(setup);
}

}  // namespace orrery
