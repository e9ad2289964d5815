// The dotted keys of an experiment, from the field tables: what a column of a table may be called.
#pragma once

#include <string>
#include <vector>

namespace orrery {

/// Every key an experiment can have, such as plan.tensor_parallel; parts come before what is in them.
const std::vector<std::string>& experiment_keys();

}  // namespace orrery
