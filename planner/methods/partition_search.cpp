#include "planner/methods/partition_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "orrery/error.hpp"
#include "planner/methods/pipeline_partition.hpp"
#include "planner/methods/usual_space.hpp"
#include "sim/run/prepare.hpp"

namespace orrery {
namespace {

constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();

/// Where in the space the keys are that a solver chooses.
struct ChosenKeys {
  std::size_t layers = kAbsent;
  std::size_t recompute = kAbsent;
  std::size_t groups = kAbsent;

  explicit ChosenKeys(const std::vector<SpaceKey>& keys) {
    const auto place = [&](std::string_view name) {
      const auto at = std::ranges::find(keys, name, &SpaceKey::key);
      return at == keys.end() ? kAbsent : static_cast<std::size_t>(at - keys.begin());
    };
    layers = place("plan.stage_layers");
    recompute = place("plan.recompute");
    groups = place("cluster.groups");
  }
  [[nodiscard]] bool any() const { return layers != kAbsent || recompute != kAbsent || groups != kAbsent; }
  [[nodiscard]] bool has(std::size_t key) const { return key == layers || key == recompute || key == groups; }
  [[nodiscard]] PartitionChoices choices() const {
    return {layers != kAbsent, recompute != kAbsent, groups != kAbsent};
  }
};

/// The values of plan.recompute.
std::string recompute_text(const Partition& partition, ModuleSet modules) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  bool some = false;
  for (const PlacedStage& stage : partition) {
    stages.push_back(stage.option.recomputed);
    some = some || stage.option.recomputed > 0;
  }
  if (!some) return "none";
  nlohmann::ordered_json text;
  text["modules"] = names_of(modules);
  text["method"] = "block";
  text["stage_layers"] = std::move(stages);
  return text.dump();
}

std::string layers_text(const Partition& partition) {
  std::vector<std::int64_t> layers;
  for (const PlacedStage& stage : partition) layers.push_back(stage.layers);
  return fmt::format("[{}]", fmt::join(layers, ","));
}

/// The groups of `text`, an experiment with those of `given`, in another order.
std::string groups_text(const std::string& text, const std::vector<NodeGroup>& given,
                        const std::vector<NodeGroup>& groups) {
  const auto document = nlohmann::ordered_json::parse(text);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const NodeGroup& group : groups) {
    const auto like = std::ranges::find(given, group.gpu_class, &NodeGroup::gpu_class) - given.begin();
    nlohmann::ordered_json entry = document["cluster"]["groups"][static_cast<std::size_t>(like)];
    entry["nodes"] = group.nodes;
    list.push_back(std::move(entry));
  }
  return list.dump();
}

class PartitionSearch {
 public:
  PartitionSearch(SearchRun& run, const PartitionSolver& solver)
      : run_(run), keys_(run.space().keys()), chosen_(keys_), solver_(solver), reader_(run.space()) {
    if (usual_objective(run.space()) != "step_time_s")
      throw InputError({Diagnostic{run.space().base().source, 0, 0, "/inference",
                                   "found requests to serve, which have no micro-batches to divide stages "
                                   "for, allowed training, or --search exhaustive, zeroth-order or rl"}});
    if (!chosen_.any())
      throw InputError({Diagnostic{
          "command line", 0, 0, "",
          "--search: found a space without plan.stage_layers, plan.recompute and "
          "cluster.groups, allowed for this method one with some of these keys, which it chooses"}});
  }

  void run() {
    for (std::uint64_t index = 0; index < run_.space().size(); ++index) {
      if (!run_.time_left() && !(solved_.empty() && unsolved_.empty())) break;
      if (is_first(index)) solve(index);
    }
    std::ranges::stable_sort(solved_, {}, &Solved::cost);
    std::vector<std::vector<std::string>> values;
    for (const Solved& one : solved_) values.push_back(one.values);
    note_best(run_.simulate(values));
    run_.simulate(unsolved_);
  }

 private:
  struct Solved {
    double cost = 0;   ///< ps
    double bound = 0;  ///< no partition of the point costs less
    std::vector<std::string> values;
  };

  /// Notes the cost of the best point's partition by the estimate that it minimises.
  void note_best(const std::vector<std::optional<Trial>>& trials) {
    std::size_t best = trials.size();
    for (std::size_t i = 0; i < trials.size(); ++i)
      if (trials[i] && (best == trials.size() || trials[i]->cost < trials[best]->cost)) best = i;
    if (best == trials.size()) return;
    const Solved& solved = solved_[best];
    const Trial& trial = *trials[best];
    run_.note(fmt::format(
        "stages of the best of {} plans: (micro-batches - 1) x slowest stage + all stages + longest "
        "reduction {:.4g} s, no division below {:.4g} s; simulated {:.4g} s",
        solved_.size(), solved.cost * 1e-12, solved.bound * 1e-12,
        to_seconds(trial.makespan_ps) / static_cast<double>(steps_)));
  }

  /// Returns true if the point is the first of those that differ only in chosen keys.
  [[nodiscard]] bool is_first(std::uint64_t index) const {
    for (std::size_t key = keys_.size(); key-- > 0;) {
      if (chosen_.has(key) && index % keys_[key].values.size() != 0) return false;
      index /= keys_[key].values.size();
    }
    return true;
  }

  void solve(std::uint64_t index) {
    const PointOrRemoval read = reader_.read(index);
    const auto* const point = std::get_if<Point>(&read);
    if (point == nullptr) return;
    if (!partition_obstacle(point->experiment).empty()) return leave(index);
    PartitionChoices choices = chosen_.choices();
    Experiment experiment = point->experiment;
    steps_ = experiment.simulation.steps;
    if (choices.layers) experiment.plan.balance_stages = false;
    std::optional<Solved> values;
    const auto refusal = refusal_of([&] {
      const Experiment resolved = with_resolved_plan(experiment, memo_);
      const PipelinePartition partition(resolved, choices, memo_);
      values = values_of(*point, resolved, partition, solver_(partition.problem()));
    });
    if (refusal) return run_.refuse(*refusal);
    if (values) solved_.push_back(*values);
  }

  std::optional<Solved> values_of(const Point& point, const Experiment& experiment,
                                  const PipelinePartition& problem, const SolvedPartition& found) {
    const Partition& partition = found.partition;
    if (partition.empty()) return {};
    Solved solved{static_cast<double>(cost_of(problem.problem(), partition)), found.bound, point.values};
    if (chosen_.layers != kAbsent) solved.values[chosen_.layers] = layers_text(partition);
    if (chosen_.recompute != kAbsent)
      solved.values[chosen_.recompute] = recompute_text(partition, problem.recomputed());
    if (chosen_.groups != kAbsent)
      solved.values[chosen_.groups] =
          groups_text(reader_.text_at(point.index), experiment.cluster.groups, problem.groups_of(partition));
    return solved;
  }

  /// The values of chosen keys that the space has.
  void leave(std::uint64_t first) {
    std::vector<std::uint64_t> points{first};
    std::uint64_t stride = 1;
    for (std::size_t key = keys_.size(); key-- > 0;) {
      const std::size_t before = points.size();
      for (std::uint64_t value = 1; chosen_.has(key) && value < keys_[key].values.size(); ++value)
        for (std::size_t i = 0; i < before; ++i) points.push_back(points[i] + value * stride);
      stride *= keys_[key].values.size();
    }
    unsolved_.insert(unsolved_.end(), points.begin(), points.end());
  }

  SearchRun& run_;
  const std::vector<SpaceKey>& keys_;
  ChosenKeys chosen_;
  const PartitionSolver& solver_;
  PointReader reader_;
  Memo memo_;
  std::vector<Solved> solved_;
  std::vector<std::uint64_t> unsolved_;
  std::int64_t steps_ = 1;  ///< of a simulation
};

}  // namespace

void search_partitions(SearchRun& run, const PartitionSolver& solver) { PartitionSearch(run, solver).run(); }

}  // namespace orrery
