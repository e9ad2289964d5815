// Writes the offload of optimizer states to host memory (Ren et al. 2021, "ZeRO-Offload"): gradients go there
// over its link, the host updates, parameters come back; bucket by bucket, so that the three overlap. Used by
// DataParallel.
#pragma once

#include <cstdint>

#include "orrery/experiment.hpp"
#include "workloads/programs/program_writer.hpp"

namespace orrery {

class OptimizerOffload {
 public:
  /// `owned`: parameters that the rank updates. Adds their work to `workload`.
  OptimizerOffload(const Experiment& experiment, std::int64_t owned, Workload& workload,
                   ProgramWriter& writer);

  [[nodiscard]] std::int64_t parameters() const { return parameters_; }
  /// Updates them after `ready`; the last operation, which waits for `beside` too.
  OpId update(std::int32_t step, std::initializer_list<OpId> ready, OpId beside);

 private:
  /// Holds the indices of the kernels and copies for one bucket.
  struct Work {
    std::uint32_t out = 0;
    std::uint32_t update = 0;
    std::uint32_t in = 0;
  };
  [[nodiscard]] Work work_of(const Experiment& experiment, std::int64_t parameters, Workload& workload) const;
  OpId run(const Work& work, std::int32_t step, std::initializer_list<OpId> ready, OpId beside);

  ProgramWriter& writer_;
  std::int64_t parameters_;
  std::int64_t buckets_ = 0;  ///< whole ones
  bool rest_ = false;         ///< and part of one
  Work whole_work_;
  Work rest_work_;
};

}  // namespace orrery
