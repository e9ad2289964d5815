// Reads launches of verl: scripts with overrides of Hydra, and its configuration as YAML. Names are those of
// verl 0.3 to 0.6 with its recipes one_step_off_policy and fully_async_policy.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

extern const Importer kVerl;

}  // namespace orrery::importers::frameworks
