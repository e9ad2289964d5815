// Orders the ends of steps of asynchronous workers, and picks their partners then. Internal to
// studies/converge/.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "orrery/gossip_graph.hpp"

namespace orrery {

struct StepEnd {
  double time = 0;  ///< in steps of the slowest worker
  std::uint32_t worker = 0;
  std::int64_t step = 1;  ///< of the worker's own, from 1
};

/// Worker i ends its k-th step at k times the slowest worker's speed over its own; those at equal times end
/// in order of workers.
class StepEnds {
 public:
  /// `speeds` of the workers, above 0 and in any unit; fewer than `workers` repeat, none are all alike.
  StepEnds(const std::vector<double>& speeds, std::uint32_t workers);
  /// Returns true if the next step ends at `time` or before.
  [[nodiscard]] bool ends_by(double time) const { return waiting_.top().time <= time; }
  StepEnd next();

 private:
  struct Later {
    bool operator()(const StepEnd& a, const StepEnd& b) const {
      return a.time != b.time ? a.time > b.time : a.worker > b.worker;
    }
  };
  std::vector<double> periods_;  ///< steps of the slowest worker that each one's takes
  std::priority_queue<StepEnd, std::vector<StepEnd>, Later> waiting_;
};

/// Returns the worker that `end`'s worker averages with at the end of a step of its own: one of its
/// neighbours in the round of that step, each equally likely, by the seed; the worker itself if it has none.
[[nodiscard]] std::uint32_t partner_of(const StepEnd& end, const GossipGraph& graph, std::int64_t seed);

}  // namespace orrery
