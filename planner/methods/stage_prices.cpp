#include "planner/methods/stage_prices.hpp"

#include <algorithm>
#include <vector>

#include "sim/metrics/memory_fit.hpp"
#include "sim/step/replica_graph.hpp"
#include "workloads/memory/stage_memory.hpp"

namespace orrery {
namespace {

/// With layers yet to be divided, all of which compute these modules again.
Experiment undivided(Experiment experiment, ModuleSet modules) {
  Plan& plan = experiment.plan;
  plan.balance_stages = true;
  plan.stage_layers.clear();
  const bool whole = modules.has(Module::layer);
  plan.recompute = modules.empty() ? Recompute::none : whole ? Recompute::full : Recompute::modules;
  plan.recompute_modules = whole ? ModuleSet{} : modules;
  plan.recompute_method = RecomputeMethod::block;
  plan.recompute_layers = 0;
  plan.recompute_stage_layers.clear();
  return experiment;
}

/// The blocks of `kept` with the kinds of `again` behind them.
ModelBlocks with_kinds_of(ModelBlocks kept, const ModelBlocks& again) {
  const auto first = static_cast<std::int32_t>(kept.kinds.size());
  for (Block block : again.kinds) {
    if (block.same_steps >= 0) block.same_steps += first;
    kept.kinds.push_back(std::move(block));
  }
  return kept;
}

}  // namespace

StagePrices::StagePrices(const Experiment& experiment, ModuleSet modules, Memo& memo)
    : experiment_(undivided(experiment, {})),
      layout_(communicator_layout_of(experiment_, memo)),
      kept_(block_times(experiment_, layout_, memo)),
      again_(block_times(undivided(experiment, modules), layout_, memo)),
      kept_times_(experiment_.plan, kept_),
      again_times_(experiment_.plan, again_),
      weights_(weight_times(experiment_, layout_, memo)),
      blocks_(with_kinds_of(kept_.blocks, again_.blocks)) {
  experiment_.plan.balance_stages = false;
}

Picoseconds StagePrices::pass(std::size_t stage, std::int64_t from, std::int64_t to,
                              std::int64_t recomputed) const {
  const std::int64_t middle = from + recomputed;
  const Picoseconds ends = again_times_.time(stage, from, from);  // of the model
  return kept_times_.time(stage, middle, to) + again_times_.time(stage, from, middle) - ends;
}

Picoseconds StagePrices::reduction(std::size_t stage, std::int64_t from, std::int64_t to) {
  const auto [known, is_new] = reductions_.try_emplace({stage, number_of_run(from, to), 0}, 0);
  if (is_new) known->second = weights_(divided(stage, from, to, 0).list()[stage]).exposed;
  return known->second;
}

bool StagePrices::has_room(std::size_t stage, std::int64_t from, std::int64_t to, std::int64_t recomputed) {
  const auto [known, is_new] = room_.try_emplace({stage, number_of_run(from, to), recomputed}, false);
  if (!is_new) return known->second;
  const Stages stages = divided(stage, from, to, recomputed);
  std::vector<StageMemory> memory(stages.list().size());
  memory[stage] = memory_of(stages.list()[stage], experiment_, layout_, blocks_);
  return known->second = fits(experiment_, memory);
}

bool StagePrices::alike(std::int64_t from, std::int64_t to) const {
  const auto first = kept_.blocks.layers.begin();
  return std::all_of(first + from, first + to, [&](std::uint32_t kind) { return kind == first[from]; });
}

/// The stages beside it get the other layers.
Stages StagePrices::divided(std::size_t stage, std::int64_t from, std::int64_t to, std::int64_t recomputed) {
  const auto kinds = static_cast<std::uint32_t>(kept_.blocks.kinds.size());
  for (std::int64_t layer = from; layer < to; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    blocks_.layers[at] =
        layer - from < recomputed ? kinds + again_.blocks.layers[at] : kept_.blocks.layers[at];
  }
  Plan& plan = experiment_.plan;
  plan.stage_layers.assign(static_cast<std::size_t>(plan.pipeline_parallel), 0);
  if (stage > 0) plan.stage_layers[stage - 1] = from;
  plan.stage_layers[stage] = to - from;
  if (stage + 1 < plan.stage_layers.size())
    plan.stage_layers[stage + 1] = static_cast<std::int64_t>(blocks_.layers.size()) - to;
  return {experiment_, blocks_};
}

std::uint32_t StagePrices::number_of_run(std::int64_t from, std::int64_t to) {
  ContentHash key;
  for (std::int64_t layer = from; layer < to; ++layer)
    key.append(kept_.blocks.layers[static_cast<std::size_t>(layer)]);
  return runs_.number(key);
}

}  // namespace orrery
