// Simulates the pipeline stages of a replica: servers in a row, through which iterations go in order.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/inference.hpp"
#include "orrery/serving.hpp"
#include "orrery/serving_record.hpp"
#include "sim/serving/iteration.hpp"

namespace orrery {

class ServingPipeline {
 public:
  /// Refers to `cost`.
  ServingPipeline(IterationCost& cost, const Speculation& speculation);

  [[nodiscard]] std::uint32_t stages() const { return static_cast<std::uint32_t>(free_at_.size()); }
  /// Returns when the first stage can begin another iteration.
  [[nodiscard]] Picoseconds free_at() const { return free_at_.front(); }
  /// An iteration that begins then, not before free_at().
  /// @return when its tokens are chosen, and the next iteration of its requests may begin
  Picoseconds execute(Picoseconds start, const IterationBatch& batch);

  /// busy_ps() and host_ps so far, over all stages.
  [[nodiscard]] const ServingTimes& times() const { return times_; }
  /// Returns the time of stages by GPU activity, with the messages between stages that they waited for.
  [[nodiscard]] const ServingWork& work() const { return work_; }
  /// Returns the times at which the stages worked on the iteration that began last.
  [[nodiscard]] const std::vector<StageSpan>& spans() const { return spans_; }

 private:
  [[nodiscard]] Picoseconds stage_ps(std::uint32_t stage, const IterationBatch& batch);
  [[nodiscard]] Picoseconds drafts_ps(std::uint32_t stage, const IterationBatch& batch);

  IterationCost& cost_;
  Speculation speculation_;
  std::vector<Picoseconds> free_at_;  ///< by stage
  std::vector<StageSpan> spans_;      ///< likewise
  ServingTimes times_;
  ServingWork work_;
};

}  // namespace orrery
