// Quantised weights: what config.json and hf_quant_config.json say about them. They matter for serving alone.
#pragma once

#include "importers/common/importer.hpp"
#include "importers/models/config_keys.hpp"

namespace orrery::importers::models {

/// Reads quantization_config of a config.json: facts of launch that combine() takes where requests are
/// served.
void read_quantization(ConfigKeys& keys, Draft& draft);

extern const Importer kModelOpt;

}  // namespace orrery::importers::models
