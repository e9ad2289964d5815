// Lists the kinds of recurrent layers, each in a file of its own. Inside workloads/models/ only.
#pragma once

#include "workloads/models/recurrence.hpp"

namespace orrery {

/// @param ranks  tensor ranks that share the layer
[[nodiscard]] Recurrence mamba2_recurrence(const Model& model, std::int64_t ranks);
[[nodiscard]] Recurrence gated_delta_net_recurrence(const Model& model, std::int64_t ranks);

}  // namespace orrery
