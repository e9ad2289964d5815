// Reads YAML of NeMo: Megatron-Bridge's ConfigContainer and overrides of it, files of the NeMo launcher
// (Hydra), and recipes of NeMo 2. Under their own parts stand names of Megatron Core.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

extern const Importer kNemo;

}  // namespace orrery::importers::frameworks
