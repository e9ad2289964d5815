// GPUs that only meet in the fabric.
#include "topologies/nodes/builders.hpp"

namespace orrery {

std::unique_ptr<NodeWiringModel> build_unwired_node(const NodeSite&) { return nullptr; }

}  // namespace orrery
