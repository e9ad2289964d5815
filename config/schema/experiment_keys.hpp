// Lists the dotted keys of an experiment, from the field tables, for names of table columns.
#pragma once

#include <string>
#include <vector>

namespace orrery {

/// Returns every key of experiments, such as plan.tensor_parallel; objects come before their members.
const std::vector<std::string>& experiment_keys();

}  // namespace orrery
