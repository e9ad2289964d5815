#include "sim/choices/balance_stages.hpp"

#include "orrery/error.hpp"
#include "sim/bounds/stage_times.hpp"
#include "sim/choices/divide_layers.hpp"
#include "sim/metrics/memory_fit.hpp"
#include "sim/step/replica_graph.hpp"
#include "workloads/memory/stage_memory.hpp"

namespace orrery {
namespace {

/// Keeps the search below a second or so.
constexpr std::int64_t kMostPlaces = 1'000'000;

using Layers = std::vector<std::int64_t>;

/// Which layers stages of one chunk have room for.
class StageRoom {
 public:
  StageRoom(const Experiment& experiment, const ModelBlocks& blocks, const CommunicatorLayout& layout)
      : experiment_(experiment), blocks_(blocks), layout_(layout) {}

  [[nodiscard]] bool fit(const Layers& layers) const {
    const Stages stages = divided(layers);
    std::vector<StageMemory> memory;
    for (const Stage& stage : stages.list())
      memory.push_back(memory_of(stage, experiment_, layout_, blocks_));
    return fits(experiment_, memory);
  }

  /// Returns true if stage `stage` has room for the layers [from, to); the stages beside it get the others.
  [[nodiscard]] bool fits_in(std::size_t stage, std::int64_t from, std::int64_t to) const {
    const auto count = static_cast<std::size_t>(experiment_.plan.pipeline_parallel);
    Layers layers(count, 0);
    if (stage > 0) layers[stage - 1] = from;
    layers[stage] = to - from;
    if (stage + 1 < count) layers[stage + 1] = static_cast<std::int64_t>(blocks_.layers.size()) - to;
    const Stages stages = divided(layers);
    std::vector<StageMemory> memory(count);
    memory[stage] = memory_of(stages.list()[stage], experiment_, layout_, blocks_);
    return fits(experiment_, memory);
  }

 private:
  [[nodiscard]] Stages divided(const Layers& layers) const {
    Plan plan = experiment_.plan;
    plan.stage_layers = layers;
    return {experiment_, blocks_, plan};
  }

  const Experiment& experiment_;
  const ModelBlocks& blocks_;
  const CommunicatorLayout& layout_;
};

/// Per stage and first layer, the last one up to which the stage has room, as found when first asked for.
class KnownRoom {
 public:
  KnownRoom(const StageRoom& room, std::size_t stages, std::int64_t layers)
      : room_(room), layers_(layers), ends_(stages, Layers(static_cast<std::size_t>(layers) + 1, kUnknown)) {}

  [[nodiscard]] bool has(std::size_t stage, std::int64_t from, std::int64_t to) {
    std::int64_t& end = ends_[stage][static_cast<std::size_t>(from)];
    if (end == kUnknown) end = last(stage, from);
    return to <= end;
  }

 private:
  static constexpr std::int64_t kUnknown = -2;

  /// Returns the last layer that fits; less than `from` if the stage has no room even for its other contents.
  [[nodiscard]] std::int64_t last(std::size_t stage, std::int64_t from) const {
    const bool only = stage + 1 == ends_.size();  // the last stage takes all that is left
    std::int64_t low = only ? layers_ : from;
    std::int64_t high = layers_ + 1;
    while (low < high) {
      const std::int64_t to = (low + high) / 2;
      if (room_.fits_in(stage, from, to)) {
        low = to + 1;
      } else {
        high = to;
      }
    }
    return low - 1;
  }

  const StageRoom& room_;
  std::int64_t layers_;
  std::vector<Layers> ends_;
};

struct CachedLayers {
  Layers layers;
  [[nodiscard]] std::size_t bytes() const { return sizeof *this + layers.size() * sizeof(std::int64_t); }
};

void check_places(const Plan& plan, std::int64_t layers) {
  const std::int64_t stages = chunk_map(plan).virtual_stages();
  if (Int128{stages} * layers <= kMostPlaces) return;
  throw InputError("/plan/stage_layers", "found \"auto\" with " + std::to_string(layers) + " layers on " +
                                             std::to_string(stages) + " stages, allowed up to " +
                                             std::to_string(kMostPlaces) + " layers x stages");
}

Layers balance(const Experiment& experiment, Memo& memo) {
  check_places(experiment.plan, experiment.model.all_layers());
  const CommunicatorLayout layout = communicator_layout_of(experiment, memo);
  const BlockTimes priced = block_times(experiment, layout, memo);
  const StageTimes times(experiment.plan, priced);
  const auto all = static_cast<std::int64_t>(priced.blocks.layers.size());
  Layers fastest = divide_layers(
      all, times.stages(),
      [&](std::size_t stage, std::int64_t from, std::int64_t to) { return times.time(stage, from, to); });
  const StageRoom room(experiment, priced.blocks, layout);
  if (chunk_map(experiment.plan).chunks > 1 || room.fit(fastest)) return fastest;
  KnownRoom known(room, times.stages(), all);
  Layers fitting =
      divide_layers(all, times.stages(), [&](std::size_t stage, std::int64_t from, std::int64_t to) {
        return known.has(stage, from, to) ? times.time(stage, from, to) : kNoRoom;
      });
  return fitting.empty() ? fastest : fitting;
}

}  // namespace

std::vector<std::int64_t> balanced_stage_layers(const Experiment& experiment, Memo& memo) {
  Experiment kept = experiment;
  kept.name.clear();  // changes nothing
  kept.training = {};
  kept.accuracy = {};
  kept.problem = {};
  return memo
      .get<CachedLayers>(MemoKind::stage_layers, content_of(kept),
                         [&] { return CachedLayers{balance(experiment, memo)}; })
      ->layers;
}

}  // namespace orrery
