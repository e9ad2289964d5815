// Fills in what files of machines leave open: wiring and rates of links as a cluster of the catalog has them,
// constants of calibrations; and says what is missing.
#pragma once

#include "config/catalog/catalog.hpp"
#include "importers/common/draft.hpp"

namespace orrery::importers::machines {

/// Returns true if a file describes a node or a fabric.
[[nodiscard]] bool describes_machine(const Draft& draft);

/// Chooses the GPUs of a node where no file gives them.
void choose_gpus_of_node(Draft& draft, const Catalog& catalog);

/// Completes the cluster of the draft. Called when nodes and GPUs of a node are known.
void complete_machine(Draft& draft, const Catalog& catalog);

}  // namespace orrery::importers::machines
