// Reads how models are served: commands of vLLM, SGLang and TensorRT-LLM and of their benchmarks, and files
// of their options.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::serving {

extern const Importer kServingCommands;
extern const Importer kVllmOptions;
extern const Importer kSglangOptions;
extern const Importer kTensorRtOptions;

}  // namespace orrery::importers::serving
