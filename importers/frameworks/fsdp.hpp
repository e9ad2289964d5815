// PyTorch's FSDP as several frameworks configure it: sharding strategies, offloading, checkpointing.
#pragma once

#include <string>

#include "importers/frameworks/arguments.hpp"

namespace orrery::importers::frameworks {

/// Reads keys that begin with `part`: sharding_strategy, reshard_after_forward, offload_params and so on.
void read_fsdp_config(LaunchArguments& all, const std::string& part);

}  // namespace orrery::importers::frameworks
