// Reads the section `post_training` itself, without the experiments of its roles. Internal to config/.
#pragma once

#include "config/schema/read_fields.hpp"
#include "orrery/experiment.hpp"
#include "orrery/post_training.hpp"

namespace orrery {

/// @param whole  the experiment's model and cluster
PostTraining read_post_training_section(const Json& value, const Experiment& whole, const Path& path,
                                        Scope& scope);

}  // namespace orrery
