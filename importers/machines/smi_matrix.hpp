// The matrix of nvidia-smi topo -m: links between the GPUs of a node and how near its NICs are. It has no
// rates, and it does not say which GPUs they are.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::machines {

extern const Importer kSmiMatrix;

}  // namespace orrery::importers::machines
