// Runs made by hand: a workload, its expansion and a timeline, small enough to check with a pencil,
// and random pipelines for conservation laws. Ranks are their own classes unless folded.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sim/metrics/build_report.hpp"

namespace orrery::test {

/// GPUs in a row of nodes, each with an outgoing and an incoming NIC link to one switch.
class StarTopology : public Topology {
 public:
  explicit StarTopology(std::uint32_t gpus, std::uint32_t per_node = 8,
                        std::int64_t bytes_per_s = 1'000'000) {
    gpus_ = gpus;
    gpus_per_node_ = per_node;
    vertices_ = gpus + 1;
    for (std::uint32_t g = 0; g < gpus; ++g) {
      links_.push_back({VertexId{g}, VertexId{gpus}, bytes_per_s, 0, LinkKind::nic});
      links_.push_back({VertexId{gpus}, VertexId{g}, bytes_per_s, 0, LinkKind::nic});
    }
  }
  void route(GpuId from, GpuId to, std::vector<LinkId>& out) const override {
    if (from == to) return;
    out.push_back(LinkId{2 * index(from)});
    out.push_back(LinkId{2 * index(to) + 1});
  }
  [[nodiscard]] std::string vertex_name(VertexId vertex) const override {
    return "gpu" + std::to_string(index(vertex));
  }
};

/// The report on a whole run.
inline Report report_of(const RunView& run) {
  Report report = build_report({run.workload, run.workload.ranks(), run.expanded.representatives.multiplicity,
                                run.traffic, run.figures},
                               measure_all(run).whole);
  report.stats.tasks = run.expanded.graph.tasks();
  report.stats.events = run.timeline.events;
  report.stats.ranks = run.expanded.classes();
  return report;
}

/// Builds a run whose tasks are added one by one with their times; `view` is the input of writers.
class RunFixture {
 public:
  explicit RunFixture(std::uint32_t ranks, std::uint32_t classes = 0) : topology(ranks, 2) {
    if (classes == 0) classes = ranks;
    workload.program_of_rank.resize(ranks);
    workload.group_of.assign(std::size_t{ranks} * kSlotCount, kNoGroup);
    workload.group_begin = {0};
    workload.programs.edit().resize(classes);
    workload.stage_memory.resize(classes);
    expanded.graph.pred_begin = {0};
    expanded.ops.resize(classes);
    expanded.position.assign(classes, 0);
    expanded.group_position.assign(std::size_t{classes} * kSlotCount, 0);
    expanded.representatives.multiplicity.assign(classes, ranks / classes);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      workload.program_of_rank.edit()[r] = r / (ranks / classes);
      expanded.representatives.class_of_rank.push_back(r / (ranks / classes));
    }
    for (std::uint32_t c = 0; c < classes; ++c) {
      expanded.representatives.representative.push_back(c * (ranks / classes));
      expanded.program.push_back(c);
    }
  }

  /// A communicator; its members use it through `slot`, for pairs the receiver through `receiver_slot`.
  void add_group(const std::vector<std::uint32_t>& members, Slot slot, Slot receiver_slot) {
    const std::uint32_t group = workload.groups();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Slot which = i == 0 ? slot : receiver_slot;
      workload.group_of.edit()[members[i] * kSlotCount + static_cast<std::size_t>(which)] = group;
      workload.group_members.push_back(members[i]);
    }
    workload.group_begin.push_back(static_cast<std::uint32_t>(workload.group_members.size()));
  }
  void add_group(const std::vector<std::uint32_t>& members, Slot slot) { add_group(members, slot, slot); }

  std::uint32_t add_message(Collective collective, Bytes bytes, Dimension dimension) {
    workload.messages.push_back({collective, bytes, dimension});
    return static_cast<std::uint32_t>(workload.messages.size() - 1);
  }
  std::uint32_t add_work(Picoseconds launch) {
    workload.kernel_sequences.emplace_back();
    prices.push_back({0, launch});
    return static_cast<std::uint32_t>(workload.kernel_sequences.size() - 1);
  }

  /// A task from `start` to `finish` that takes `alone` (default: just as long) on its own.
  std::uint32_t add_task(Picoseconds start, Picoseconds finish, const std::vector<std::uint32_t>& preds = {},
                         Picoseconds alone = -1) {
    TaskGraph& graph = expanded.graph;
    graph.cost.push_back(static_cast<std::uint32_t>(graph.costs.size()));
    graph.costs.push_back({alone < 0 ? finish - start : alone, 0, 0});
    graph.preds.edit().insert(graph.preds.end(), preds.begin(), preds.end());
    graph.pred_begin.push_back(static_cast<std::uint32_t>(graph.preds.size()));
    timeline.start_ps.push_back(start);
    timeline.finish_ps.push_back(finish);
    timeline.makespan_ps = std::max(timeline.makespan_ps, finish);
    return graph.tasks() - 1;
  }
  /// Makes class `cls` execute `op` as `task`.
  void add_op(std::uint32_t cls, const Op& op, std::uint32_t task) {
    workload.programs.edit()[cls].ops.push_back(op);
    expanded.ops.edit()[cls].push_back(
        {task, op.kind == Op::Kind::compute ? ExpandedGraph::OpTasks::kAlone : op.slot});
  }

  /// Returns a view of everything added so far; valid until the next call.
  [[nodiscard]] RunView view() const {
    list_task_groups();
    layout = RunLayout(workload, expanded);
    link_bytes.resize(topology.links().size(), 0);
    traffic = {bytes_sent(match_channels(workload)), traffic_of(topology.links(), link_bytes)};
    return {workload, layout, expanded, timeline, topology, prices, {}, traffic};
  }

  Workload workload;
  mutable ExpandedGraph expanded;
  Timeline timeline;
  StarTopology topology;
  std::vector<ComputePrice> prices;
  mutable std::vector<std::uint64_t> link_bytes;  ///< per link; empty: none

 private:
  /// Bytes that all ranks send in all operations.
  [[nodiscard]] std::array<double, kDimensionCount> bytes_sent(const Channels& channels) const {
    std::array<double, kDimensionCount> sent{};
    for (const Call& call : channels.calls) {
      const Message& message = workload.messages[call.request.work];
      sent[static_cast<std::size_t>(message.dimension)] +=
          static_cast<double>(call.operations) * orrery::bytes_sent(message, channels.channels[call.channel]);
    }
    return sent;
  }

  void list_task_groups() const {
    std::map<std::uint32_t, ExpandedGraph::TaskGroup> task_groups;
    for (std::uint32_t p = 0; p < workload.programs.size(); ++p) {
      for (std::uint32_t op = 0; op < workload.programs[p].ops.size(); ++op)
        task_groups[expanded.ops[p][op].first] = {expanded.ops[p][op].first, p, op};
    }
    std::vector<ExpandedGraph::TaskGroup> list;
    for (const auto& [task, task_group] : task_groups) list.push_back(task_group);
    expanded.task_groups = std::move(list);
  }

  mutable RunLayout layout;
  mutable Traffic traffic;
};

[[nodiscard]] inline Op compute_op(std::uint32_t work, Phase phase, Part part, std::int32_t layer = -1,
                                   std::int32_t micro_batch = -1, Bytes kept = 0) {
  Op op;
  op.phase = phase;
  op.part = part;
  op.work = work;
  op.layer = layer;
  op.micro_batch = micro_batch;
  (kept > 0 ? op.memory_at_start : op.memory_at_finish) = kept;
  return op;
}

[[nodiscard]] inline Op communicate_op(std::uint32_t message, Stream stream, Slot slot,
                                       Phase phase = Phase::forward, Part part = Part::stage,
                                       std::int32_t layer = -1, std::int32_t micro_batch = -1) {
  Op op = compute_op(message, phase, part, layer, micro_batch);
  op.kind = Op::Kind::communicate;
  op.stream = stream;
  op.slot = static_cast<std::uint16_t>(slot);
  return op;
}

/// Describes the shape of a random or large pipeline.
struct PipelineShape {
  std::uint32_t stages = 2;
  std::int32_t micro_batches = 4;
  std::int32_t layers = 4;  ///< per stage
  Picoseconds shortest_ps = 1'000'000;
  Picoseconds longest_ps = 9'000'000;
  bool tensor = true;  ///< an all-reduce after every operation; ranks 2s and 2s + 1 are a pair
};

/// Builds a GPipe pipeline of tensor-parallel pairs with durations drawn at random: forward passes of all
/// micro-batches, then backward passes. Each rank is its own class and program. Every start is the latest
/// finish among the stream's last task and what the task needs.
class RandomPipeline {
 public:
  RandomPipeline(const PipelineShape& shape, unsigned seed)
      : fixture(2 * shape.stages), shape_(shape), random_(seed), free_(2 * shape.stages) {
    work_ = fixture.add_work(shape.shortest_ps / 2);
    reduce_ = fixture.add_message(Collective::all_reduce, 1 << 20, Dimension::tensor);
    send_ = fixture.add_message(Collective::send_recv, 1 << 20, Dimension::pipeline);
    gradients_ = fixture.add_message(Collective::all_reduce, 1 << 22, Dimension::data);
    for (std::uint32_t s = 0; s < shape.stages; ++s) add_groups(s);
    for (std::int32_t m = 0; m < shape.micro_batches; ++m) {
      for (std::uint32_t s = 0; s < shape.stages; ++s) pass(s, m, Phase::forward);
    }
    for (std::int32_t m = 0; m < shape.micro_batches; ++m) {
      for (std::uint32_t s = shape.stages; s-- > 0;) pass(s, m, Phase::backward);
    }
    for (std::uint32_t s = 0; s < shape.stages; ++s) finish(s);
  }

  RunFixture fixture;

 private:
  struct Ready {
    std::array<std::uint32_t, kStreamCount> last{};  // task + 1; 0: none
    std::uint32_t arrived = 0;                       // task + 1 that the next pass waits for
  };

  void add_groups(std::uint32_t s) {
    fixture.add_group({2 * s, 2 * s + 1}, Slot::tensor);
    fixture.add_group({2 * s, 2 * s + 1}, Slot::data);
    if (s + 1 == shape_.stages) return;
    for (std::uint32_t t = 0; t < 2; ++t) {
      fixture.add_group({2 * s + t, 2 * s + 2 + t}, Slot::forward_out, Slot::forward_in);
      fixture.add_group({2 * s + 2 + t, 2 * s + t}, Slot::backward_out, Slot::backward_in);
    }
  }

  /// A task on one stream each of some ranks, after `needs` (tasks + 1).
  std::uint32_t run(const std::vector<std::pair<std::uint32_t, Op>>& ops, std::vector<std::uint32_t> needs) {
    for (const auto& [rank, op] : ops) needs.push_back(free_[rank].last[static_cast<std::size_t>(op.stream)]);
    std::erase(needs, 0U);
    Picoseconds start = 0;
    for (std::uint32_t& need : needs) start = std::max(start, fixture.timeline.finish_ps[--need]);
    const Picoseconds duration =
        std::uniform_int_distribution<Picoseconds>(shape_.shortest_ps, shape_.longest_ps)(random_);
    const std::uint32_t task = fixture.add_task(start, start + duration, needs, duration * 3 / 4);
    for (const auto& [rank, op] : ops) {
      fixture.add_op(rank, op, task);
      free_[rank].last[static_cast<std::size_t>(op.stream)] = task + 1;
    }
    return task + 1;
  }

  void pass(std::uint32_t s, std::int32_t m, Phase phase) {
    const bool forward = phase == Phase::forward;
    std::array<std::uint32_t, 2> done{free_[2 * s].arrived, free_[2 * s + 1].arrived};
    for (std::int32_t l = 0; l < shape_.layers; ++l) {
      const std::int32_t layer = static_cast<std::int32_t>(s) * shape_.layers + l;
      for (std::uint32_t t = 0; t < 2; ++t) {
        const Op op = compute_op(work_, phase, l % 2 == 0 ? Part::attention : Part::mlp, layer, m,
                                 forward ? 1'000'000 : -1'000'000);
        done[t] = run({{2 * s + t, op}}, {done[t]});
      }
      if (!shape_.tensor) continue;
      const Op op = communicate_op(reduce_, Stream::tensor, Slot::tensor, phase, Part::mlp, layer, m);
      done[0] = done[1] = run({{2 * s, op}, {2 * s + 1, op}}, {done[0], done[1]});
    }
    if (forward ? s + 1 < shape_.stages : s > 0) {
      for (std::uint32_t t = 0; t < 2; ++t) send(2 * s + t, m, phase, done[t]);
    }
  }

  void send(std::uint32_t rank, std::int32_t m, Phase phase, std::uint32_t done) {
    const bool forward = phase == Phase::forward;
    const std::uint32_t peer = forward ? rank + 2 : rank - 2;
    const Op out =
        communicate_op(send_, forward ? Stream::send_forward : Stream::send_backward,
                       forward ? Slot::forward_out : Slot::backward_out, phase, Part::stage, -1, m);
    const Op in = communicate_op(send_, forward ? Stream::recv_forward : Stream::recv_backward,
                                 forward ? Slot::forward_in : Slot::backward_in, phase, Part::stage, -1, m);
    free_[peer].arrived = run({{rank, out}, {peer, in}}, {done});
  }

  void finish(std::uint32_t s) {
    const auto compute = static_cast<std::size_t>(Stream::compute);
    const Op reduce = communicate_op(gradients_, Stream::data, Slot::data, Phase::synchronize, Part::bucket);
    const std::uint32_t reduced = run({{2 * s, reduce}, {2 * s + 1, reduce}},
                                      {free_[2 * s].last[compute], free_[2 * s + 1].last[compute]});
    for (std::uint32_t t = 0; t < 2; ++t) {
      run({{2 * s + t, compute_op(work_, Phase::optimize, Part::optimizer)}}, {reduced});
    }
  }

  PipelineShape shape_;
  std::mt19937 random_;
  std::vector<Ready> free_;
  std::uint32_t work_ = 0, reduce_ = 0, send_ = 0, gradients_ = 0;
};

}  // namespace orrery::test
