// Draws the failures of a run in order of time, seeded and the same to the bit everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "sim/long_run/run_model.hpp"
#include "sim/serving/random_stream.hpp"

namespace orrery {

struct FailureEvent {
  LongPicoseconds at = 0;
  std::size_t kind = 0;
  std::int64_t node = 0;
  LongPicoseconds repair_ps = 0;
};

/// The failures of one kind. Those of components that fail without memory, or of the kind as a whole, follow
/// each other by gaps; components that age fail in order of their cumulative hazard (Renyi 1953), and each
/// that failed is replaced by a new one.
class FailureStream {
 public:
  /// @param number  of the kind in the model
  FailureStream(const FailureKind& kind, std::size_t number, std::uint64_t seed, std::uint64_t stream);
  /// Returns the time of the next failure.
  [[nodiscard]] LongPicoseconds next() const { return next_; }
  void advance();
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  void advance_aging();
  [[nodiscard]] double lifetime_of_hazard(double hazard) const;

  const FailureKind& kind_;
  std::size_t number_;
  RandomStream random_;
  LongPicoseconds next_ = 0;
  // Components that age need more:
  double scale_ = 0;             ///< of the Weibull distribution, ps
  double hazard_ = 0;            ///< cumulative, of the latest first failure
  std::int64_t first_left_ = 0;  ///< components that have not failed yet
  double population_ = 0;        ///< when the next of those fails, ps
  std::priority_queue<double, std::vector<double>, std::greater<>> replaced_;
};

/// All failures of a repetition, those of the trace among them.
class FailureStreams {
 public:
  FailureStreams(const RunModel& model, std::uint64_t seed, std::uint64_t repetition);
  /// Returns the time of the next failure; kNever where there is none.
  [[nodiscard]] LongPicoseconds next() const { return next_; }
  /// Returns the kind of it; requires next() < kNever, as take() does.
  [[nodiscard]] std::size_t next_kind() const {
    return which_ == streams_.size() ? model_.trace[traced_].kind : streams_[which_].number();
  }
  /// Returns the next failure and goes on to the one behind it; requires next() < kNever.
  FailureEvent take();

  static constexpr LongPicoseconds kNever = LongPicoseconds{1} << 120;

 private:
  void find_next();

  const RunModel& model_;
  RandomStream nodes_;
  std::vector<FailureStream> streams_;
  std::size_t traced_ = 0;
  std::size_t which_ = 0;  ///< stream of the next failure; streams_.size(): the trace
  LongPicoseconds next_ = kNever;
};

/// Gamma function of 1 <= x <= 200 by Lanczos' approximation, from basic operations alone.
[[nodiscard]] double portable_gamma(double x);

}  // namespace orrery
