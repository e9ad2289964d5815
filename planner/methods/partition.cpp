#include "planner/methods/partition.hpp"

#include <algorithm>

#include "sim/choices/divide_layers.hpp"

namespace orrery {
namespace {

constexpr std::uint32_t kNoLabel = 0xffffffff;

/// The first stages of a partition, as far as the rest of its cost depends on them.
struct Label {
  Picoseconds slowest = 0;
  Picoseconds reduction = 0;  ///< the longest
  Int128 sum = 0;
  std::uint32_t before = kNoLabel;  ///< the label of one stage fewer
  PlacedStage stage;                ///< the last of them

  /// Returns true if this label costs no more than the other, whatever stages follow.
  [[nodiscard]] bool dominates(const Label& other) const {
    return slowest <= other.slowest && reduction <= other.reduction && sum <= other.sum;
  }
};

/// Holds the undominated labels of a number of stages and layers, by the stages on each kind of GPU: a longer
/// stage trades the slowest stage against the sum of all.
class Labels {
 public:
  explicit Labels(const PartitionProblem& problem) : problem_(problem) {
    std::size_t states = 1;
    for (const std::size_t most : problem.kinds) {
      strides_.push_back(states);
      states *= most + 1;
    }
    used_ = states;
  }

  Partition solve() {
    add_state(0, 0, {});
    std::vector<Front> before = empty_fronts();
    before[0].push_back(0);
    for (std::size_t stage = 0; stage < problem_.stages; ++stage) {
      std::vector<Front> after = empty_fronts();
      for (std::size_t state = 0; state < before.size(); ++state) {
        if (!before[state].empty()) extend(stage, state, before[state], after);
      }
      before = std::move(after);
    }
    return best_of(before[static_cast<std::size_t>(problem_.layers) * used_ + used_ - 1]);
  }

 private:
  using Front = std::vector<std::uint32_t>;  ///< of labels

  [[nodiscard]] std::vector<Front> empty_fronts() const {
    return std::vector<Front>((static_cast<std::size_t>(problem_.layers) + 1) * used_);
  }
  void add_state(Picoseconds slowest, Picoseconds reduction, PlacedStage stage) {
    all_.push_back({slowest, reduction, 0, kNoLabel, stage});
  }

  /// A state is `layers * used_ + GPUs`, where GPUs count the stages on each kind.
  void extend(std::size_t stage, std::size_t state, const Front& front, std::vector<Front>& after) {
    const auto from = static_cast<std::int64_t>(state / used_);
    for (std::size_t kind = 0; kind < problem_.kinds.size(); ++kind) {
      if (state % used_ / strides_[kind] % (problem_.kinds[kind] + 1) == problem_.kinds[kind]) continue;
      const std::int64_t least = stage + 1 == problem_.stages ? problem_.layers : from;
      for (std::int64_t to = least; to <= problem_.layers; ++to) {
        const std::optional<StageOption> option = problem_.option(stage, kind, from, to);
        if (!option) continue;
        const std::size_t next = static_cast<std::size_t>(to) * used_ + state % used_ + strides_[kind];
        for (const std::uint32_t label : front) add(label, {kind, to - from, *option}, after[next]);
      }
    }
  }

  void add(std::uint32_t before, const PlacedStage& stage, Front& front) {
    const Label& old = all_[before];
    const Label label{std::max(old.slowest, stage.option.pass_ps),
                      std::max(old.reduction, stage.option.reduction_ps), old.sum + stage.option.pass_ps,
                      before, stage};
    for (const std::uint32_t other : front)
      if (all_[other].dominates(label)) return;
    std::erase_if(front, [&](std::uint32_t other) { return label.dominates(all_[other]); });
    front.push_back(static_cast<std::uint32_t>(all_.size()));
    all_.push_back(label);
  }

  [[nodiscard]] Partition best_of(const Front& front) const {
    const auto cost = [&](std::uint32_t label) {
      const Label& at = all_[label];
      return Int128{problem_.micro_batches - 1} * at.slowest + at.sum + at.reduction;
    };
    const auto best = std::ranges::min_element(front, {}, cost);
    Partition partition;
    if (best == front.end()) return partition;
    for (std::uint32_t label = *best; all_[label].before != kNoLabel; label = all_[label].before)
      partition.push_back(all_[label].stage);
    std::ranges::reverse(partition);
    return partition;
  }

  const PartitionProblem& problem_;
  std::vector<std::size_t> strides_;  ///< per kind of GPU
  std::size_t used_ = 1;              ///< ways in which stages can have been put on GPUs
  std::vector<Label> all_;
};

}  // namespace

Int128 cost_of(const PartitionProblem& problem, const Partition& partition) {
  Picoseconds slowest = 0;
  Picoseconds reduction = 0;
  Int128 sum = 0;
  for (const PlacedStage& stage : partition) {
    slowest = std::max(slowest, stage.option.pass_ps);
    reduction = std::max(reduction, stage.option.reduction_ps);
    sum += stage.option.pass_ps;
  }
  return Int128{problem.micro_batches - 1} * slowest + sum + reduction;
}

Partition balanced_partition(const PartitionProblem& problem) {
  std::vector<std::size_t> kind_of;
  for (std::size_t kind = 0; kind < problem.kinds.size(); ++kind)
    kind_of.insert(kind_of.end(), problem.kinds[kind], kind);
  const auto option = [&](std::size_t stage, std::int64_t from, std::int64_t to) {
    return problem.option(stage, kind_of[stage], from, to);
  };
  const std::vector<std::int64_t> layers = divide_layers(
      problem.layers, problem.stages, [&](std::size_t stage, std::int64_t from, std::int64_t to) {
        const std::optional<StageOption> found = option(stage, from, to);
        return found ? found->pass_ps : kNoRoom;
      });
  Partition partition;
  std::int64_t from = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    const std::int64_t to = from + layers[stage];
    partition.push_back({kind_of[stage], layers[stage], *option(stage, from, to)});
    from = to;
  }
  return partition;
}

bool costs_more(const PartitionProblem& problem, const StageOption& stage, Int128 most) {
  const Picoseconds sum = std::max(problem.least_sum, stage.pass_ps);
  return Int128{problem.micro_batches - 1} * stage.pass_ps + sum + stage.reduction_ps > most;
}

Partition partition_by_dp(const PartitionProblem& problem) { return Labels(problem).solve(); }

}  // namespace orrery
