// A pipeline of identical layers with given pass times and free communication: the setting of the
// bubble formulas. Everything from stages to report is the product's own; only prices are given.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "orrery/cluster.hpp"
#include "orrery/experiment.hpp"
#include "sim/engine/engine.hpp"
#include "sim/metrics/build_report.hpp"
#include "sim/tasks/expand.hpp"
#include "sim/tasks/interference.hpp"
#include "topologies/common/topologies.hpp"
#include "workloads/communicators/communicators.hpp"
#include "workloads/lowering/stage_program.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery::test {

struct PipelineCase {
  std::string schedule = "1f1b";
  std::int64_t stages = 4;
  std::int64_t micro_batches = 8;
  std::int64_t chunks = 1;
  std::vector<std::int64_t> stage_layers{};  ///< empty: one layer per virtual stage
  Picoseconds forward_ps = 1000;             ///< of one layer
  Picoseconds backward_ps = 2000;
  Picoseconds input_ps = 1000;  ///< of the backward pass, where it is split
  std::int64_t group = 0;       ///< Plan::micro_batch_group_size
  std::int64_t warm_up = 0;     ///< Plan::warmup_micro_batches
};

struct PipelineResult {
  Report report;
  Timeline timeline;
};

/// One layer as a work for each kind of pass.
inline ModelBlocks identical_layers(std::int64_t layers, Workload& workload) {
  workload.kernel_sequences.resize(kPassKindCount);
  Block block;
  for (std::uint32_t i = 0; i < kPassKindCount; ++i) {
    const auto kind = static_cast<PassKind>(i);
    block.of(kind) = {{{Op::Kind::compute, i, Part::layer, phase_of(kind), kBlockInput}}, 0};
  }
  ModelBlocks blocks;
  blocks.kinds = {block};
  blocks.layers.assign(static_cast<std::size_t>(layers), 0);
  blocks.boundaries.assign(blocks.layers.size() + 1, {1, false, false});
  return blocks;
}

/// Prices with the given pass times; the optimizer and all messages are free.
inline PriceList free_messages(const Workload& workload, const Channels& channels, const PipelineCase& c) {
  PriceList prices;
  prices.kernel_sequences.assign(workload.kernel_sequences.size(), {});
  prices.kernel_sequences[0].duration_ps = c.forward_ps;
  prices.kernel_sequences[1].duration_ps = c.backward_ps;
  prices.kernel_sequences[2].duration_ps = c.input_ps;
  prices.kernel_sequences[3].duration_ps = c.backward_ps - c.input_ps;
  for (const Call& call : channels.calls)
    prices.calls.push_back({std::vector<std::uint32_t>(channels.channels[call.channel].groups.size(), 0),
                            {Cost{}},
                            {},
                            nullptr});
  return prices;
}

inline PipelineResult run_pipeline(const PipelineCase& c) {
  Experiment e;
  e.plan.pipeline_parallel = c.stages;
  e.plan.virtual_stages = c.chunks;
  e.plan.micro_batch_group_size = c.group;
  e.plan.warmup_micro_batches = c.warm_up;
  e.plan.pipeline_schedule = c.schedule;
  e.plan.global_batch_size = c.micro_batches;
  e.plan.stage_layers = c.stage_layers;
  std::int64_t layers = c.stages * c.chunks;
  if (!c.stage_layers.empty()) {
    layers = 0;
    for (const std::int64_t count : c.stage_layers) layers += count;
  }
  Workload workload;
  const CommunicatorLayout layout(e, {});
  const ModelBlocks blocks = identical_layers(layers, workload);
  ProgramParts parts(e, workload);
  const Stages stages(e, blocks);
  for (const Stage& stage : stages.list()) {
    workload.programs.push_back(write_stage_program(e, layout, blocks, stage, workload, parts));
  }
  workload.stage_memory.resize(workload.programs.size());
  add_communicators(layout.spec(), workload);
  Cluster cluster;
  cluster.nodes = c.stages;
  cluster.fabric.nic_gbps = 100;
  const auto topology = build_topology(cluster);
  const Channels channels = match_channels(workload);
  PriceList prices = free_messages(workload, channels, c);
  const Folded each = unfolded(workload, {});
  const ClassPositions positions = class_positions(workload, channels, each);
  ExpandedGraph expanded = expand(workload, channels, make_task_groups(workload, channels), positions);
  expanded.representatives = positions.representatives;
  Interference interference(workload, channels, prices,
                            std::make_shared<const InterferenceOrders>(interference_orders(workload)));
  set_costs(workload, channels, prices, each, interference, expanded);
  PipelineResult result;
  result.timeline = run_contention_free(expanded.graph);
  const Traffic none;
  const RunLayout run_layout(workload, expanded);
  const RunView view{workload,      run_layout, expanded, result.timeline, *topology, prices.kernel_sequences,
                     prices.passes, none};
  result.report = build_report({workload, workload.ranks(), expanded.representatives.multiplicity, none},
                               measure_all(view).whole);
  return result;
}

}  // namespace orrery::test
