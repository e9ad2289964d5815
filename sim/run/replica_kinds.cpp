#include "sim/run/replica_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "orrery/rank_grid.hpp"

namespace orrery {
namespace {

using GpuNumbers = std::set<std::uint32_t>;
using StageNumbers = std::pair<GpuNumbers, GpuNumbers>;  ///< own, and those of synchronous replicas

class KindFinder {
 public:
  explicit KindFinder(const Experiment& experiment)
      : experiment_(experiment), grid_(experiment.plan), expert_grid_(RankGrid::of_experts(experiment.plan)) {
    number_gpus();
    if (experiment.model.experts > 0) join_experts();
  }

  [[nodiscard]] ReplicaKinds find() const {
    ReplicaKinds found;
    std::map<std::vector<StageNumbers>, std::uint32_t> known;
    for (std::uint32_t replica = 0; replica < experiment_.plan.data_parallel; ++replica) {
      const std::vector<StageNumbers> stages = stages_of(replica);
      const auto [at, is_new] = known.try_emplace(stages, static_cast<std::uint32_t>(found.kinds.size()));
      if (is_new) found.kinds.push_back(kind_of(stages, replica));
      found.of_replica.push_back(at->second);
    }
    if (found.kinds.size() == 1) found.of_replica.clear();
    return found;
  }

 private:
  /// A number for each pair of class and speed that there is.
  void number_gpus() {
    const Cluster& cluster = experiment_.cluster;
    std::vector<double> slowdown(static_cast<std::size_t>(cluster.gpus()), 1.0);
    for (const GpuOverride& override : cluster.overrides)
      for (std::int64_t gpu = override.first_gpu; gpu < override.first_gpu + override.gpus; ++gpu)
        slowdown[static_cast<std::size_t>(gpu)] = 1 / override.speed;
    std::map<std::pair<std::size_t, double>, std::uint32_t> known;
    for (std::int64_t gpu = 0; gpu < cluster.gpus(); ++gpu) {
      const std::size_t of_class = cluster.class_of_node(gpu / cluster.gpus_per_node);
      const double slow = slowdown[static_cast<std::size_t>(gpu)];
      const auto next = static_cast<std::uint32_t>(different_.size());
      const auto [at, is_new] = known.try_emplace({of_class, slow}, next);
      if (is_new) different_.push_back({&cluster.gpu_of_class(of_class), slow});
      number_of_rank_.push_back(at->second);
    }
  }

  /// Ranks that hold parts of the experts of one layer.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> expert_group(std::uint32_t rank) const {
    return {expert_grid_.place(rank, Axis::data), expert_grid_.place(rank, Axis::pipeline)};
  }

  void join_experts() {
    for (std::uint32_t rank = 0; rank < grid_.ranks(); ++rank)
      of_expert_group_[expert_group(rank)].insert(number_of_rank_[rank]);
  }

  [[nodiscard]] std::vector<StageNumbers> stages_of(std::uint32_t replica) const {
    std::vector<StageNumbers> stages;
    for (std::int64_t stage = 0; stage < experiment_.plan.pipeline_parallel; ++stage) {
      StageNumbers& numbers = stages.emplace_back();
      const RankCoordinates at{{Axis::data, replica}, {Axis::pipeline, stage}};
      grid_.for_each_member(at, {Axis::tensor, Axis::context}, [&](std::uint32_t rank) {
        numbers.first.insert(number_of_rank_[rank]);
        numbers.second.insert(number_of_rank_[rank]);
        if (const auto experts = of_expert_group_.find(expert_group(rank)); experts != of_expert_group_.end())
          numbers.second.insert(experts->second.begin(), experts->second.end());
      });
    }
    return stages;
  }

  [[nodiscard]] ReplicaKind kind_of(const std::vector<StageNumbers>& stages, std::uint32_t replica) const {
    ReplicaKind kind;
    kind.first_replica = replica;
    for (const auto& [own, pace] : stages) {
      StageGpus& gpus = kind.stages.emplace_back();
      for (const std::uint32_t number : own) gpus.own.push_back(different_[number]);
      for (const std::uint32_t number : pace) gpus.pace.push_back(different_[number]);
    }
    return kind;
  }

  const Experiment& experiment_;
  RankGrid grid_;
  RankGrid expert_grid_;
  std::vector<PacedGpu> different_;
  std::vector<std::uint32_t> number_of_rank_;
  std::map<std::pair<std::int64_t, std::int64_t>, GpuNumbers> of_expert_group_;
};

/// All alike: nothing has to be looked up by rank.
ReplicaKinds one_kind(const Experiment& experiment) {
  const PacedGpu gpu{&experiment.cluster.gpu, 1};
  ReplicaKind kind;
  const StageGpus alike{{gpu}, {gpu}};
  kind.stages.assign(static_cast<std::size_t>(experiment.plan.pipeline_parallel), alike);
  return {{std::move(kind)}, {}};
}

std::string in_words(const PacedGpu& one) {
  std::string text = one.gpu->name.empty() ? "GPU" : one.gpu->name;
  return one.slowdown == 1 ? text : fmt::format("{} at {:.4g} of its speed", text, 1 / one.slowdown);
}

}  // namespace

std::string ReplicaKind::gpus() const {
  std::vector<std::string> names;
  for (const StageGpus& stage : stages) {
    for (const PacedGpu& gpu : stage.own) {
      const std::string name = in_words(gpu);
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

ReplicaKinds replica_kinds(const Experiment& experiment) {
  const Cluster& cluster = experiment.cluster;
  if (cluster.gpu_classes() == 1 && cluster.overrides.empty()) return one_kind(experiment);
  return KindFinder(experiment).find();
}

}  // namespace orrery
