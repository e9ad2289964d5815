// Describes the messages that keep replicas in step, and the width of their values.
#pragma once

#include <cstdint>
#include <string>

#include "orrery/experiment.hpp"

namespace orrery {

struct ReplicaWire {
  enum class Values : std::uint8_t { none, gradients, models };
  Values values = Values::none;
  Precision precision = Precision::fp32;  ///< uncompressed, on the way
};

[[nodiscard]] ReplicaWire replica_wire(const Experiment& experiment);
/// Returns true if replicas communicate while other work goes on: gradients beside the backward pass, models
/// by bucket, by layer or while the next step computes.
[[nodiscard]] bool overlaps_replicas(const Experiment& experiment);
/// Describes the differences, beside the method, between a step and that of the same experiment with an
/// all-reduce: one sentence on widths and overlap; "" if there are none, or if gradients travel.
[[nodiscard]] std::string unlike_all_reduce(const Experiment& experiment);

}  // namespace orrery
