// Decentralised SGD with models averaged over neighbours, and now and then over all; push-sum.
#include <cmath>

#include "studies/converge/method.hpp"
#include "studies/converge/mixing.hpp"

namespace orrery {
namespace {

/// Implements Gossip SGD (Lian et al. 2017), Gossip-PGA and Gossip-AGA (Chen et al. 2021, Algorithms 1 and
/// 2). With compression CHOCO-SGD (Koloskova et al. 2019): neighbours know a copy of every model, and
/// messages are differences from it.
class Gossip final : public Method {
 public:
  explicit Gossip(const MethodSetup& setup)
      : Method(setup), before_(setup.start), period_(setup.sync.period) {
    if (!compresses()) return;
    copies_ = Matrix::Zero(length(), workers());
    senders_.assign(static_cast<std::size_t>(workers()),
                    VectorCompressor(sync().compression, length(), false));
    const double chosen = setup.objective.problem().consensus_step;
    consensus_step_ = chosen > 0 ? chosen : senders_.front().contraction();
  }

  void step(std::int64_t iteration, double rate) override {
    const Matrix steps = rate * directions(iteration, models_);
    const bool first_combine = sync().overlap == SyncOverlap::combine_while_computing ||
                               sync().overlap == SyncOverlap::one_step_stale;
    if (!first_combine) models_ -= steps;
    if (is_global()) {
      average_all();
    } else if (compresses()) {
      combine_compressed(iteration);
    } else {
      combine(iteration);
    }
    if (first_combine) models_ -= steps;
  }
  /// Compressed differences are from copies that a returning worker does not have.
  [[nodiscard]] bool is_elastic() const override { return !compresses(); }
  void join(Eigen::Index worker, const Vector& model) override {
    Method::join(worker, model);
    before_.col(worker) = model;
  }

 private:
  [[nodiscard]] bool compresses() const { return sync().compression.method != Compression::Method::none; }

  /// Counts the steps since the last global average.
  [[nodiscard]] bool is_global() {
    if (sync().method == SyncMethod::gossip || ++since_average_ < period_) return false;
    since_average_ = 0;
    return true;
  }

  void average_all() {
    const Vector mean = setup_.presence.mean(models_);
    before_ = models_;
    models_.colwise() = mean;
    if (compresses()) copies_ = models_;
    if (sync().method == SyncMethod::gossip_aga) adapt(mean);
  }

  /// H <- ceil(F_first / F(x) H_first): the smaller the loss, the rarer the averages.
  void adapt(const Vector& mean) {
    Vector gradient;
    const double loss = setup_.objective.loss(mean, gradient, setup_.threads);
    if (first_loss_ == 0) first_loss_ = loss;
    const double wanted = std::ceil(first_loss_ / loss * static_cast<double>(sync().period));
    const auto most = static_cast<double>(sync().final_period);
    period_ = static_cast<std::int64_t>(wanted < most ? wanted : most);
  }

  void combine(std::int64_t iteration) {
    if (sync().overlap != SyncOverlap::one_step_stale) {
      models_ = mix(round(iteration), models_, models_, setup_.threads);
      return;
    }
    Matrix next = mix(round(iteration), models_, before_, setup_.threads);
    before_ = std::move(models_);
    models_ = std::move(next);
  }

  void combine_compressed(std::int64_t iteration) {
    for (Eigen::Index worker = 0; worker < workers(); ++worker) {
      SplitMix64 random = compressor_stream(setup_.seed, worker, iteration);
      copies_.col(worker) += senders_[static_cast<std::size_t>(worker)].compress(
          models_.col(worker) - copies_.col(worker), random);
    }
    models_ += consensus_step_ * (mix(round(iteration), copies_, copies_, setup_.threads) - copies_);
  }

  Matrix before_;  ///< one-step-stale: the models of the step before
  Matrix copies_;  ///< compressed: the neighbours' copy of each worker
  std::vector<VectorCompressor> senders_;
  double consensus_step_ = 1;
  std::int64_t period_, since_average_ = 0;
  double first_loss_ = 0;
};

/// Stochastic gradient push (Assran et al. 2019): numerators and weights travel, their quotient is the model.
class PushSum final : public Method {
 public:
  explicit PushSum(const MethodSetup& setup)
      : Method(setup),
        numerators_(setup.start),
        weights_(Matrix::Zero(1, workers())),
        late_numerators_(Matrix::Zero(length(), workers())),
        late_weights_(Matrix::Zero(1, workers())),
        weight_(static_cast<double>(setup.presence.count())) {
    for (Eigen::Index worker = 0; worker < workers(); ++worker) {
      if (setup.presence.has(worker)) {
        weights_(0, worker) = 1;
      } else {
        numerators_.col(worker).setZero();
      }
    }
  }

  void step(std::int64_t iteration, double rate) override {
    const Matrix steps = rate * directions(iteration, models_);
    const bool first_combine = sync().overlap == SyncOverlap::combine_while_computing;
    if (!first_combine) numerators_ -= steps;
    push(round(iteration), numerators_, late_numerators_);
    push(round(iteration), weights_, late_weights_);
    if (first_combine) numerators_ -= steps;
    for (Eigen::Index worker = 0; worker < workers(); ++worker) {
      if (weights_(0, worker) > 0) models_.col(worker) = numerators_.col(worker) / weights_(0, worker);
    }
  }

  /// Returns the sum of all values over the sum of all weights, messages in flight included: as many as were
  /// there at the beginning.
  [[nodiscard]] Vector mean() const override {
    return (numerators_ + late_numerators_).rowwise().sum() / weight_;
  }

  [[nodiscard]] bool is_elastic() const override { return true; }
  /// Loses neither values nor weight, so the workers' consensus stays the mean of all values put in. A worker
  /// that joins brings none and gets some from its neighbours.
  void leave(Eigen::Index worker, Eigen::Index heir) override {
    for (Matrix* held : {&numerators_, &weights_, &late_numerators_, &late_weights_}) {
      held->col(heir) += held->col(worker);
      held->col(worker).setZero();
    }
  }

 private:
  /// Sends shares, which arrive now, or one step late.
  void push(const Mixing& mixing, Matrix& values, Matrix& late) const {
    Matrix arriving = received(mixing, values, setup_.threads);
    keep_own_share(mixing, values);
    if (sync().overlap == SyncOverlap::one_step_stale) arriving.swap(late);
    values += arriving;
  }

  Matrix numerators_, weights_;
  Matrix late_numerators_, late_weights_;
  double weight_;
};

}  // namespace

std::unique_ptr<Method> make_gossip(const MethodSetup& setup) { return std::make_unique<Gossip>(setup); }
std::unique_ptr<Method> make_push_sum(const MethodSetup& setup) { return std::make_unique<PushSum>(setup); }

}  // namespace orrery
