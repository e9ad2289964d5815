// Splits the duration of a compute operation into its classes of kernels, exactly: the parts of each
// operation are whole picoseconds that add up to it, so sums over ranks, periods and steps add up too, folded
// or not.
#pragma once

#include <span>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/compute_cost.hpp"

namespace orrery {

/// Holds the shares of an operation. Whatever slows all of it slows its kernels alike.
class KernelSplit {
 public:
  KernelSplit() = default;
  explicit KernelSplit(const KernelWeights& weights);

  /// Adds the parts of `duration` to `sums`, by KernelClass. Each part is rounded down, and what is left goes
  /// to the largest.
  void split(Picoseconds duration, std::vector<Picoseconds>& sums) const;

 private:
  struct Share {
    std::size_t kernel_class = 0;
    Picoseconds weight = 0;
  };
  std::vector<Share> shares_;  ///< the largest first
  Picoseconds sum_ = 0;
};

/// Holds the shares of all operations of a workload.
struct WorkloadKernels {
  std::vector<KernelSplit> kernel_sequences;  ///< per Workload::kernel_sequences
  std::vector<KernelSplit> passes;            ///< per Workload::passes

  [[nodiscard]] const KernelSplit& of(const Op& op) const {
    return op.kind == Op::Kind::pass ? passes[op.work] : kernel_sequences[op.work];
  }
};
inline const WorkloadKernels kNoKernels{};

/// Shares are those of GPUs of class 0.
[[nodiscard]] WorkloadKernels workload_kernels(const Workload& workload, const Experiment& experiment);

}  // namespace orrery
