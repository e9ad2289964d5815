// Completes a draft: facts of a launch become keys of an experiment, and defaults fill what no file says.
#pragma once

#include "config/catalog/catalog.hpp"
#include "importers/common/draft.hpp"

namespace orrery::importers {

/// Turns facts of launch::* into keys: the GPUs of the job into nodes, accumulation steps into a global
/// batch, a name into an entry of the catalog; and says what it assumed.
void combine(Draft& draft, const Catalog& catalog);

}  // namespace orrery::importers
