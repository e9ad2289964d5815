// Implements NoLoCo (Kolehmainen et al. 2025, arXiv 2506.10911): local steps; every `period` of them each
// worker and its partners of the round average their changes and their initial models, and a momentum takes
// both. That is gossip with a period and with an outer optimizer; with learning rate 1 and momentum 0 the
// models themselves are averaged.
#include "studies/converge/method.hpp"
#include "studies/converge/mixing.hpp"

namespace orrery {
namespace {

/// m <- mu m + eta W (x - y) + eta (W y - y); y <- y + m; x <- y. As the authors' implementation has it, the
/// difference from the partners counts as much as the change.
class NoLoCo final : public Method {
 public:
  explicit NoLoCo(const MethodSetup& setup)
      : Method(setup), slow_(setup.start), momentum_(Matrix::Zero(length(), workers())) {}

  void step(std::int64_t iteration, double rate) override {
    models_ -= rate * directions(iteration, models_);
    if ((iteration + 1) % sync().period != 0) return;
    const Mixing& partners = round(iteration / sync().period);
    const LearningProblem& problem = setup_.objective.problem();
    const Matrix changes = models_ - slow_;
    momentum_ = problem.outer_momentum * momentum_ +
                problem.outer_learning_rate * (mix(partners, changes, changes, setup_.threads) +
                                               mix(partners, slow_, slow_, setup_.threads) - slow_);
    slow_ += momentum_;
    models_ = slow_;
  }

 private:
  Matrix slow_;      ///< y, with which the period began
  Matrix momentum_;  ///< m
};

}  // namespace

std::unique_ptr<Method> make_noloco(const MethodSetup& setup) { return std::make_unique<NoLoCo>(setup); }

}  // namespace orrery
