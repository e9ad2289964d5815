// Turns a plan into its launch: the experiment as arguments or configuration of a training framework. Used by
// the command line and by planners; knows nothing of how plans are simulated or searched.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/menu.hpp"

namespace orrery {

/// A row of frameworks(); each has a file of its own.
struct Framework : MenuEntry {
  std::string_view file;                    ///< the usual name of the file
  std::string (*write)(const Experiment&);  ///< of a model that is a transformer
};

[[nodiscard]] std::span<const Framework> frameworks();
[[nodiscard]] std::vector<std::string> framework_names();

/// Returns model, plan and length of training as a configuration of `framework`: keys that it supports are
/// written as settings, each with the key that it comes from; every other key of model, plan and training
/// stands in a comment with the reason. Layers of stages and groups of ZeRO that are left to the simulator
/// have to be chosen before (with_resolved_plan). @throws InputError for an unknown framework, with the
/// nearest name, and for a model that is no transformer.
[[nodiscard]] std::string emit(std::string_view framework, const Experiment& experiment);

}  // namespace orrery
