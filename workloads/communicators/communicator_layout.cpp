#include "workloads/communicators/communicator_layout.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <string>

#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "workloads/communicators/batch_classes.hpp"
#include "workloads/communicators/expert_load.hpp"
#include "workloads/schedules/schedules.hpp"

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

/// Throws if the ranks need more communicators, beside those of gossip graphs, than Slot can number.
void check_slots(std::int64_t slots, std::int64_t ranks) {
  constexpr std::int64_t kOthers = kSlotCount - 1;
  constexpr std::int64_t kMostSlots = 0xffff - kOthers;
  const std::int64_t allowed = std::min(kMostSlots, kMostEntries / ranks - kOthers);
  if (slots <= allowed) return;
  throw InputError("/data_parallel_sync/topology",
                   "found a graph with " + std::to_string(slots / 2) + " neighbours over its rounds on " +
                       std::to_string(ranks) + " GPUs, allowed are " + std::to_string(allowed / 2) +
                       "; the method parameter-server does what a star does");
}

/// The node of a rank, or its site.
class Homes {
 public:
  Homes(SyncLevel level, const Cluster& cluster) : by_site_(level == SyncLevel::site), cluster_(cluster) {}
  [[nodiscard]] std::int64_t of(std::uint32_t rank) const {
    const std::int64_t node = rank / cluster_.gpus_per_node;
    return by_site_ ? static_cast<std::int64_t>(cluster_.site_of_node(node)) : node;
  }

 private:
  bool by_site_;
  const Cluster& cluster_;
};

/// Replicas 0, 1, ... of the same place on the other axes that share the home of replica 0.
std::uint32_t replicas_together(const Experiment& experiment, const Homes& homes) {
  const RankGrid grid(experiment.plan);
  std::uint32_t together = 1;
  while (together < experiment.plan.data_parallel &&
         homes.of(grid.rank({{Axis::data, together}})) == homes.of(0))
    ++together;
  return together;
}

/// Returns true if every block of `together` replicas lies in one home, at each index of the other axes.
bool fills_homes(const Experiment& experiment, const Homes& homes, std::uint32_t together) {
  const Plan& plan = experiment.plan;
  if (plan.data_parallel % together != 0) return false;
  const RankGrid grid(plan);
  const auto stride = static_cast<std::uint32_t>(grid.stride(Axis::data));
  for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) {
    const std::int64_t from_first = grid.place(rank, Axis::data) % together;
    if (homes.of(rank) != homes.of(rank - static_cast<std::uint32_t>(from_first) * stride)) return false;
  }
  return true;
}

/// Pipeline ranks that add up the gradients of one embedding; none where one rank has all of it.
std::vector<std::int64_t> tied_ranks(const Experiment& experiment, const ChunkMap& map) {
  const Model& model = experiment.model;
  if (!model.attends() || !model.embeds_again() || model.lora_rank > 0 || map.ends_meet()) return {};
  std::set<std::int64_t> ranks{map.place(0, 0).rank};
  if (model.tied_embeddings || model.multi_token_prediction > 0)
    ranks.insert(map.place(map.virtual_stages() - 1, 0).rank);
  std::int64_t layers = 0;  // up to the stage
  std::int64_t stage = -1;
  for (const std::int64_t some : layers_per_virtual_stage(experiment.plan, model.all_layers())) {
    layers += some;
    ++stage;
    if (model.encoder_layers == 0 || layers <= model.encoder_layers) continue;
    ranks.insert(map.place(stage, 0).rank);
    break;
  }
  if (ranks.size() == 1) return {};
  return {ranks.begin(), ranks.end()};
}

CommunicatorSpec spec_of(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  CommunicatorSpec spec(plan);
  spec.context_inner = plan.hierarchical_context_parallel_size;
  spec.tensor_passes = has_fused_passes(experiment);
  const ChunkMap map = chunk_map(plan);
  spec.pipeline_wraps = map.placement == ChunkPlacement::wraps_around && map.chunks > 1;
  spec.pipeline_reverses = map.placement != ChunkPlacement::wraps_around;
  spec.mirrored = map.copies() > 1;
  spec.tied = tied_ranks(experiment, map);
  spec.experts.present = experiment.model.experts > 0;
  if (plan.dispatcher != Dispatcher::all_to_all)
    spec.experts.ranks_in_node = expert_ranks_in_node(experiment);
  if (plan.shards_in_groups()) spec.sharding_ranks = plan.sharding_ranks();
  spec.class_of_replica = batch_classes(plan).of_replica;
  return spec;
}

/// Returns true if the ranks of a tensor group receive over different routes, and so at different times.
bool differs_in_groups(const Experiment& experiment) {
  const Cluster& cluster = experiment.cluster;
  const std::int64_t span = RankGrid(experiment.plan).span(Axis::tensor);
  const auto divides = [span](std::int64_t gpus) { return gpus % span == 0 || span % gpus == 0; };
  const bool even = divides(cluster.gpus_per_node) && divides(cluster.gpus_per_domain());
  return experiment.plan.tensor_parallel > 1 && (cluster.graph || !even);
}

}  // namespace

SyncWorkers sync_workers(const Experiment& experiment) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  return workers_at(sync.joins_replicas() ? sync.level : SyncLevel::gpu, experiment);
}

SyncWorkers workers_at(SyncLevel level, const Experiment& experiment) {
  SyncWorkers result;
  const auto replicas = static_cast<std::uint32_t>(experiment.plan.data_parallel);
  const Homes homes(level, experiment.cluster);
  const std::uint32_t together = replicas_together(experiment, homes);
  if (level == SyncLevel::gpu) {
    result.workers = replicas;
    result.workers_per_node = replicas % together == 0 ? together : 1;
    return result;
  }
  const std::string name(kSyncLevelNames[static_cast<std::size_t>(level)]);
  if (level == SyncLevel::site && !experiment.cluster.regions)
    throw InputError("/data_parallel_sync/level", "found \"site\", allowed only with cluster.regions");
  if (!fills_homes(experiment, homes, together)) {
    throw InputError("/data_parallel_sync/level", "found \"" + name + "\", allowed only where each " + name +
                                                      " holds equally many of the " +
                                                      std::to_string(replicas) + " replicas, side by side");
  }
  result.replicas_per_worker = together;
  result.workers = replicas / together;
  return result;
}

CommunicatorLayout::CommunicatorLayout(const Experiment& experiment, const GossipGraph& graph)
    : workers_(sync_workers(experiment)), spec_(spec_of(experiment)) {
  spec_.replicas_per_worker = workers_.replicas_per_worker;
  if (experiment.plan.zero_stage > 0 && joins_replicas())
    spec_.exchanging_replicas = workers_.replicas_per_worker;
  std::int64_t slots = 0;  // before colours are counted, which takes long where there are many
  for (const Mixing& mixing : graph.rounds) slots += 2 * static_cast<std::int64_t>(largest_degree(mixing));
  if (!graph.empty()) check_slots(slots, experiment.plan.gpus());
  spec_.rounds.resize(graph.rounds.size());
  for (std::size_t r = 0; r < spec_.rounds.size(); ++r) colour(graph.rounds[r], spec_.rounds[r]);
  number_rounds();
}

/// First fit. Lists that name the neighbours of all workers in one order get a colour per place.
void CommunicatorLayout::colour(const Mixing& mixing, Round& round) const {
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

void CommunicatorLayout::number_rounds() {
  std::int64_t slots = 0;
  std::size_t neighbours = 0;
  for (const Round& round : spec_.rounds) {
    slots += 2 * static_cast<std::int64_t>(round.colours.size());
    neighbours = std::max(neighbours, round.colours.size());
  }
  if (!spec_.rounds.empty()) check_slots(slots, spec_.grid.ranks());
  numbers_ = SlotNumbers(spec_);
  std::uint32_t next = numbers_.count() - static_cast<std::uint32_t>(slots);
  for (Round& round : spec_.rounds) {
    round.first_slot = next;
    next += static_cast<std::uint32_t>(2 * round.colours.size());
  }
  streams_ = static_cast<std::uint32_t>(kStreamCount + 2 * neighbours);
}

bool has_fused_passes(const Experiment& experiment) {
  const bool even = experiment.jitter() == 0 && experiment.cluster.overrides.empty() &&
                    experiment.cluster.gpu_classes() == 1 && experiment.plan.replica_batch_sizes.empty();
  // Otherwise attention, or the work of experts, involves more ranks than the tensor group.
  const bool alone = experiment.plan.degree(Axis::context) == 1 && experiment.model.experts == 0;
  return experiment.simulation.detail == Detail::stage && even && alone && !differs_in_groups(experiment);
}

}  // namespace orrery
