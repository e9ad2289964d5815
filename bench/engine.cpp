// Hot paths of the engine. Items are tasks. Graphs: `ring` is a ring
// all-reduce as one message per rank and step; `step` is a 3D-parallel training step (TP 8, PP 8, DP n,
// 32 layers, 16 micro-batches, 1F1B) with a task per half layer and GPU and a send per GPU and stage;
// `gossip` is rounds of mixing and sends to four neighbours on a 32 x 32 torus.
#include "sim/engine/engine.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "sim/engine/task_graph_builder.hpp"
#include "sim/network/flow_network.hpp"

namespace {

using namespace orrery;

constexpr std::int64_t kBandwidth = 50'000'000'000;
constexpr Picoseconds kMillisecond = 1'000'000'000;

TaskGraph ring(std::uint32_t ranks) {
  TaskGraphBuilder build;
  build.reserve(std::size_t{2} * ranks * (ranks - 1), std::size_t{2} * ranks * (ranks - 1));
  std::vector<CostId> cost;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const LinkId link{rank};
    cost.push_back(build.add_message((1 << 30) / ranks, kBandwidth, 1'000'000, {&link, 1}));
  }
  for (std::uint32_t step = 0; step < 2 * (ranks - 1); ++step) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (step == 0) {
        build.add_task(cost[rank]);
      } else {
        build.add_task(cost[rank], {TaskId{(step - 1) * ranks + (rank + ranks - 1) % ranks}});
      }
    }
  }
  return std::move(build).finish();
}

TaskGraph gossip(std::uint32_t rounds) {
  constexpr std::uint32_t kSide = 32;
  constexpr std::uint32_t kNodes = kSide * kSide;
  TaskGraphBuilder build;
  std::mt19937_64 random(1);
  std::vector<CostId> send;
  for (std::uint32_t i = 0; i < 4 * kNodes; ++i) {
    const LinkId link{i};
    send.push_back(build.add_message(100'000'000, kBandwidth, 1'000'000, {&link, 1}));
  }
  std::vector<std::vector<TaskId>> inbox(kNodes);
  std::vector<TaskId> mixes(kNodes);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      const auto jitter = static_cast<Picoseconds>(random() % (kMillisecond / 5));
      mixes[node] = build.add_task(build.add_duration(kMillisecond * 9 / 10 + jitter), inbox[node]);
      inbox[node] = {mixes[node]};
    }
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      const std::uint32_t x = node % kSide;
      const std::uint32_t row = node - x;
      const std::array to{row + (x + 1) % kSide, row + (x + kSide - 1) % kSide, (node + kSide) % kNodes,
                          (node + kNodes - kSide) % kNodes};
      for (std::uint32_t d = 0; d < 4; ++d) {
        inbox[to[d]].push_back(build.add_task(send[4 * node + d], {mixes[node]}));
      }
    }
  }
  return std::move(build).finish();
}

/// Tasks of a replica, stage after stage and in program order; a receive points to a task of another
/// stage, so ids are not in topological order.
class TrainingStep {
 public:
  explicit TrainingStep(std::uint32_t replicas) : replicas_(replicas) {}

  TaskGraph make() && {
    tensor_reduce_ = build_.add_duration(kMillisecond / 5);
    for (replica_ = 0; replica_ < replicas_; ++replica_) {
      for (stage_ = 0; stage_ < kPipeline; ++stage_) add_stage();
    }
    for (stage_ = 0; stage_ < kPipeline; ++stage_) add_gradient_reduces();
    for (const auto& [from, to] : receives()) build_.add_edge(from, to);
    return std::move(build_).finish();
  }
  [[nodiscard]] static std::uint32_t links(std::uint32_t replicas) { return replicas * kPipeline * kTensor; }

 private:
  static constexpr std::uint32_t kTensor = 8;
  static constexpr std::uint32_t kPipeline = 8;
  static constexpr std::uint32_t kMicroBatches = 16;
  static constexpr std::uint32_t kLayersPerStage = 4;

  void add_stage() {
    last_ = {};
    const std::uint32_t warm_up = kPipeline - 1 - stage_;
    for (std::uint32_t i = 0; i < kMicroBatches + warm_up; ++i) {
      if (i < kMicroBatches) add_pass(false, i);
      if (i >= warm_up) add_pass(true, i - warm_up);
    }
    ends_.push_back(last_.front());
  }

  void add_pass(bool backward, std::uint32_t micro_batch) {
    const Picoseconds base = backward ? kMillisecond : kMillisecond / 2;
    for (std::uint32_t half = 0; half < 2 * kLayersPerStage; ++half) {
      std::vector<TaskId> computes;
      for (std::uint32_t gpu = 0; gpu < kTensor; ++gpu) {
        const auto jitter = static_cast<Picoseconds>(random_() % static_cast<std::uint64_t>(base / 25));
        computes.push_back(build_.add_task(build_.add_duration(base - base / 50 + jitter), last_));
      }
      if (half == 0) heads_.push_back({computes.front(), replica_, stage_, backward, micro_batch});
      last_ = {build_.add_task(tensor_reduce_, computes)};
    }
    if (backward ? stage_ > 0 : stage_ + 1 < kPipeline) add_sends(backward, micro_batch);
  }

  void add_sends(bool backward, std::uint32_t micro_batch) {
    for (std::uint32_t gpu = 0; gpu < kTensor; ++gpu) {
      const LinkId link{(replica_ * kPipeline + stage_) * kTensor + gpu};
      const CostId cost = build_.add_message(16 << 20, kBandwidth, 2'000'000, {&link, 1});
      const TaskId send = build_.add_task(cost, last_);
      const std::uint32_t receiver = backward ? stage_ - 1 : stage_ + 1;
      if (gpu == 0) sends_[key(replica_, receiver, backward, micro_batch)] = send;
    }
  }

  void add_gradient_reduces() {
    std::vector<TaskId> members;
    for (std::uint32_t d = 0; d < replicas_; ++d) members.push_back(ends_[d * kPipeline + stage_]);
    const CostId cost = build_.add_duration(10 * kMillisecond);
    for (std::uint32_t gpu = 0; gpu < kTensor; ++gpu) {
      TaskId latest = build_.add_task(cost, members);
      for (std::uint32_t layer = 1; layer < kLayersPerStage; ++layer)
        latest = build_.add_task(cost, {latest});
    }
  }

  std::vector<std::pair<TaskId, TaskId>> receives() {
    std::vector<std::pair<TaskId, TaskId>> out;
    for (const Head& head : heads_) {
      if (head.backward ? head.stage + 1 == kPipeline : head.stage == 0) continue;
      const TaskId send = sends_[key(head.replica, head.stage, head.backward, head.micro_batch)];
      for (std::uint32_t gpu = 0; gpu < kTensor; ++gpu) {
        out.emplace_back(TaskId{index(send) + gpu}, TaskId{index(head.first) + gpu});
      }
    }
    return out;
  }

  std::size_t key(std::uint32_t replica, std::uint32_t stage, bool backward, std::uint32_t micro_batch) {
    const std::size_t place =
        ((replica * kPipeline + stage) * 2 + (backward ? 1 : 0)) * kMicroBatches + micro_batch;
    if (sends_.size() <= place) sends_.resize(replicas_ * kPipeline * 2 * kMicroBatches);
    return place;
  }

  struct Head {
    TaskId first;
    std::uint32_t replica;
    std::uint32_t stage;
    bool backward;
    std::uint32_t micro_batch;
  };
  std::uint32_t replicas_;
  TaskGraphBuilder build_;
  std::mt19937_64 random_{1};
  CostId tensor_reduce_{};
  std::uint32_t replica_ = 0;
  std::uint32_t stage_ = 0;
  std::vector<TaskId> last_;   // what the stage's next compute tasks wait for
  std::vector<TaskId> ends_;   // last task of each replica and stage
  std::vector<TaskId> sends_;  // first of eight, by receiver
  std::vector<Head> heads_;    // first of the eight tasks that wait for a receive
};

/// The same tasks with ids in topological order.
TaskGraph sorted(const TaskGraph& graph) {
  const Timeline timeline = run_contention_free(graph);
  std::vector<std::uint32_t> old_id(graph.tasks());
  for (std::uint32_t i = 0; i < old_id.size(); ++i) old_id[i] = i;
  std::sort(old_id.begin(), old_id.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(timeline.start_ps[a], a) < std::pair(timeline.start_ps[b], b);
  });
  std::vector<std::uint32_t> new_id(old_id.size());
  for (std::uint32_t i = 0; i < old_id.size(); ++i) new_id[old_id[i]] = i;
  TaskGraph out{.cost = {},
                .pred_begin = {0},
                .preds = {},
                .costs = graph.costs,
                .legs = graph.legs,
                .uses = graph.uses};
  for (const std::uint32_t old : old_id) {
    out.cost.push_back(graph.cost[old]);
    for (const std::uint32_t pred : graph.predecessors(old)) out.preds.push_back(new_id[pred]);
    out.pred_begin.push_back(static_cast<std::uint32_t>(out.preds.size()));
  }
  return out;
}

void count(benchmark::State& state, const TaskGraph& graph, const Timeline& timeline) {
  state.SetItemsProcessed(state.iterations() * graph.tasks());
  state.counters["tasks"] = graph.tasks();
  state.counters["simulated_s"] = to_seconds(timeline.makespan_ps);
}

void run_free(benchmark::State& state, const TaskGraph& graph) {
  Timeline timeline;
  for (auto _ : state) {
    timeline = run_contention_free(graph);
    benchmark::DoNotOptimize(timeline.makespan_ps);
  }
  count(state, graph, timeline);
}

void run_events(benchmark::State& state, const TaskGraph& graph, std::uint32_t links) {
  FlowNetwork network(std::vector<std::int64_t>(links, kBandwidth));
  Timeline timeline;
  for (auto _ : state) {
    timeline = run(graph, network);
    benchmark::DoNotOptimize(timeline.makespan_ps);
  }
  count(state, graph, timeline);
}

std::uint32_t argument(const benchmark::State& state) { return static_cast<std::uint32_t>(state.range(0)); }

void sweep_ring(benchmark::State& state) { run_free(state, ring(argument(state))); }
void sweep_step(benchmark::State& state) { run_free(state, sorted(TrainingStep(argument(state)).make())); }
void kahn_step(benchmark::State& state) { run_free(state, TrainingStep(argument(state)).make()); }
void events_ring(benchmark::State& state) { run_events(state, ring(argument(state)), argument(state)); }
void events_step(benchmark::State& state) {
  run_events(state, TrainingStep(argument(state)).make(), TrainingStep::links(argument(state)));
}
void events_gossip(benchmark::State& state) { run_events(state, gossip(argument(state)), 4 * 1024); }
void build_ring(benchmark::State& state) {
  std::uint32_t tasks = 0;
  for (auto _ : state) tasks = ring(argument(state)).tasks();
  state.SetItemsProcessed(state.iterations() * tasks);
}
void build_step(benchmark::State& state) {
  std::uint32_t tasks = 0;
  for (auto _ : state) tasks = TrainingStep(argument(state)).make().tasks();
  state.SetItemsProcessed(state.iterations() * tasks);
}

BENCHMARK(sweep_ring)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(sweep_step)->Arg(16)->Arg(160)->Unit(benchmark::kMillisecond);
BENCHMARK(kahn_step)->Arg(16)->Arg(160)->Unit(benchmark::kMillisecond);
BENCHMARK(events_ring)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(events_step)->Arg(1)->Arg(16)->Arg(160)->Unit(benchmark::kMillisecond);
BENCHMARK(events_gossip)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(build_ring)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(build_step)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
