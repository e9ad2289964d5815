// DeMo (Peng, Quesnelle and Kingma 2024, arXiv 2411.19870, algorithm 1 with the sign of the authors'
// implementation): every worker has a momentum of its own; the largest of its frequencies leave it every
// step and are averaged over all workers.
#include "studies/converge/method.hpp"

namespace orrery {
namespace {

/// m <- beta m + g; q = C(m); m <- m - q; x <- x - rate sign(mean(q)): a compressor whose error feedback
/// decays by beta, the error_decay, is the momentum.
class DecoupledMomentum final : public Method {
 public:
  explicit DecoupledMomentum(const MethodSetup& setup)
      : Method(setup), average_(setup, length(), setup.seed) {
    const Vector start = setup.start.rowwise().mean();
    models_.colwise() = start;
  }

  void step(std::int64_t iteration, double rate) override {
    const Vector sum = average_.mean(gradients(iteration, models_), iteration);
    const Vector model = models_.col(0) - rate * sum.cwiseSign();
    models_.colwise() = model;
  }
  [[nodiscard]] Vector mean() const override { return models_.col(0); }

 private:
  CompressedMean average_;
};

}  // namespace

std::unique_ptr<Method> make_decoupled_momentum(const MethodSetup& setup) {
  return std::make_unique<DecoupledMomentum>(setup);
}

}  // namespace orrery
