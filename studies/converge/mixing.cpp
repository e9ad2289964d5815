#include "studies/converge/mixing.hpp"

#include "studies/converge/parallel.hpp"

namespace orrery {
namespace {

/// Work for which threads are worth starting.
constexpr double kSmallMixing = 1e6;

unsigned threads_for(const Mixing& mixing, const Matrix& values, unsigned threads) {
  const double work = static_cast<double>(mixing.from.size()) * static_cast<double>(values.rows());
  return work < kSmallMixing ? 1 : threads;
}

void add_received(const Mixing& mixing, const Matrix& others, Matrix& out, unsigned threads) {
  for_each_worker(out.cols(), threads_for(mixing, others, threads), [&](Eigen::Index worker) {
    const auto to = static_cast<std::uint32_t>(worker);
    for (std::uint32_t edge = mixing.begin[to]; edge < mixing.begin[to + 1]; ++edge) {
      out.col(worker) += mixing.weight[edge] * others.col(mixing.from[edge]);
    }
  });
}

}  // namespace

void keep_own_share(const Mixing& mixing, Matrix& own) {
  for (Eigen::Index worker = 0; worker < own.cols(); ++worker) {
    own.col(worker) *= mixing.self[static_cast<std::size_t>(worker)];
  }
}

Matrix mix(const Mixing& mixing, const Matrix& own, const Matrix& others, unsigned threads) {
  Matrix out = own;
  keep_own_share(mixing, out);
  add_received(mixing, others, out, threads);
  return out;
}

Matrix received(const Mixing& mixing, const Matrix& others, unsigned threads) {
  Matrix out = Matrix::Zero(others.rows(), others.cols());
  add_received(mixing, others, out, threads);
  return out;
}

}  // namespace orrery
