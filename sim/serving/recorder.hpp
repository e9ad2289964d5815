// Records the events of a serving run, up to a number of iterations and states.
#pragma once

#include <vector>

#include "orrery/iteration_batch.hpp"
#include "orrery/serving_record.hpp"
#include "sim/serving/served_request.hpp"

namespace orrery {

class ServingRecorder {
 public:
  /// @param record  to fill; null: nothing may be recorded
  ServingRecorder(ServingRecord* record, std::uint32_t stages);

  /// Sets the time of everything that is recorded from now on.
  void set_time(Picoseconds now) { now_ = now; }
  /// @param spans  of its stages
  void iteration(std::uint32_t replica, const IterationBatch& batch, const std::vector<StageSpan>& spans,
                 Picoseconds end);
  /// Records the state of a replica from now on.
  void state(const ReplicaState& state);
  void preempted(std::uint32_t request);
  /// Adds the requests when the run is over.
  void add_requests(const std::vector<ServedRequest>& requests);

 private:
  [[nodiscard]] bool is_full() const;

  ServingRecord* record_;
  Picoseconds now_ = 0;
  std::vector<std::size_t> last_;           ///< by replica: its last state, plus 1
  std::vector<std::uint32_t> preemptions_;  ///< by request, up to the last that was preempted
};

}  // namespace orrery
