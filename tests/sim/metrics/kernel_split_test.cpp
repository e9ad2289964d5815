#include "sim/metrics/kernel_split.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;

namespace {

std::size_t at(KernelClass kernel_class) { return static_cast<std::size_t>(kernel_class); }

KernelWeights weights(Picoseconds products, Picoseconds norm) {
  KernelWeights all{};
  all[at(KernelClass::dense_products)] = products;
  all[at(KernelClass::norm)] = norm;
  return all;
}

/// A mixture of experts that recomputes its norms, in two stages of two replicas.
Experiment mixture(const std::string& more) {
  return test::read(
      "model: mixtral-8x7b\ncluster: {base: dgx-h100, nodes: 2}\n"
      "plan: {tensor_parallel: 2, pipeline_parallel: 2, expert_parallel: 4, "
      "micro_batch_size: 1, global_batch_size: 64" +
      more + "}\n");
}

Report report_of(const Experiment& experiment, bool kernels = true) {
  Figures figures;
  figures.kernels = kernels;
  return simulate(experiment, figures);
}

Int128 sum_of(const KernelTimes& times) { return std::accumulate(times.begin(), times.end(), Int128{0}); }

}  // namespace

TEST_CASE(
    "an operation is split in the shares of its kernels, and what rounding leaves goes to the largest") {
  std::vector<Picoseconds> sums;
  const KernelSplit split(weights(3, 1));
  split.split(8, sums);  // 8 x 3/4 and 8 x 1/4
  CHECK(sums[at(KernelClass::dense_products)] == 6);
  CHECK(sums[at(KernelClass::norm)] == 2);
  split.split(7, sums);  // 5.25 and 1.75: 5 and 1, and 1 is left
  CHECK(sums[at(KernelClass::dense_products)] == 12);
  CHECK(sums[at(KernelClass::norm)] == 3);
  // A kernel that takes no time in an operation that does: all of it is of kernels that have no class.
  KernelSplit(KernelWeights{}).split(5, sums);
  CHECK(sums[at(KernelClass::other)] == 5);
}

TEST_CASE("kernels add up to compute to the picosecond, whatever is folded") {
  const Report folded = report_of(mixture(""));
  REQUIRE(folded.kernels_ps.has_value());
  CHECK(sum_of(*folded.kernels_ps) == folded.breakdown.compute_ps);
  CHECK((*folded.kernels_ps)[at(KernelClass::expert_products)] > 0);
  CHECK((*folded.kernels_ps)[at(KernelClass::permutation)] > 0);
  CHECK((*folded.kernels_ps)[at(KernelClass::recomputation)] == 0);
  Experiment every_rank = mixture("");
  every_rank.simulation.folding = Folding::off;
  CHECK(report_of(every_rank).kernels_ps == folded.kernels_ps);
}

TEST_CASE("recomputed kernels are a class of their own, and all else stays about as long") {
  const Report kept = report_of(mixture(""));
  const Report again = report_of(mixture(", recompute: full"));
  CHECK(sum_of(*again.kernels_ps) == again.breakdown.compute_ps);
  // But for what collectives take from compute beside them.
  const auto more = static_cast<double>(again.breakdown.compute_ps - kept.breakdown.compute_ps);
  const auto recomputed = static_cast<double>((*again.kernels_ps)[at(KernelClass::recomputation)]);
  CHECK(recomputed == doctest::Approx(more).epsilon(0.02));
}

TEST_CASE("kernels are told only where they are asked for") {
  CHECK_FALSE(report_of(mixture(""), false).kernels_ps.has_value());
}
