#include "sim/cost/rank_speeds.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace orrery {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

/// Exponential with mean 1 by comparisons alone (von Neumann 1951), so that it is the same to the bit
/// everywhere: a run of falling uniform numbers of odd length accepts the first as the fraction.
double exponential(Random& random) {
  constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^-53
  for (int whole = 0;; ++whole) {
    const std::uint64_t first = random.next() >> 11;
    std::uint64_t before = first;
    bool odd = true;
    for (std::uint64_t next = random.next() >> 11; next < before; next = random.next() >> 11) {
      before = next;
      odd = !odd;
    }
    if (odd) return whole + static_cast<double>(first) * kUnit;
  }
}

/// Replicas that never wait for each other wait within themselves.
std::int64_t nodes_in_step(const Experiment& experiment) {
  const Cluster& cluster = experiment.cluster;
  const DataParallelSync& sync = experiment.data_parallel_sync;
  if (!sync.asynchronous() && sync.method != SyncMethod::none) return cluster.nodes;
  const std::int64_t gpus_of_replica = cluster.gpus() / experiment.plan.data_parallel;
  return (gpus_of_replica + cluster.gpus_per_node - 1) / cluster.gpus_per_node;
}

}  // namespace

double slowest_node(const Experiment& experiment) {
  const double share = experiment.software.straggler_share;
  if (share == 0) return 1;
  double later = 0;
  for (std::int64_t n = nodes_in_step(experiment); n > 1; --n) later += 1 / static_cast<double>(n);
  return 1 + share * later;
}

RankSpeeds::RankSpeeds(const Experiment& experiment)
    : jitter_(experiment.jitter()), seed_(static_cast<std::uint64_t>(experiment.simulation.seed)) {
  list_classes(experiment.cluster);
  list_speeds(experiment.cluster);
  number_kinds();
}

void RankSpeeds::list_classes(const Cluster& cluster) {
  if (cluster.gpu_classes() == 1) return;
  for (const NodeGroup& group : cluster.groups) {
    const auto gpus = static_cast<std::size_t>(group.nodes * cluster.gpus_per_node);
    class_of_rank_.insert(class_of_rank_.end(), gpus, static_cast<std::uint32_t>(group.gpu_class));
  }
}

void RankSpeeds::list_speeds(const Cluster& cluster) {
  if (cluster.overrides.empty()) return;
  speed_.assign(static_cast<std::size_t>(cluster.gpus()), 1.0);
  for (const GpuOverride& override : cluster.overrides) {
    for (std::int64_t gpu = override.first_gpu; gpu < override.first_gpu + override.gpus; ++gpu)
      speed_[static_cast<std::size_t>(gpu)] = override.speed;
  }
}

double RankSpeeds::factor(std::uint32_t rank, std::int32_t step) const {
  double time = 1;
  if (jitter_ > 0) {
    Random of_rank(seed_ ^ (std::uint64_t{rank} << 32));
    Random random(of_rank.next() + static_cast<std::uint64_t>(step));
    time += jitter_ * exponential(random);
  }
  return speed_.empty() ? time : time / speed_[rank];
}

Picoseconds RankSpeeds::duration(std::uint32_t work, Picoseconds duration, std::uint32_t rank,
                                 std::int32_t step) const {
  if (!class_of_rank_.empty()) duration = prices_of_class_[class_of_rank_[rank]][work].duration_ps;
  if (jitter_ == 0 && speed_.empty()) return duration;
  return static_cast<Picoseconds>(static_cast<double>(duration) * factor(rank, step) + 0.5);
}

std::uint64_t RankSpeeds::kind(std::uint32_t rank) const {
  if (jitter_ > 0) return std::uint64_t{rank} + 1;
  return kind_.empty() ? 0 : kind_[rank];
}

/// A number for each pair of class and speed, 0 for GPUs of class 0 at the usual speed.
void RankSpeeds::number_kinds() {
  if (class_of_rank_.empty() && speed_.empty()) return;
  const std::size_t ranks = std::max(class_of_rank_.size(), speed_.size());
  std::map<std::pair<std::uint32_t, double>, std::uint64_t> numbers{{{0, 1.0}, 0}};
  kind_.reserve(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::pair<std::uint32_t, double> one{class_of_rank_.empty() ? 0 : class_of_rank_[rank],
                                               speed_.empty() ? 1.0 : speed_[rank]};
    kind_.push_back(numbers.try_emplace(one, numbers.size()).first->second);
  }
}

}  // namespace orrery
