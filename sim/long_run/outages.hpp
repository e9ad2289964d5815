// Keeps track of nodes that are out of service: which replicas lack them, which spares take their place, and
// when they are back. Internal to sim/long_run/.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "sim/long_run/failure_stream.hpp"
#include "sim/long_run/run_model.hpp"

namespace orrery {

class Outages {
 public:
  explicit Outages(const RunModel& model);

  /// Takes the nodes of a failure out of service. What waits for them knows by wait_for_nodes() and lost().
  /// @param restore_ps  that a replica needs to come back, where the others go on
  void take_out(const FailureEvent& event, LongPicoseconds now, Picoseconds restore_ps);

  /// Returns true if no part of the run that goes on rests on the node of the failure.
  [[nodiscard]] bool is_away(const FailureEvent& event) const;

  /// Returns the time until more nodes are at hand if the run has too few to start; 0 if it has enough.
  /// Spares that are taken are gone.
  [[nodiscard]] LongPicoseconds wait_for_nodes(LongPicoseconds now);

  /// Replicas whose share of the work is not done, or is done by others.
  [[nodiscard]] std::int64_t lost() const { return lost_; }

  /// When the next of those is back.
  [[nodiscard]] LongPicoseconds next_return() const {
    return away_.empty() ? FailureStreams::kNever : away_.top().until;
  }
  /// Takes those back that are ready by now; true if there are some.
  bool take_back(LongPicoseconds now);

 private:
  struct Away {
    LongPicoseconds until = 0;
    std::vector<std::int64_t> parts;
    friend bool operator>(const Away& a, const Away& b) { return a.until > b.until; }
  };
  template <class T>
  using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;

  [[nodiscard]] std::vector<std::int64_t> nodes_of(const FailureEvent& event) const;
  [[nodiscard]] std::vector<std::int64_t> parts_of(std::int64_t node) const;
  [[nodiscard]] LongPicoseconds ready_at(const FailureEvent& event, LongPicoseconds now);
  void take_repaired(LongPicoseconds now);
  void count(const std::vector<std::int64_t>& parts, std::int64_t change);

  const RunModel& model_;
  std::int64_t hot_;
  std::int64_t cold_;
  std::int64_t missing_ = 0;            ///< nodes without which the run does not start
  LongPicoseconds starting_until_ = 0;  ///< cold spares that were taken
  Earliest<LongPicoseconds> repairs_;
  Earliest<Away> away_;
  std::vector<std::int64_t> outages_;  ///< by part
  std::int64_t lost_ = 0;
};

}  // namespace orrery
