// Builds the default space of a search.
#pragma once

#include <string>
#include <string_view>

#include "planner/methods/search.hpp"
#include "planner/space/space.hpp"

namespace orrery {

/// Returns the default space: degrees of all dimensions, micro-batches, chunks, recomputation, sharding and
/// the place of replicas, as the experiment's model allows. `base` is read for its model.
[[nodiscard]] SpaceDescription usual_space(const BaseExperiment& base, const Catalog& catalog,
                                           const Menus& menus);

/// Returns a sentence on the keys that a default space does not vary; "" if there are none.
[[nodiscard]] std::string not_varied(const Space& space);

/// Returns the default objective of a search: step_time_s; when requests are served tokens_per_s_per_gpu, or
/// end_to_end_s if they arrive at a rate, because all plans that keep up have equal throughput.
[[nodiscard]] std::string_view usual_objective(const Space& space);

/// Adds the limits of the experiment itself (`inference.slo`), which plans keep, but where the search is for
/// the most requests within them.
void add_own_limits(const Space& space, SearchRequest& request);

}  // namespace orrery
