// Methods without a graph: alone, parallel SGD, local SGD.
#include "studies/converge/method.hpp"

namespace orrery {
namespace {

class Alone final : public Method {
 public:
  explicit Alone(const MethodSetup& setup) : Method(setup) {}
  void step(std::int64_t iteration, double rate) override {
    models_ -= rate * directions(iteration, models_);
  }
};

/// All-reduce and parameter server: x <- x - rate * optimizer(mean of C(gradients)).
class ParallelSgd final : public Method {
 public:
  explicit ParallelSgd(const MethodSetup& setup) : Method(setup), average_(setup, length(), setup.seed) {
    const Vector start = setup.start.rowwise().mean();
    models_.colwise() = start;
  }
  void step(std::int64_t iteration, double rate) override {
    const Vector gradient = average_.mean(gradients(iteration, models_), iteration);
    const Vector model = models_.col(0) - rate * update_.direction(0, gradient);
    models_.colwise() = model;
  }
  [[nodiscard]] Vector mean() const override { return models_.col(0); }
  [[nodiscard]] bool is_elastic() const override { return true; }
  /// There is one model and one optimizer, which all have.
  void join(Eigen::Index /*worker*/, const Vector& /*model*/) override {}

 private:
  CompressedMean average_;
};

/// Local SGD (Stich 2019; FedAvg): every `period` steps all models are averaged, as changes since the last
/// time where they are compressed.
class LocalSgd final : public Method {
 public:
  explicit LocalSgd(const MethodSetup& setup)
      : Method(setup), average_(setup, length(), setup.seed), anchor_(Method::mean()) {
    models_.colwise() = anchor_;
  }
  void step(std::int64_t iteration, double rate) override {
    models_ -= rate * directions(iteration, models_);
    if ((iteration + 1) % sync().period != 0) return;
    if (sync().compression.method == Compression::Method::none) {
      anchor_ = setup_.presence.mean(models_);
    } else {
      anchor_ += average_.mean(models_.colwise() - anchor_, iteration);
    }
    models_.colwise() = anchor_;
  }
  [[nodiscard]] bool is_elastic() const override { return true; }
  void join(Eigen::Index worker, const Vector& /*model*/) override { Method::join(worker, anchor_); }

 private:
  CompressedMean average_;
  Vector anchor_;
};

}  // namespace

std::unique_ptr<Method> make_global_method(const MethodSetup& setup) {
  if (setup.sync.method == SyncMethod::none) return std::make_unique<Alone>(setup);
  if (setup.sync.method == SyncMethod::local_sgd) return std::make_unique<LocalSgd>(setup);
  return std::make_unique<ParallelSgd>(setup);
}

}  // namespace orrery
