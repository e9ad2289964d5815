// Finds the number of GPUs that a file is for, where nothing but a comment says it.
#pragma once

#include "importers/common/importer.hpp"

namespace orrery::importers::frameworks {

/// "a preset for 64 A100 GPUs", "assuming 96 GPUs": a default for the GPUs of the job, and for the cluster
/// where the comment names them.
void read_gpus_in_comments(const SourceFile& file, Draft& draft);

}  // namespace orrery::importers::frameworks
