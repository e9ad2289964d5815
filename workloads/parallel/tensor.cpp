// Forms tensor groups: ranks that share every matrix (Shoeybi et al. 2019). The model family decides their
// messages in the steps of its blocks.
#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

constexpr std::array kTensorStreams{Stream::tensor};

std::uint32_t tensor_slots(const CommunicatorSpec& spec) {
  return spec.grid.size(Axis::tensor) > 1 || spec.tensor_passes ? 1 : 0;
}

void form_tensor_groups(const CommunicatorSpec& spec, std::uint32_t slot, GroupWriter& to) {
  to.add_along(spec.grid, {Axis::tensor}, slot);
}

}  // namespace

constinit const CommunicatorKind kTensorGroups{"tensor", Dimension::tensor, Slot::tensor,      kTensorStreams,
                                               false,    tensor_slots,      form_tensor_groups};

}  // namespace orrery
