// How often a step gathers the weights of a stage and reduces their gradients, and how much: what
// ParameterGather and DataParallel write, without programs.
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

/// Of one GPU in one step; nothing where nobody has a copy. Where chunks are gathered in turn, all of them
/// once are one. Replicas are kept alike by all-reduce.
[[nodiscard]] WeightTraffic weight_traffic(const Experiment& experiment, const Stage& stage);

}  // namespace orrery
