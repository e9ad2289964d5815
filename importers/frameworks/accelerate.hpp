// Reads YAML of Hugging Face's accelerate: GPUs, and how FSDP or DeepSpeed shard.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

extern const Importer kAccelerate;

}  // namespace orrery::importers::frameworks
