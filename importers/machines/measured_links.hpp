// Bandwidths and times of collectives that a log gives, as constants of links.
#pragma once

#include "config/catalog/catalog.hpp"
#include "importers/common/draft.hpp"

namespace orrery::importers::machines {

/// Turns facts of launch::kMeasured into the efficiency and the base latency of a node or a fabric.
void apply_measured_links(Draft& draft, const Catalog& catalog);

}  // namespace orrery::importers::machines
