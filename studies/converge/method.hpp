// Declares a synchronisation method's mathematics, an iteration at a time. Inside studies/converge/.
#pragma once

#include <memory>
#include <vector>

#include "orrery/data_parallel_sync.hpp"
#include "orrery/gossip_graph.hpp"
#include "studies/converge/local_update.hpp"
#include "studies/converge/presence.hpp"
#include "studies/converge/vector_compressor.hpp"

namespace orrery {

/// Refers to the inputs of a method and outlives it.
struct MethodSetup {
  const LearningObjective& objective;
  const DataParallelSync& sync;
  const GossipGraph& graph;  ///< empty where the method has none; another one after each change
  const Presence& presence;
  Matrix start;  ///< first models, a column per worker
  std::int64_t seed = 0;
  unsigned threads = 1;
  std::vector<double> speeds;  ///< of workers that go on at their own pace; empty: all alike
};

class Method {
 public:
  virtual ~Method() = default;
  /// Iteration k, from 0, with its learning rate.
  virtual void step(std::int64_t iteration, double rate) = 0;
  /// The model that each worker would use.
  [[nodiscard]] virtual Matrix models() const { return models_; }
  [[nodiscard]] virtual Vector mean() const { return setup_.presence.mean(models_); }
  /// Returns true if workers may come and go.
  [[nodiscard]] virtual bool is_elastic() const { return false; }
  /// Called before a worker leaves: values that others need go to `heir`, which stays.
  virtual void leave(Eigen::Index /*worker*/, Eigen::Index /*heir*/) {}
  /// Called after a worker joined: it begins with the model of the others and without a past.
  virtual void join(Eigen::Index worker, const Vector& model);

 protected:
  explicit Method(const MethodSetup& setup);
  [[nodiscard]] const DataParallelSync& sync() const { return setup_.sync; }
  [[nodiscard]] const Mixing& round(std::int64_t iteration) const {
    const auto& rounds = setup_.graph.rounds;
    return rounds[static_cast<std::size_t>(iteration) % rounds.size()];
  }
  [[nodiscard]] Matrix gradients(std::int64_t iteration, const Matrix& models) const;
  /// Returns the directions of every worker's optimizer; those of absent workers are zero.
  [[nodiscard]] Matrix directions(std::int64_t iteration, const Matrix& models);
  [[nodiscard]] Eigen::Index workers() const { return models_.cols(); }
  [[nodiscard]] Eigen::Index length() const { return models_.rows(); }

  const MethodSetup& setup_;
  LocalUpdate update_;
  Matrix models_;
};

/// Computes the mean of the messages of all present workers, each through its compressor. `setup` outlives
/// it.
class CompressedMean {
 public:
  CompressedMean(const MethodSetup& setup, Eigen::Index length, std::int64_t seed);
  [[nodiscard]] Vector mean(const Matrix& values, std::int64_t iteration);

 private:
  const Presence& presence_;
  const Compression& compression_;
  bool twice_;  ///< servers compress their answers too
  std::int64_t seed_;
  std::vector<VectorCompressor> senders_;
  VectorCompressor server_;
};

/// Random numbers of a compressor in an iteration.
[[nodiscard]] SplitMix64 compressor_stream(std::int64_t seed, Eigen::Index worker, std::int64_t iteration);

/// `setup` outlives the result.
[[nodiscard]] std::unique_ptr<Method> make_method(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_global_method(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_diloco(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_gossip(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_push_sum(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_gradient_tracking(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_exact_diffusion(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_quasi_global_momentum(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_slow_momentum(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_noloco(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_sparse_loco(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_decoupled_momentum(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_ad_psgd(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_easgd(const MethodSetup& setup);
[[nodiscard]] std::unique_ptr<Method> make_async_diloco(const MethodSetup& setup);

}  // namespace orrery
