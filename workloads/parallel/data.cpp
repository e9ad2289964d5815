// Data parallelism: all ranks that hold the same weights, those that share sequences included.
#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

constexpr std::array kReplicaStreams{Stream::data};

std::uint32_t replica_slots(const CommunicatorSpec& spec) {
  return spec.grid.size(Axis::context) * spec.grid.size(Axis::data) > 1 ? 1 : 0;
}

void form_replica_groups(const CommunicatorSpec& spec, std::uint32_t slot, GroupWriter& to) {
  to.add_along(spec.grid, {Axis::context, Axis::data}, slot);
}

}  // namespace

constinit const CommunicatorKind kReplicaGroups{"data", Dimension::data, Slot::data,         kReplicaStreams,
                                                false,  replica_slots,   form_replica_groups};

}  // namespace orrery
