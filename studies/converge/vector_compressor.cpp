#include "studies/converge/vector_compressor.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace orrery {
namespace {

constexpr std::uint64_t kLowRankPurpose = 7;

/// The values of `x` in buckets of `size`, one after another.
template <class Use>
void for_each_bucket(Eigen::Index length, Eigen::Index size, const Use& use) {
  for (Eigen::Index begin = 0; begin < length; begin += size) use(begin, std::min(size, length - begin));
}

/// IEEE half precision: 11 bits of significand, subnormals below 2^-14, nothing beyond 65504.
double to_half(double value) {
  if (value == 0) return 0;
  const int exponent = std::max(std::ilogb(value), -14);
  const double unit = std::ldexp(1.0, exponent - 10);
  return std::clamp(std::nearbyint(value / unit) * unit, -65504.0, 65504.0);
}

/// A sign and one of 2^(bits - 1) equal steps up to `most`, never 0; 32 bits: as it is, 16: half precision.
double rounded_to_bits(double value, double most, std::int64_t bits) {
  if (bits == 32 || most == 0) return value;
  if (bits == 16) return to_half(value);
  const double steps = std::ldexp(1.0, static_cast<int>(bits) - 1);
  return std::copysign(std::clamp(std::nearbyint(std::abs(value) / most * steps), 1.0, steps) * most / steps,
                       value);
}

}  // namespace

Matrix dct_matrix(Eigen::Index length) {
  const auto n = static_cast<double>(length);
  Matrix out(length, length);
  for (Eigen::Index k = 0; k < length; ++k) {
    const double scale = std::sqrt((k == 0 ? 1 : 2) / n);
    for (Eigen::Index i = 0; i < length; ++i) {
      const double angle = std::numbers::pi * (static_cast<double>(i) + 0.5) * static_cast<double>(k) / n;
      out(k, i) = scale * std::cos(angle);
    }
  }
  return out;
}

VectorCompressor::VectorCompressor(const Compression& compression, Eigen::Index length, bool unbiased)
    : compression_(compression),
      length_(length),
      unbiased_(unbiased),
      rows_(static_cast<Eigen::Index>(std::ceil(std::sqrt(static_cast<double>(length))))),
      columns_((length + rows_ - 1) / rows_),
      lost_(Vector::Zero(length)) {
  if (compression.method != Compression::Method::low_rank) return;
  SplitMix64 random = random_stream(0, kLowRankPurpose);
  right_.resize(columns_, std::min<Eigen::Index>(compression.rank, std::min(rows_, columns_)));
  for (double& value : right_.reshaped()) value = normal(random);
}

Vector VectorCompressor::compress(const Vector& x, SplitMix64& random) {
  switch (compression_.method) {
    case Compression::Method::none:
      return x;
    case Compression::Method::quantize:
      return quantize(x);
    case Compression::Method::qsgd:
      return qsgd(x, random);
    case Compression::Method::fp4:
      return fp4(x);
    case Compression::Method::sign:
      return x.lpNorm<1>() / static_cast<double>(length_) *
             x.unaryExpr([](double value) { return value < 0 ? -1.0 : 1.0; });
    case Compression::Method::top_k:
      return top_k(x);
    case Compression::Method::random_k:
      return random_k(x, random);
    case Compression::Method::low_rank:
      return low_rank(x);
    case Compression::Method::dct_top_k:
      return dct_top_k(x);
  }
  return x;
}

Vector VectorCompressor::compress_with_feedback(const Vector& x, SplitMix64& random) {
  if (!compression_.feeds_back()) return compress(x, random);
  const Vector wanted = x + compression_.error_decay * lost_;
  const Vector sent = compress(wanted, random);
  lost_ = wanted - sent;
  return sent;
}

/// Nearest of 2^bits - 1 levels between -max and max of a bucket; 16 bits: half precision.
Vector VectorCompressor::quantize(const Vector& x) const {
  if (compression_.bits == 16) return x.unaryExpr([](double value) { return to_half(value); });
  const double levels = std::ldexp(1.0, static_cast<int>(compression_.bits) - 1) - 1;
  Vector out = x;
  for_each_bucket(length_, compression_.bucket, [&](Eigen::Index begin, Eigen::Index size) {
    const double scale = x.segment(begin, size).lpNorm<Eigen::Infinity>() / levels;
    if (scale == 0) return;
    for (Eigen::Index i = begin; i < begin + size; ++i) out[i] = std::nearbyint(x[i] / scale) * scale;
  });
  return out;
}

/// Nearest of 0 and +-max 2^-e of a bucket, e from 0 to 6: a sign and three bits of exponent, E3M0.
Vector VectorCompressor::fp4(const Vector& x) const {
  constexpr int kLeastExponent = -6;
  Vector out = x;
  for_each_bucket(length_, compression_.bucket, [&](Eigen::Index begin, Eigen::Index size) {
    const double scale = x.segment(begin, size).lpNorm<Eigen::Infinity>();
    if (scale == 0) return;
    for (Eigen::Index i = begin; i < begin + size; ++i) {
      const double share = std::abs(x[i]) / scale;
      const double least = std::ldexp(1.0, kLeastExponent);
      double below = 0;
      double above = least;
      if (share >= least) {
        below = std::ldexp(1.0, std::ilogb(share));
        above = 2 * below;
      }
      out[i] = std::copysign((share - below < above - share ? below : above) * scale, x[i]);
    }
  });
  return out;
}

/// Omega of QSGD: min(d / s^2, sqrt(d) / s) for a bucket of d values.
double VectorCompressor::qsgd_variance() const {
  const auto d = static_cast<double>(std::min<Eigen::Index>(length_, compression_.bucket));
  const auto s = static_cast<double>(compression_.levels);
  return std::min(d / (s * s), std::sqrt(d) / s);
}

/// Alistarh et al. 2017: |x_i| s / ||x|| rounded up or down at random, so that its mean is itself.
Vector VectorCompressor::qsgd(const Vector& x, SplitMix64& random) const {
  const auto levels = static_cast<double>(compression_.levels);
  const double shrink = unbiased_ ? 1 : 1 / (1 + qsgd_variance());
  Vector out = Vector::Zero(length_);
  for_each_bucket(length_, compression_.bucket, [&](Eigen::Index begin, Eigen::Index size) {
    const double norm = x.segment(begin, size).norm();
    for (Eigen::Index i = begin; i < begin + size && norm > 0; ++i) {
      const double level = std::floor(std::abs(x[i]) / norm * levels + random.uniform());
      out[i] = std::copysign(shrink * norm * level / levels, x[i]);
    }
  });
  return out;
}

Eigen::Index VectorCompressor::kept_of(Eigen::Index values) const {
  const double wanted = compression_.fraction * static_cast<double>(values);
  return std::clamp<Eigen::Index>(static_cast<Eigen::Index>(std::ceil(wanted - 1e-9)), 1, values);
}

/// The `count` largest values of x, rounded to the bits of a value; 0 for the others.
Vector VectorCompressor::largest(const Vector& x, Eigen::Index count) const {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(x.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  const auto larger = [&x](Eigen::Index a, Eigen::Index b) {
    return std::abs(x[a]) != std::abs(x[b]) ? std::abs(x[a]) > std::abs(x[b]) : a < b;
  };
  std::nth_element(order.begin(), order.begin() + (count - 1), order.end(), larger);
  const double most = x.lpNorm<Eigen::Infinity>();
  Vector out = Vector::Zero(x.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index place = order[static_cast<std::size_t>(i)];
    out[place] = rounded_to_bits(x[place], most, compression_.bits);
  }
  return out;
}

Vector VectorCompressor::top_k(const Vector& x) const {
  Vector out(length_);
  for_each_bucket(length_, chunk(), [&](Eigen::Index begin, Eigen::Index size) {
    out.segment(begin, size) = largest(x.segment(begin, size), kept_of(size));
  });
  return out;
}

/// DeMo's (Peng et al. 2024): a chunk, as a square filled up with zeros, keeps the largest of its frequencies
/// along both sides.
Vector VectorCompressor::dct_top_k(const Vector& x) const {
  Vector out(length_);
  for_each_bucket(length_, chunk(), [&](Eigen::Index begin, Eigen::Index size) {
    const auto side = static_cast<Eigen::Index>(std::ceil(std::sqrt(static_cast<double>(size)) - 1e-9));
    const Matrix cosines = dct_matrix(side);
    Vector padded = Vector::Zero(side * side);
    padded.head(size) = x.segment(begin, size);
    const Matrix frequencies = cosines * padded.reshaped(side, side) * cosines.transpose();
    const Vector kept = largest(frequencies.reshaped(), kept_of(size));
    const Matrix back = cosines.transpose() * kept.reshaped(side, side) * cosines;
    out.segment(begin, size) = back.reshaped().head(size);
  });
  return out;
}

Vector VectorCompressor::random_k(const Vector& x, SplitMix64& random) const {
  const double scale = unbiased_ ? static_cast<double>(length_) / static_cast<double>(kept_of(length_)) : 1;
  Vector out = Vector::Zero(length_);
  // Knuth's algorithm S: each value with the chance of those still wanted over those still left.
  auto wanted = static_cast<std::uint64_t>(kept_of(length_));
  for (Eigen::Index i = 0; i < length_ && wanted > 0; ++i) {
    if (random.below(static_cast<std::uint64_t>(length_ - i)) >= wanted) continue;
    out[i] = scale * x[i];
    --wanted;
  }
  return out;
}

/// Vogels et al. 2019 (PowerSGD): one power iteration from the step before, P = orth(M Q), Q = M^T P.
Vector VectorCompressor::low_rank(const Vector& x) {
  Vector padded = Vector::Zero(rows_ * columns_);
  padded.head(length_) = x;
  const Eigen::Map<const Matrix> matrix(padded.data(), rows_, columns_);
  const Matrix image = matrix * right_;
  const Matrix left =
      Eigen::HouseholderQR<Matrix>(image).householderQ() * Matrix::Identity(rows_, right_.cols());
  const Matrix right = matrix.transpose() * left;
  const Matrix product = left * right.transpose();
  if (right.squaredNorm() > 0) right_ = right;
  return product.reshaped().head(length_);
}

double VectorCompressor::contraction() const {
  constexpr double kTypicalSign = 0.6366197723675814;  // 2 / pi: of normal values
  const auto d = static_cast<double>(length_);
  switch (compression_.method) {
    case Compression::Method::qsgd:
      return 1 / (1 + qsgd_variance());
    case Compression::Method::sign:
      return kTypicalSign;
    case Compression::Method::top_k:
    case Compression::Method::dct_top_k:
    case Compression::Method::random_k:
      return static_cast<double>(kept_of(length_)) / d;
    case Compression::Method::low_rank:
      return std::min(1.0, static_cast<double>(right_.cols() * (rows_ + columns_)) / d);
    default:
      return 1;
  }
}

}  // namespace orrery
