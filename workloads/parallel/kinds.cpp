#include "workloads/parallel/kinds.hpp"

namespace orrery {

std::span<const CommunicatorKind* const> communicator_kinds() { return kCommunicatorKinds; }

}  // namespace orrery
