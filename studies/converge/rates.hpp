// Computes the steps that a method needs: its rate of convergence for smooth non-convex problems, from the
// literature. After T steps the squared norm of the gradient, averaged over the steps, is at most of the
// order of
//
//   error(T) = statistical / sqrt(T) + slow / T^(2/3) + (1 + fast) / T
//
// in units in which smoothness times the initial distance from the optimum is 1. Parallel SGD has slow = fast
// = 0. Knows no time; the caller that simulates a step multiplies. Orders of magnitude with all constants 1:
// good for comparing methods, topologies and periods, not for predicting a training run.
#pragma once

#include <optional>
#include <string_view>

#include "orrery/data_parallel_sync.hpp"

namespace orrery {

/// Holds the numbers beside the method that its rate depends on.
struct RateSetting {
  double workers = 1;  ///< n
  double noise = 1;    ///< sigma: standard deviation of one worker's stochastic gradient
  double heterogeneity =
      0;  ///< b: root mean square distance of the workers' gradients from their mean; 0: iid
  std::optional<double> gap;  ///< of gossip methods, per step: 1 - beta; none where it is not known
  double smaller_side = 1;    ///< of the matrices that low-rank compression works on
};

struct Rate {
  double statistical = 0;  ///< sigma / sqrt(n)
  double slow = 0;
  double fast = 0;

  [[nodiscard]] double error_after(double iterations) const;
  /// The least whole number of steps, at least 1, after which the error is at most `target` (above 0).
  [[nodiscard]] double iterations(double target) const;
  /// Steps until the statistical term is as large as any other that parallel SGD has not: from there on
  /// n workers need 1/n of the steps of one (linear speed-up). 0 for parallel SGD.
  [[nodiscard]] double transient_iterations() const;
  /// Returns true if `target` is reached after the transient.
  [[nodiscard]] bool has_linear_speed_up(double target) const;
};

/// Returns the rate of `sync` from the literature; nullopt where it gives no guarantee: replicas that never
/// communicate, a gap that is not known or not above 0, biased compression without error feedback.
[[nodiscard]] std::optional<Rate> rate_of(const DataParallelSync& sync, const RateSetting& setting);

/// Returns why the literature has no rate of the method for smooth non-convex problems, whatever its keys; ""
/// if it has one.
[[nodiscard]] std::string_view reason_for_no_rate(SyncMethod method);

/// Constants of a compressor C: unbiased with E||C(x) - x||^2 <= omega ||x||^2, or contractive with
/// E||C(x) - x||^2 <= (1 - delta) ||x||^2.
struct CompressorConstants {
  bool unbiased = true;
  double omega = 0;  ///< of an unbiased one
  double delta = 1;  ///< of a contractive one
};
[[nodiscard]] CompressorConstants compressor_constants(const Compression& compression, double smaller_side);

/// The gap to put into the rate of a graph with several rounds that averages exactly after `period` of them:
/// the order of the static exponential graph, 2 / (1 + period), in place of that of a product which is
/// exactly 0 (Ying et al. 2021, "Exponential graph is provably efficient for decentralized deep training":
/// one-peer and static exponential graphs have the same rate).
[[nodiscard]] double gap_of_exact_period(double period);

}  // namespace orrery
