#include "topologies/gossip/wiring.hpp"

#include <algorithm>
#include <bit>

#include "orrery/error.hpp"

namespace orrery {

Wiring one_round(Mixing round) {
  Wiring wiring;
  wiring.rounds.push_back(std::move(round));
  return wiring;
}

void RowWriter::add(std::int64_t neighbour) {
  const auto worker = static_cast<std::int64_t>(round_.begin.size()) - 1;
  if (neighbour == worker) return;
  const auto row = round_.from.begin() + round_.begin.back();
  const auto value = static_cast<std::uint32_t>(neighbour);
  if (std::find(row, round_.from.end(), value) == round_.from.end()) add_new(neighbour);
}

void RowWriter::add_new(std::int64_t neighbour, double weight) {
  add_new(neighbour);
  round_.weight.push_back(weight);
}

void RowWriter::end_row(double self) {
  round_.self.push_back(self);
  end_row();
}

Mixing shift_round(std::uint32_t workers, std::span<const std::int64_t> shifts) {
  RowWriter rows(workers);
  const std::int64_t n = workers;
  for (std::int64_t worker = 0; worker < n; ++worker) {
    for (const std::int64_t shift : shifts) rows.add(((worker - shift) % n + n) % n);
    rows.end_row();
  }
  return rows.take();
}

Mixing bit_round(std::uint32_t workers, int first, int last) {
  RowWriter rows(workers);
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    for (int bit = first; bit < last; ++bit) rows.add(worker ^ (std::int64_t{1} << bit));
    rows.end_row();
  }
  return rows.take();
}

int log2_floor(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
}

void check_edge_count(const DataParallelSync& sync, const GossipSize& size, double edges) {
  if (edges <= static_cast<double>(kMaxGossipEdges)) return;
  throw InputError("/data_parallel_sync/topology",
                   "found \"" + sync.topology + "\" over " + std::to_string(size.workers) +
                       " workers, with " + std::to_string(static_cast<std::int64_t>(edges)) +
                       " edges; allowed are at most " + std::to_string(kMaxGossipEdges));
}

}  // namespace orrery
