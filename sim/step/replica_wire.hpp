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
/// In what a step differs from that of the same experiment with an all-reduce, beside the method: one
/// sentence on widths and overlap; "" where in nothing, or where gradients travel.
[[nodiscard]] std::string unlike_all_reduce(const Experiment& experiment);

}  // namespace orrery
