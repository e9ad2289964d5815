// The space that is searched where none is given.
#pragma once

#include "planner/space/space.hpp"

namespace orrery {

/// Degrees of all dimensions, micro-batches, chunks, recomputation, sharding and the place of replicas, of
/// what the experiment's model can have. `base` is read for its model.
[[nodiscard]] SpaceDescription usual_space(const BaseExperiment& base, const Catalog& catalog,
                                           const Menus& menus);

}  // namespace orrery
