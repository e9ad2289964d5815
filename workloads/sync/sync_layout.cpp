#include "workloads/sync/sync_layout.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "orrery/error.hpp"
#include "orrery/rank_layout.hpp"

namespace orrery {
namespace {

/// Entries of Workload::group_of; each may be a communicator of its own, of some 60 bytes.
constexpr std::int64_t kMostEntries = std::int64_t{1} << 25;

/// Largest number of workers that one sends to or receives from: a colour each at least.
std::size_t largest_degree(const Mixing& mixing) {
  std::vector<std::size_t> out(mixing.workers());
  std::size_t largest = 0;
  for (std::uint32_t to = 0; to < mixing.workers(); ++to) {
    largest = std::max(largest, mixing.neighbours(to).size());
    for (const std::uint32_t from : mixing.neighbours(to)) largest = std::max(largest, ++out[from]);
  }
  return largest;
}

/// Colours that a worker has used, a bit each.
class ColourSet {
 public:
  void take(std::size_t colour) {
    if (colour / 64 >= words_.size()) words_.resize(colour / 64 + 1, 0);
    words_[colour / 64] |= std::uint64_t{1} << (colour % 64);
  }
  /// The first colour in neither.
  static std::size_t first_free(const ColourSet& a, const ColourSet& b) {
    std::size_t w = 0;
    while (~(a.word(w) | b.word(w)) == 0) ++w;
    return 64 * w + static_cast<std::size_t>(std::countr_one(a.word(w) | b.word(w)));
  }

 private:
  [[nodiscard]] std::uint64_t word(std::size_t w) const { return w < words_.size() ? words_[w] : 0; }
  std::vector<std::uint64_t> words_;
};

/// Whether so many communicators of every rank are few enough.
void check_slots(std::int64_t slots, std::int64_t ranks) {
  constexpr std::int64_t kMostSlots = 0xffff;
  if (slots <= kMostSlots && slots * ranks <= kMostEntries) return;
  throw InputError("/data_parallel_sync/topology",
                   "found a graph with " + std::to_string((slots - kSlotCount) / 2) +
                       " neighbours over its rounds on " + std::to_string(ranks) + " GPUs, allowed are " +
                       std::to_string((std::min(kMostSlots, kMostEntries / ranks) - kSlotCount) / 2) +
                       "; the method parameter-server does what a star does");
}

/// Replicas d, d + 1, ... of the same stage and tensor rank that share the node of replica d.
std::uint32_t replicas_together(const Experiment& experiment) {
  const RankLayout layout(experiment.plan);
  const auto node = [&](std::int64_t d) {
    return layout.rank({0, 0, d}) / static_cast<std::uint32_t>(experiment.cluster.gpus_per_node);
  };
  std::uint32_t together = 1;
  while (together < experiment.plan.data_parallel && node(together) == node(0)) ++together;
  return together;
}

/// Whether blocks of `together` replicas lie in one node each, for every stage and tensor rank.
bool fills_nodes(const Experiment& experiment, std::uint32_t together) {
  const Plan& plan = experiment.plan;
  if (plan.data_parallel % together != 0) return false;
  const RankLayout layout(plan);
  const auto gpus = static_cast<std::uint32_t>(experiment.cluster.gpus_per_node);
  for (std::int64_t p = 0; p < plan.pipeline_parallel; ++p) {
    for (std::int64_t t = 0; t < plan.tensor_parallel; ++t) {
      for (std::int64_t d = 0; d < plan.data_parallel; ++d) {
        const std::int64_t first = d - d % together;
        if (layout.rank({t, p, d}) / gpus != layout.rank({t, p, first}) / gpus) return false;
      }
    }
  }
  return true;
}

}  // namespace

SyncWorkers sync_workers(const Experiment& experiment) {
  return workers_at(experiment.data_parallel_sync.by_node() ? SyncLevel::node : SyncLevel::gpu, experiment);
}

SyncWorkers workers_at(SyncLevel level, const Experiment& experiment) {
  SyncWorkers result;
  const auto replicas = static_cast<std::uint32_t>(experiment.plan.data_parallel);
  const std::uint32_t together = replicas_together(experiment);
  if (level == SyncLevel::gpu) {
    result.workers = replicas;
    result.workers_per_node = replicas % together == 0 ? together : 1;
    return result;
  }
  if (!fills_nodes(experiment, together)) {
    throw InputError("/data_parallel_sync/level",
                     "found \"node\", allowed only where each node holds equally many of the " +
                         std::to_string(replicas) + " replicas, side by side");
  }
  result.replicas_per_worker = together;
  result.workers = replicas / together;
  return result;
}

SyncLayout::SyncLayout(const Experiment& experiment, const GossipGraph& graph)
    : workers_(sync_workers(experiment)),
      workers_slot_(static_cast<std::uint16_t>(Slot::data)),
      sharding_slot_(workers_slot_) {
  std::int64_t slots = kSlotCount;  // before colours are counted, which takes long where there are many
  for (const Mixing& mixing : graph.rounds) slots += 2 * static_cast<std::int64_t>(largest_degree(mixing));
  if (!graph.empty()) check_slots(slots, experiment.plan.gpus());
  rounds_.resize(graph.rounds.size());
  for (std::size_t r = 0; r < rounds_.size(); ++r) colour(graph.rounds[r], rounds_[r]);
  number_slots(experiment.plan);
}

/// First fit. Lists that name the neighbours of all workers in one order get a colour per place.
void SyncLayout::colour(const Mixing& mixing, Round& round) const {
  std::vector<ColourSet> sends(mixing.workers());
  std::vector<ColourSet> receives(mixing.workers());
  for (std::uint32_t to = 0; to < mixing.workers(); ++to)
    round.in_degree = std::max(round.in_degree, static_cast<std::uint32_t>(mixing.neighbours(to).size()));
  for (std::uint32_t place = 0; place < round.in_degree; ++place) {
    for (std::uint32_t to = 0; to < mixing.workers(); ++to) {
      const auto neighbours = mixing.neighbours(to);
      if (place >= neighbours.size()) continue;
      const std::uint32_t from = neighbours[place];
      const std::size_t c = ColourSet::first_free(sends[from], receives[to]);
      if (c == round.colours.size()) round.colours.emplace_back();
      sends[from].take(c);
      receives[to].take(c);
      round.colours[c].push_back({from, to});
    }
  }
}

void SyncLayout::number_slots(const Plan& plan) {
  std::int64_t slots = kSlotCount;
  if (by_node()) {
    node_slot_ = static_cast<std::uint16_t>(slots++);
    workers_slot_ = static_cast<std::uint16_t>(slots++);
  }
  if (plan.shards_in_groups()) {
    sharding_slot_ = static_cast<std::uint16_t>(slots++);
    copies_slot_ = static_cast<std::uint16_t>(slots++);
  }
  std::size_t neighbours = 0;
  for (Round& round : rounds_) {
    round.first_slot = static_cast<std::uint32_t>(slots);
    slots += 2 * static_cast<std::int64_t>(round.colours.size());
    neighbours = std::max(neighbours, round.colours.size());
  }
  check_slots(slots, plan.gpus());
  slots_ = static_cast<std::uint32_t>(slots);
  streams_ = static_cast<std::uint32_t>(kStreamCount + 2 * neighbours);
}

ContentHash SyncLayout::content() const {
  ContentHash content = content_of(workers_.workers, workers_.replicas_per_worker, workers_.workers_per_node,
                                   slots_, streams_, node_slot_, workers_slot_, sharding_slot_, copies_slot_);
  for (const Round& round : rounds_) {
    append_content(content, round.first_slot);
    append_content(content, round.colours.size());
    for (const std::vector<Edge>& colour : round.colours) {
      append_content(content, colour.size());
      for (const Edge edge : colour) append_content(content, std::uint64_t{edge.from} << 32 | edge.to);
    }
  }
  return content;
}

}  // namespace orrery
