// Counts how often, and with how many bytes, a step gathers the weights of a stage and reduces their
// gradients: the traffic that ParameterGather and DataParallel write, without programs.
#pragma once

#include <cstdint>

#include "orrery/experiment.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

struct WeightTraffic {
  std::int64_t gathers = 0;     ///< of all parameters of a stage
  std::int64_t reductions = 0;  ///< of all gradients of a stage
  Bytes gathered = 0;           ///< payload: whole parameters, as often as they are gathered
  Bytes reduced = 0;

  [[nodiscard]] Bytes bytes() const { return gathered + reduced; }
};

/// Returns the traffic of one GPU in one step; empty if no rank has a copy. Chunks gathered in turn count as
/// one gather. An all-reduce keeps replicas alike.
[[nodiscard]] WeightTraffic weight_traffic(const Experiment& experiment, const Stage& stage);

}  // namespace orrery
