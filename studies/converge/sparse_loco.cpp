// Implements SparseLoCo (Sarfi, Therien, Lidin and Belilovsky 2025, arXiv 2508.15706): local steps; every
// `period` of them the mean of all workers' changes, each compressed with an error feedback that decays,
// which takes the place of DiLoCo's outer momentum.
#include "studies/converge/method.hpp"

namespace orrery {
namespace {

/// e <- beta e + (y - x); c = C(e); e <- e - c; y <- y - alpha mean(c); x <- y, with beta the error_decay.
class SparseLoCo final : public Method {
 public:
  explicit SparseLoCo(const MethodSetup& setup)
      : Method(setup), average_(setup, length(), setup.seed), outer_(Method::mean()) {
    models_.colwise() = outer_;
  }

  void step(std::int64_t iteration, double rate) override {
    models_ -= rate * directions(iteration, models_);
    if ((iteration + 1) % sync().period != 0) return;
    const Matrix changes = -(models_.colwise() - outer_);
    outer_ -= setup_.objective.problem().outer_learning_rate * average_.mean(changes, iteration);
    models_.colwise() = outer_;
  }

 private:
  CompressedMean average_;
  Vector outer_;  ///< y
};

}  // namespace

std::unique_ptr<Method> make_sparse_loco(const MethodSetup& setup) {
  return std::make_unique<SparseLoCo>(setup);
}

}  // namespace orrery
