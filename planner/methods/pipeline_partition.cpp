#include "planner/methods/pipeline_partition.hpp"

#include <algorithm>
#include <deque>

#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "planner/methods/stage_prices.hpp"
#include "sim/choices/divide_layers.hpp"
#include "workloads/models/layer_kinds.hpp"
#include "workloads/schedules/placement.hpp"

namespace orrery {
namespace {

/// Returns the modules that a stage recomputes if it recomputes at all: those of the plan, or whole layers.
ModuleSet modules_of(const Experiment& experiment) {
  const bool transformer =
      experiment.model.kind != ModelKind::mlp && experiment.model.kind != ModelKind::convnet;
  if (!transformer) return {};
  const ModuleSet planned = recomputed_modules(experiment.model, experiment.plan);
  return planned.empty() ? ModuleSet{Module::layer} : planned;
}

/// All nodes have GPUs of that class.
Experiment on_class(Experiment experiment, std::size_t gpu_class) {
  Cluster& cluster = experiment.cluster;
  cluster.gpu = Gpu(cluster.gpu_of_class(gpu_class));
  cluster.other_gpus.clear();
  cluster.groups.clear();
  return experiment;
}

std::int64_t nodes_of_stage(const Experiment& experiment) {
  return experiment.plan.stage_ranks() / experiment.cluster.gpus_per_node;
}

/// Returns true if stages have whole consecutive nodes of one class, so that any stage may have any class.
bool can_place(const Experiment& experiment) {
  const Cluster& cluster = experiment.cluster;
  const Plan& plan = experiment.plan;
  if (cluster.gpu_classes() == 1 || !cluster.overrides.empty()) return false;
  if (RankGrid(plan).stride(Axis::pipeline) != plan.stage_ranks()) return false;
  if (plan.stage_ranks() % cluster.gpus_per_node != 0) return false;
  return std::ranges::all_of(
      cluster.groups, [&](const NodeGroup& group) { return group.nodes % nodes_of_stage(experiment) == 0; });
}

}  // namespace

std::string partition_obstacle(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  if (chunk_map(plan).chunks > 1) return "virtual_stages above 1";
  if (experiment.model.encoder_layers > 0) return "an encoder and a decoder";
  if (plan.offload == Offload::activations) return "offloaded activations";
  if (plan.recompute_method == RecomputeMethod::uniform && plan.recompute_layers > 1)
    return "recomputation in groups of layers";
  return "";
}

class PipelinePartition::Implementation {
 public:
  Implementation(const Experiment& experiment, PartitionChoices choices, Memo& memo)
      : experiment_(experiment), choices_(choices), modules_(modules_of(experiment)) {
    choices_.placement = choices.placement && can_place(experiment);
    const std::size_t classes = choices_.placement ? experiment.cluster.gpu_classes() : 1;
    for (std::size_t c = 0; c < classes; ++c)
      prices_.emplace_back(choices_.placement ? on_class(experiment, c) : experiment, modules_, memo);
    first_layers_ = first_layers();
    state_problem();
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  [[nodiscard]] const PartitionProblem& problem() const { return problem_; }
  [[nodiscard]] ModuleSet recomputed() const { return modules_; }

  [[nodiscard]] std::vector<NodeGroup> groups_of(const Partition& partition) const {
    if (!choices_.placement) return experiment_.cluster.groups;
    std::vector<NodeGroup> groups;
    for (const PlacedStage& stage : partition) {
      if (groups.empty() || groups.back().gpu_class != stage.kind) groups.push_back({0, stage.kind});
      groups.back().nodes += nodes_of_stage(experiment_);
    }
    return groups;
  }

 private:
  /// Returns the first layer of each stage of the plan, and the number of all layers at the end.
  [[nodiscard]] std::vector<std::int64_t> first_layers() const {
    std::vector<std::int64_t> first{0};
    for (const std::int64_t layers :
         layers_per_virtual_stage(experiment_.plan, experiment_.model.all_layers()))
      first.push_back(first.back() + layers);
    return first;
  }

  void state_problem() {
    problem_.layers = experiment_.model.all_layers();
    problem_.stages = static_cast<std::size_t>(experiment_.plan.pipeline_parallel);
    problem_.micro_batches = experiment_.plan.micro_batches();
    problem_.kinds.assign(prices_.size(), choices_.placement ? 0 : problem_.stages);
    for (const NodeGroup& group : experiment_.cluster.groups) {
      if (choices_.placement)
        problem_.kinds[group.gpu_class] +=
            static_cast<std::size_t>(group.nodes / nodes_of_stage(experiment_));
    }
    problem_.option = [this](std::size_t stage, std::size_t kind, std::int64_t from, std::int64_t to) {
      return option(stage, kind, from, to);
    };
    problem_.least_sum = least_sum();
    const Partition balanced = balanced_partition(problem_);
    if (!balanced.empty()) most_ = cost_of(problem_, balanced);
  }

  /// Each block where it is fastest, nothing computed again.
  [[nodiscard]] Picoseconds least_sum() const {
    const auto fastest = [this](auto time) {
      Picoseconds least = kNoRoom;
      for (const StagePrices& prices : prices_)
        for (std::size_t stage = 0; stage < problem_.stages; ++stage)
          least = std::min(least, time(prices, stage));
      return least;
    };
    const std::size_t last = problem_.stages - 1;
    const std::int64_t layers = problem_.layers;
    // The ends of the model: a stage that is first and last has both.
    Picoseconds sum = fastest([&](const StagePrices& p, std::size_t) { return p.pass(0, 0, 0, 0); });
    if (last > 0)
      sum += fastest([&](const StagePrices& p, std::size_t) { return p.pass(last, layers, layers, 0); });
    for (std::int64_t layer = 0; layer < layers; ++layer)
      sum += fastest([&](const StagePrices& p, std::size_t stage) {
        return p.pass(stage, layer, layer + 1, 0) - p.pass(stage, layer, layer, 0);
      });
    return sum;
  }

  std::optional<StageOption> option(std::size_t stage, std::size_t kind, std::int64_t from, std::int64_t to) {
    if (!choices_.layers && (from != first_layers_[stage] || to != first_layers_[stage + 1])) return {};
    StagePrices& prices = prices_[kind];
    if (most_ && costs_more(problem_, {prices.pass(stage, from, to, 0), 0, 0}, *most_)) return {};
    const std::optional<std::int64_t> recomputed = fewest_recomputed(prices, stage, from, to);
    if (!recomputed) return {};
    return StageOption{prices.pass(stage, from, to, *recomputed), prices.reduction(stage, from, to),
                       *recomputed};
  }

  /// Returns the fewest recomputed layers with which the stage fits. Among equal layers each recomputed one
  /// frees more memory than the one before, from the first one on, which needs a workspace.
  std::optional<std::int64_t> fewest_recomputed(StagePrices& prices, std::size_t stage, std::int64_t from,
                                                std::int64_t to) const {
    const auto fits = [&](std::int64_t layers) { return prices.has_room(stage, from, to, layers); };
    if (!choices_.recompute || modules_.empty()) {
      const std::int64_t planned = planned_recomputed(stage, to - from);
      return fits(planned) ? std::optional(planned) : std::nullopt;
    }
    if (fits(0)) return 0;
    const std::int64_t all = to - from;
    if (!prices.alike(from, to)) {
      for (std::int64_t layers = 1; layers <= all; ++layers)
        if (fits(layers)) return layers;
      return {};
    }
    if (all == 0 || !fits(all)) return {};
    std::int64_t low = 1;
    std::int64_t high = all;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (fits(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  [[nodiscard]] std::int64_t planned_recomputed(std::size_t stage, std::int64_t layers) const {
    const Plan& plan = experiment_.plan;
    if (recomputed_modules(experiment_.model, plan).empty()) return 0;
    if (!plan.recompute_stage_layers.empty()) return std::min(plan.recompute_stage_layers[stage], layers);
    const bool some = plan.recompute_method == RecomputeMethod::block && plan.recompute_layers > 0;
    return some ? std::min(plan.recompute_layers, layers) : layers;
  }

  Experiment experiment_;
  PartitionChoices choices_;
  ModuleSet modules_;
  std::deque<StagePrices> prices_;  ///< which do not move: per class of GPU, or of the cluster as it is
  std::vector<std::int64_t> first_layers_;
  PartitionProblem problem_;
  std::optional<Int128> most_;  ///< an upper bound of the cheapest partition: the cost of a balanced one
};

PipelinePartition::PipelinePartition(const Experiment& experiment, PartitionChoices choices, Memo& memo)
    : self_(std::make_unique<Implementation>(experiment, choices, memo)) {}
PipelinePartition::~PipelinePartition() = default;
PipelinePartition::PipelinePartition(PipelinePartition&&) noexcept = default;

const PartitionProblem& PipelinePartition::problem() const { return self_->problem(); }
std::vector<NodeGroup> PipelinePartition::groups_of(const Partition& partition) const {
  return self_->groups_of(partition);
}
ModuleSet PipelinePartition::recomputed() const { return self_->recomputed(); }

}  // namespace orrery
