// The space that is searched where none is given.
#pragma once

#include <string>
#include <string_view>

#include "planner/methods/search.hpp"
#include "planner/space/space.hpp"

namespace orrery {

/// Degrees of all dimensions, micro-batches, chunks, recomputation, sharding and the place of replicas, of
/// what the experiment's model can have. `base` is read for its model.
[[nodiscard]] SpaceDescription usual_space(const BaseExperiment& base, const Catalog& catalog,
                                           const Menus& menus);

/// What a usual space leaves as it is, a sentence; "" where it is nothing.
[[nodiscard]] std::string not_varied(const Space& space);

/// What a search is for where nobody says: step_time_s; of what serves requests tokens_per_s_per_gpu, or
/// where they arrive at a rate, which all plans that keep up serve alike, end_to_end_s.
[[nodiscard]] std::string_view usual_objective(const Space& space);

/// Adds the limits of the experiment itself (`inference.slo`), which plans keep, but where the search is for
/// the most requests within them.
void add_own_limits(const Space& space, SearchRequest& request);

}  // namespace orrery
