// Replicas that are kept in step by worker: those of each worker, and one of each worker together.
#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

constexpr std::array kWorkerStreams{Stream::data, Stream::data};

std::uint32_t worker_slots(const CommunicatorSpec& spec) { return spec.replicas_per_worker > 1 ? 2 : 0; }

void form_worker_groups(const CommunicatorSpec& spec, std::uint32_t first, GroupWriter& to) {
  const RankGrid& grid = spec.grid;
  const std::int64_t replicas = grid.size(Axis::data);
  const std::int64_t size = spec.replicas_per_worker;
  grid.for_each_group({Axis::data}, [&](RankCoordinates at) {
    const auto add_every = [&](std::int64_t begin, std::int64_t end, std::int64_t stride,
                               std::uint32_t slot) {
      for (at[Axis::data] = begin; at[Axis::data] < end; at[Axis::data] += stride)
        to.join(grid.rank(at), slot);
      to.close();
    };
    for (std::int64_t d = 0; d < replicas; d += size) add_every(d, d + size, 1, first);
    add_every(0, replicas, size, first + 1);
  });
  to.add_loners(first + 1);
}

}  // namespace

constinit const CommunicatorKind kWorkerGroups{"workers", Dimension::data, Slot::node,        kWorkerStreams,
                                               true,      worker_slots,    form_worker_groups};

}  // namespace orrery
