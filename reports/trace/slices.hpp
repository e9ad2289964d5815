// Walks through the slices of one thread of a trace, in order of time: those of steps and passes before the
// slices inside them.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/trace/plan.hpp"

namespace orrery {

struct TraceSlice {
  std::uint32_t rank = 0;
  std::uint32_t stream = 0;
  TraceLevel level = TraceLevel::operation;
  std::uint32_t op = 0;           ///< of the rank's program; the first of a pass or a step
  const PassOps* pass = nullptr;  ///< of TraceLevel::pass
  const StepOps* step = nullptr;  ///< of TraceLevel::step
  Span span{kNoTime, kNoTime};    ///< within the span of the outer slice
  /// Has the meaning of SourceSlice::apart.
  Span apart{kNoTime, kNoTime};

  [[nodiscard]] bool is_operation() const { return level == TraceLevel::operation; }
};

class SliceCursor {
 public:
  SliceCursor(const TracePlan& plan, std::uint32_t rank, std::uint32_t stream);

  /// Returns the current slice; its times are kNoTime after the last one.
  [[nodiscard]] const TraceSlice& slice() const { return slice_; }
  /// Makes the next slice the current one.
  void advance();

 private:
  void open_step();
  void open_pass();
  void open_operation();
  [[nodiscard]] Span span_of(const StepOps& step) const;
  /// Start of the next one of the list, within the same parent; kNoTime: there is none.
  [[nodiscard]] Nanoseconds next_pass_start() const;
  void set_spans(Span span, Nanoseconds limit, Nanoseconds next);

  const TracePlan& plan_;
  const std::vector<StepOps>* steps_;      // of the compute stream; nullptr: none
  const std::vector<PassOps>* passes_;     // likewise
  const std::vector<std::uint32_t>* ops_;  // nullptr: none at this level
  std::size_t next_step_ = 0, next_pass_ = 0, next_op_ = 0;
  Nanoseconds step_limit_ = kNoTime;  // latest end of slices in the current step
  Nanoseconds pass_limit_ = kNoTime;
  Span next_span_{kNoTime, kNoTime};  // of the next operation
  TraceSlice slice_;
};

/// Returns the arrow of an operation, if it is a message between two ranks of the trace and long enough for
/// both ends.
[[nodiscard]] Arrow arrow_of(const TracePlan& plan, const TraceSlice& slice);

}  // namespace orrery
