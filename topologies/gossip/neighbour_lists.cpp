// Graphs written out by the user.
#include <algorithm>

#include "orrery/error.hpp"
#include "topologies/gossip/wiring.hpp"

namespace orrery {
namespace {

constexpr const char* kPointer = "/data_parallel_sync/topology";

void check_list(const std::vector<std::int64_t>& list, std::size_t worker, std::int64_t workers) {
  const std::string pointer = std::string(kPointer) + "/" + std::to_string(worker);
  std::vector<std::int64_t> sorted = list;
  std::sort(sorted.begin(), sorted.end());
  for (const std::int64_t neighbour : sorted) {
    const std::string found = "found " + std::to_string(neighbour);
    if (neighbour < 0 || neighbour >= workers) {
      throw InputError(pointer, found + "; allowed are workers 0 to " + std::to_string(workers - 1));
    }
    if (neighbour == static_cast<std::int64_t>(worker)) {
      throw InputError(pointer, found + ", the worker itself; allowed are other workers");
    }
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw InputError(pointer, "found " + std::to_string(*twice) + " twice; allowed is each worker once");
  }
}

}  // namespace

Wiring wire_neighbour_lists(const DataParallelSync& sync, const GossipSize& size) {
  if (sync.neighbours.size() != size.workers) {
    throw InputError(kPointer, "found lists for " + std::to_string(sync.neighbours.size()) +
                                   " workers; allowed is one for each of " + std::to_string(size.workers));
  }
  RowWriter rows(size.workers);
  std::size_t edges = 0;
  for (std::size_t worker = 0; worker < sync.neighbours.size(); ++worker) {
    check_list(sync.neighbours[worker], worker, size.workers);
    edges += sync.neighbours[worker].size();
    check_edge_count(sync, size, static_cast<double>(edges));
    for (const std::int64_t neighbour : sync.neighbours[worker]) rows.add_new(neighbour);
    rows.end_row();
  }
  return one_round(rows.take());
}

}  // namespace orrery
