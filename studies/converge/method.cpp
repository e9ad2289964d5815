#include "studies/converge/method.hpp"

#include <algorithm>
#include <array>

#include "studies/converge/parallel.hpp"

namespace orrery {
namespace {

constexpr std::uint64_t kCompressorPurpose = 8;
/// Sums over samples for which threads are worth starting.
constexpr double kSmallGradient = 2e5;
constexpr std::uint32_t kServer = 1U << 30;

}  // namespace

SplitMix64 compressor_stream(std::int64_t seed, Eigen::Index worker, std::int64_t iteration) {
  return random_stream(seed, kCompressorPurpose, static_cast<std::uint64_t>(worker),
                       static_cast<std::uint64_t>(iteration));
}

Method::Method(const MethodSetup& setup)
    : setup_(setup),
      update_(setup.objective.problem(), setup.start.rows(), setup.start.cols()),
      models_(setup.start) {}

Matrix Method::gradients(std::int64_t iteration, const Matrix& models) const {
  Matrix out = Matrix::Zero(models.rows(), models.cols());
  const double work =
      static_cast<double>(models.size()) * static_cast<double>(setup_.objective.problem().batch);
  for_each_worker(models.cols(), work < kSmallGradient ? 1 : setup_.threads, [&](Eigen::Index worker) {
    if (setup_.presence.has(worker))
      out.col(worker) = setup_.objective.gradient(worker, iteration, models.col(worker));
  });
  return out;
}

Matrix Method::directions(std::int64_t iteration, const Matrix& models) {
  Matrix out = gradients(iteration, models);
  for (Eigen::Index worker = 0; worker < out.cols(); ++worker) {
    if (setup_.presence.has(worker)) out.col(worker) = update_.direction(worker, out.col(worker));
  }
  return out;
}

void Method::join(Eigen::Index worker, const Vector& model) {
  models_.col(worker) = model;
  update_.forget(worker);
}

CompressedMean::CompressedMean(const MethodSetup& setup, Eigen::Index length, std::int64_t seed)
    : presence_(setup.presence),
      compression_(setup.sync.compression),
      twice_(setup.sync.method == SyncMethod::parameter_server),
      seed_(seed),
      senders_(static_cast<std::size_t>(setup.start.cols()),
               VectorCompressor(compression_, length, !compression_.feeds_back())),
      server_(compression_, length, !compression_.feeds_back()) {}

Vector CompressedMean::mean(const Matrix& values, std::int64_t iteration) {
  if (compression_.method == Compression::Method::none) return presence_.mean(values);
  // Workers that keep the same random places need not send which.
  const bool shared = compression_.method == Compression::Method::random_k;
  Matrix sent(values.rows(), values.cols());
  for (Eigen::Index worker = 0; worker < values.cols(); ++worker) {
    if (!presence_.has(worker)) continue;
    SplitMix64 random = compressor_stream(seed_, shared ? 0 : worker, iteration);
    sent.col(worker) =
        senders_[static_cast<std::size_t>(worker)].compress_with_feedback(values.col(worker), random);
  }
  const Vector mean = presence_.mean(sent);
  if (!twice_) return mean;
  SplitMix64 random = compressor_stream(seed_, shared ? 0 : kServer, iteration);
  return server_.compress_with_feedback(mean, random);
}

std::unique_ptr<Method> make_method(const MethodSetup& setup) {
  struct Row {
    SyncMethod method;
    std::unique_ptr<Method> (*make)(const MethodSetup&);
  };
  static constexpr std::array<Row, kSyncMethodNames.size()> kRows{{
      {SyncMethod::none, make_global_method},
      {SyncMethod::all_reduce, make_global_method},
      {SyncMethod::parameter_server, make_global_method},
      {SyncMethod::gossip, make_gossip},
      {SyncMethod::push_sum, make_push_sum},
      {SyncMethod::local_sgd, make_global_method},
      {SyncMethod::gossip_pga, make_gossip},
      {SyncMethod::gossip_aga, make_gossip},
      {SyncMethod::diloco, make_diloco},
      {SyncMethod::gradient_tracking, make_gradient_tracking},
      {SyncMethod::d2, make_exact_diffusion},
      {SyncMethod::qg_dsgdm, make_quasi_global_momentum},
      {SyncMethod::slowmo, make_slow_momentum},
      {SyncMethod::noloco, make_noloco},
      {SyncMethod::sparse_loco, make_sparse_loco},
      {SyncMethod::demo, make_decoupled_momentum},
      {SyncMethod::ad_psgd, make_ad_psgd},
      {SyncMethod::easgd, make_easgd},
      {SyncMethod::async_diloco, make_async_diloco},
  }};
  const auto row = std::ranges::find(kRows, setup.sync.method, &Row::method);
  return row->make(setup);
}

}  // namespace orrery
