#include "studies/post_training/forward_pass.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "orrery/rank_grid.hpp"
#include "sim/metrics/passes.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/run.hpp"
#include "workloads/lowering/lower.hpp"

namespace orrery {
namespace {

/// One chunk a rank that has the layers of all its chunks.
std::vector<std::int64_t> layers_of_ranks(const Plan& plan) {
  std::vector<std::int64_t> layers(
      plan.stage_layers.empty() ? 0 : static_cast<std::size_t>(plan.pipeline_parallel));
  for (std::size_t chunk = 0; chunk < plan.stage_layers.size() && !layers.empty(); ++chunk)
    layers[chunk % layers.size()] += plan.stage_layers[chunk];
  return layers;
}

/// GPipe has all forward passes of a step before its backward passes. Nothing is kept for those, and weights
/// that no update has changed need not be gathered before the passes, unless each pass gathers its own
/// (ZeRO-3).
void leave_forward_passes(Plan& plan) {
  plan.stage_layers = layers_of_ranks(plan);
  plan.pipeline_schedule = "gpipe";
  plan.virtual_stages = 1;
  plan.micro_batch_group_size = 0;
  plan.warmup_micro_batches = 0;
  plan.recompute = Recompute::none;
  plan.recompute_modules = {};
  plan.recompute_layers = 0;
  plan.recompute_stage_layers.clear();
  plan.overlap_expert_parallel = false;
  plan.offload = Offload::none;
  if (plan.zero_stage < 3) plan.zero_stage = 0;
}

/// When the last rank of the pipeline has ended its last forward pass.
Picoseconds simulated(const Experiment& experiment, Memo& memo) {
  const PreparedExperiment prepared = prepare(experiment, memo);
  const Run run = run_in_layers(prepared, memo);
  const RankGrid grid(prepared.experiment.plan);
  Picoseconds last = 0;
  grid.for_each_member({{Axis::pipeline, grid.size(Axis::pipeline) - 1}}, {Axis::tensor, Axis::context},
                       [&](std::uint32_t rank) {
                         for (const PassSpan& pass : passes_of(run.view(), rank))
                           if (pass.phase == Phase::forward && pass.step == 0)
                             last = std::max(last, pass.finish_ps);
                       });
  return last;
}

}  // namespace

/// Once the pipeline is full, each micro-batch adds as much time as the one before: long steps are told from
/// two shorter ones.
Picoseconds forward_time(Experiment experiment, Memo& memo) {
  leave_forward_passes(experiment.plan);
  experiment.simulation.steps = 1;
  const std::int64_t all = experiment.plan.micro_batches();
  const std::int64_t some = 2 * experiment.plan.pipeline_parallel + 2;
  if (all <= 2 * some) return simulated(experiment, memo);
  const Picoseconds half = simulated(with_micro_batches(experiment, some), memo);
  const Picoseconds whole = simulated(with_micro_batches(experiment, 2 * some), memo);
  return whole + static_cast<Picoseconds>(divide_rounded(Int128{whole - half} * (all - 2 * some), some));
}

}  // namespace orrery
