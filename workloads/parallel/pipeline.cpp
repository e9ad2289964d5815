// Pipeline parallelism: ranks of neighbouring stages hand activations forward and their gradients backward.
// The ends of the pipeline add up the gradients of an embedding that both hold.
#include "workloads/parallel/kinds.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

constexpr std::array kNeighbourStreams{Stream::send_forward, Stream::recv_forward, Stream::send_backward,
                                       Stream::recv_backward};
constexpr std::array kReverseStreams{Stream::reverse_send_forward, Stream::reverse_recv_forward,
                                     Stream::reverse_send_backward, Stream::reverse_recv_backward};
constexpr std::array kTiedStreams{Stream::data};

std::uint32_t neighbour_slots(const CommunicatorSpec& spec) {
  return spec.grid.size(Axis::pipeline) > 1 ? std::uint32_t{kNeighbourStreams.size()} : 0;
}

std::uint32_t reverse_slots(const CommunicatorSpec& spec) {
  return spec.pipeline_reverses ? neighbour_slots(spec) : 0;
}

/// Adds pairs of `count` ranks, from the first one on, with those behind them.
template <class AddPairs>
void for_neighbours(const RankGrid& grid, std::int64_t count, const AddPairs& add) {
  const std::int64_t stages = grid.size(Axis::pipeline);
  for (std::int64_t stage = 0; stage < count; ++stage) {
    grid.for_each_group({Axis::pipeline}, [&](RankCoordinates at) {
      at[Axis::pipeline] = stage;
      const std::uint32_t here = grid.rank(at);
      at[Axis::pipeline] = (stage + 1) % stages;
      add(here, grid.rank(at));
    });
  }
}

/// Pairs along the pipeline; around its end as well when ranks hold several chunks in turn.
void form_neighbours(const CommunicatorSpec& spec, std::uint32_t first, GroupWriter& to) {
  const std::int64_t stages = spec.grid.size(Axis::pipeline);
  for_neighbours(spec.grid, spec.pipeline_wraps ? stages : stages - 1,
                 [&](std::uint32_t here, std::uint32_t next) {
                   to.add_pair(here, next, first, first + 1);
                   to.add_pair(next, here, first + 2, first + 3);
                 });
}

/// Forms the groups of chunks that send activations to the previous rank.
void form_reverse_neighbours(const CommunicatorSpec& spec, std::uint32_t first, GroupWriter& to) {
  for_neighbours(spec.grid, spec.grid.size(Axis::pipeline) - 1, [&](std::uint32_t here, std::uint32_t next) {
    to.add_pair(next, here, first, first + 1);
    to.add_pair(here, next, first + 2, first + 3);
  });
}

std::uint32_t tied_slots(const CommunicatorSpec& spec) { return spec.tied.empty() ? 0 : 1; }

void form_tied_embeddings(const CommunicatorSpec& spec, std::uint32_t slot, GroupWriter& to) {
  const RankGrid& grid = spec.grid;
  grid.for_each_group({Axis::pipeline}, [&](RankCoordinates at) {
    for (const std::int64_t stage : spec.tied) {
      at[Axis::pipeline] = stage;
      to.join(grid.rank(at), slot);
    }
    to.close();
  });
}

/// The rank of a bridge between encoder and decoder is known where chunks lie in turn on the ranks.
void check_encoder(const Experiment& e, const ReportProblem& complain) {
  if (e.model.encoder_layers == 0 || chunk_map(e.plan).placement == ChunkPlacement::wraps_around) return;
  complain({"pipeline_schedule"}, "found \"" + e.plan.pipeline_schedule +
                                      "\" with encoder_layers, allowed schedules whose chunks lie in turn on "
                                      "the ranks");
}

}  // namespace

constinit const CommunicatorKind kNeighbourStages{
    "pipeline", Dimension::pipeline, Slot::forward_out, kNeighbourStreams,
    false,      neighbour_slots,     form_neighbours};

constinit const CommunicatorKind kReverseNeighbourStages{"pipeline against the order of ranks",
                                                         Dimension::pipeline,
                                                         Slot::reverse_forward_out,
                                                         kReverseStreams,
                                                         false,
                                                         reverse_slots,
                                                         form_reverse_neighbours};

constinit const CommunicatorKind kTiedEmbeddings{
    "tied embedding", Dimension::pipeline,  Slot::embedding, kTiedStreams, false,
    tied_slots,       form_tied_embeddings, nullptr,         check_encoder};

}  // namespace orrery
