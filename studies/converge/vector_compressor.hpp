// Applies lossy compression to vectors: vector in, the receiver's result out. Internal to studies/converge/
// and its tests. The wire format is of no interest here.
#pragma once

#include "orrery/data_parallel_sync.hpp"
#include "studies/converge/objective.hpp"

namespace orrery {

/// Holds one sender's compressor with its state. `unbiased` scales random-k and keeps qsgd unbiased;
/// otherwise both contract (E||C(x) - x||^2 <= (1 - delta) ||x||^2), as error feedback and CHOCO-SGD want it.
class VectorCompressor {
 public:
  VectorCompressor(const Compression& compression, Eigen::Index length, bool unbiased);
  /// C(x). Random compressors draw from `random`.
  [[nodiscard]] Vector compress(const Vector& x, SplitMix64& random);
  /// Returns C(x + error_decay times the last loss) if the compression has error feedback, else C(x).
  [[nodiscard]] Vector compress_with_feedback(const Vector& x, SplitMix64& random);
  /// The share delta of the contraction, by the bound or, for sign and low rank, typically.
  [[nodiscard]] double contraction() const;

 private:
  [[nodiscard]] Vector quantize(const Vector& x) const;
  [[nodiscard]] Vector fp4(const Vector& x) const;
  [[nodiscard]] Vector qsgd(const Vector& x, SplitMix64& random) const;
  [[nodiscard]] Vector top_k(const Vector& x) const;
  [[nodiscard]] Vector dct_top_k(const Vector& x) const;
  [[nodiscard]] Vector largest(const Vector& x, Eigen::Index count) const;
  [[nodiscard]] Eigen::Index chunk() const { return compression_.chunk > 0 ? compression_.chunk : length_; }
  [[nodiscard]] Vector random_k(const Vector& x, SplitMix64& random) const;
  [[nodiscard]] Vector low_rank(const Vector& x);
  [[nodiscard]] Eigen::Index kept_of(Eigen::Index values) const;
  [[nodiscard]] double qsgd_variance() const;

  Compression compression_;
  Eigen::Index length_;
  bool unbiased_;
  Eigen::Index rows_, columns_;  ///< low-rank: the near-square matrix the vector is read as
  Matrix right_;                 ///< low-rank: Q of the step before
  Vector lost_;
};

/// The orthonormal DCT-II of `length` values as a matrix; its transpose undoes it.
[[nodiscard]] Matrix dct_matrix(Eigen::Index length);

}  // namespace orrery
