// Logs of nccl-tests: GPUs by name, ranks by host, and the curve of one collective.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::machines {

extern const Importer kNcclTests;

}  // namespace orrery::importers::machines
