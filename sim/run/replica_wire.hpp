// What replicas send each other to stay in step, and how wide it is.
#pragma once

#include <cstdint>

#include "orrery/experiment.hpp"

namespace orrery {

struct ReplicaWire {
  enum class Values : std::uint8_t { none, gradients, models };
  Values values = Values::none;
  Precision precision = Precision::fp32;  ///< uncompressed, on the way
};

[[nodiscard]] ReplicaWire replica_wire(const Experiment& experiment);

}  // namespace orrery
