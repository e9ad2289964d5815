// Reads YAML of arguments of Megatron-LM: model_config.yaml of its functional tests and of the MoE model zoo
// (MODEL_ARGS, ENV_VARS), and configurations of Primus (modules.pre_trainer.overrides).
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

extern const Importer kMegatronYaml;
extern const Importer kPrimus;

}  // namespace orrery::importers::frameworks
