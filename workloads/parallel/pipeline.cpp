// Pipeline parallelism: ranks of neighbouring stages hand activations forward and their gradients backward.
// The ends of the pipeline add up the gradients of an embedding that both hold.
#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

constexpr std::array kNeighbourStreams{Stream::send_forward, Stream::recv_forward, Stream::send_backward,
                                       Stream::recv_backward};
constexpr std::array kTiedStreams{Stream::data};

std::uint32_t neighbour_slots(const CommunicatorSpec& spec) {
  return spec.grid.size(Axis::pipeline) > 1 ? std::uint32_t{kNeighbourStreams.size()} : 0;
}

/// Pairs along the pipeline; around its end as well when ranks hold several chunks in turn.
void form_neighbours(const CommunicatorSpec& spec, std::uint32_t first, GroupWriter& to) {
  const RankGrid& grid = spec.grid;
  const std::int64_t stages = grid.size(Axis::pipeline);
  const std::int64_t last = spec.pipeline_wraps ? stages : stages - 1;
  for (std::int64_t stage = 0; stage < last; ++stage) {
    grid.for_each_group({Axis::pipeline}, [&](RankCoordinates at) {
      at[Axis::pipeline] = stage;
      const std::uint32_t here = grid.rank(at);
      at[Axis::pipeline] = (stage + 1) % stages;
      const std::uint32_t next = grid.rank(at);
      to.add_pair(here, next, first, first + 1);
      to.add_pair(next, here, first + 2, first + 3);
    });
  }
}

std::uint32_t tied_slots(const CommunicatorSpec& spec) {
  return spec.tied && spec.grid.size(Axis::pipeline) > 1 ? 1 : 0;
}

void form_tied_embeddings(const CommunicatorSpec& spec, std::uint32_t slot, GroupWriter& to) {
  const RankGrid& grid = spec.grid;
  grid.for_each_group({Axis::pipeline}, [&](RankCoordinates at) {
    to.join(grid.rank(at), slot);
    at[Axis::pipeline] = grid.size(Axis::pipeline) - 1;
    to.join(grid.rank(at), slot);
    to.close();
  });
}

}  // namespace

constinit const CommunicatorKind kNeighbourStages{
    "pipeline", Dimension::pipeline, Slot::forward_out, kNeighbourStreams,
    false,      neighbour_slots,     form_neighbours};

constinit const CommunicatorKind kTiedEmbeddings{
    "tied embedding", Dimension::pipeline, Slot::embedding, kTiedStreams, false,
    tied_slots,       form_tied_embeddings};

}  // namespace orrery
