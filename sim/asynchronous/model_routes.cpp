#include "sim/asynchronous/model_routes.hpp"

#include <algorithm>
#include <array>

#include "sim/cost/compute_cost.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/cost/rank_speeds.hpp"

namespace orrery {
namespace {

std::vector<std::uint32_t> ranks_of_worker(const RankGrid& grid, std::int64_t worker) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) {
    if (grid.place(rank, Axis::data) == worker) ranks.push_back(rank);
  }
  return ranks;
}

std::size_t stage_of(const RankGrid& grid, std::uint32_t rank) {
  return static_cast<std::size_t>(grid.place(rank, Axis::pipeline));
}

}  // namespace

ModelRoutes::ModelRoutes(const Experiment& experiment, const Topology& topology,
                         const std::vector<Bytes>& bytes)
    : grid_(experiment.plan),
      ranks_(ranks_of_worker(grid_, 0)),
      pricer_(topology, experiment.plan.collectives),
      adjusts_(experiment.software.split_node_efficiency) {
  for (const std::uint32_t rank : ranks_) {
    Message message{Collective::send_recv, bytes[stage_of(grid_, rank)], Dimension::data};
    if (experiment.training.data == DataInput::loaded)
      message.wait_ps = from_microseconds(experiment.software.exchange_wait_ms * 1e3);
    messages_.push_back(message);
  }
}

const ModelRoutes::Way& ModelRoutes::way(std::uint32_t from, std::uint32_t to) {
  auto& known = ways_[std::uint64_t{from} << 32 | to];
  if (known == nullptr) known = std::make_unique<const Way>(make(from, to));
  return *known;
}

ModelRoutes::Way ModelRoutes::make(std::uint32_t from, std::uint32_t to) {
  Way way;
  if (from == to) return way;
  const auto stride = static_cast<std::uint32_t>(grid_.stride(Axis::data));
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const std::array pair{ranks_[i] + from * stride, ranks_[i] + to * stride};
    RankMessage& one = way.emplace_back();
    pricer_.price(messages_[i], pair, one.price);
    adjusts_.adjust(messages_[i], false, one.price);
    one.bytes = messages_[i].bytes;
  }
  return way;
}

std::vector<Picoseconds> kernel_times(const Experiment& experiment, const std::vector<std::int64_t>& values,
                                      Bytes bytes_each) {
  Experiment steady = experiment;
  steady.software.jitter = 0;
  Workload kernels;
  for (const std::int64_t some : values) {
    Kernel kernel;
    kernel.kind = Kernel::Kind::memory;
    kernel.bytes = some * bytes_each;
    kernels.kernel_sequences.push_back({{kernel}});
  }
  RankSpeeds speeds(steady);
  if (experiment.cluster.gpu_classes() > 1)
    speeds.set_prices(price_kernel_sequences_by_class(kernels, steady));
  const std::vector<ComputePrice> prices = price_kernel_sequences(kernels, steady);
  const RankGrid grid(experiment.plan);
  std::vector<Picoseconds> times(static_cast<std::size_t>(grid.size(Axis::data)), 0);
  for (std::uint32_t rank = 0; bytes_each > 0 && rank < grid.ranks(); ++rank) {
    const std::size_t stage = stage_of(grid, rank);
    Picoseconds& most = times[static_cast<std::size_t>(grid.place(rank, Axis::data))];
    most = std::max(most,
                    speeds.duration(static_cast<std::uint32_t>(stage), prices[stage].duration_ps, rank, 0));
  }
  return times;
}

}  // namespace orrery
