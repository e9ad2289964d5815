// Reads scripts that launch a training: bash and sbatch, of Megatron-LM, Megatron-DeepSpeed and trainers of
// Hugging Face. They are read and never run.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

extern const Importer kLaunchScript;

}  // namespace orrery::importers::frameworks
