// Times of serving iterations: closed forms on a GPU without constants, by hand and to the picosecond, and
// the sum of an iteration against its programs run through the engine.
#include "sim/run/iteration_cost.hpp"

#include <doctest/doctest.h>

#include <array>

#include "orrery/error.hpp"
#include "sim/cost/channel_pricer.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/engine/engine.hpp"
#include "sim/matching/task_groups.hpp"
#include "sim/run/prepare.hpp"
#include "sim/step/step.hpp"
#include "sim/symmetry/class_positions.hpp"
#include "sim/symmetry/fold.hpp"
#include "sim/tasks/expand.hpp"
#include "sim/tasks/interference.hpp"
#include "tests/sim/run/experiments.hpp"
#include "workloads/inference/iteration_steps.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

/// 10^15 FLOP/s and 10^12 B/s, so that a byte takes 1 ps; links of 10^11 B/s, so that one takes 10 ps there.
/// No constants.
constexpr const char* kServed = R"({
  "model": {"kind": "transformer", "layers": 4, "hidden": 1024, "heads": 8, "vocab": 1000, "seq_length": 4096,
            "attention": "flash", "positions": "rotary", "biases": false, "normalization": "rmsnorm",
            "tied_embeddings": false},
  "cluster": {"gpu": {"peak_tflops": {"bf16": 1000}, "memory_gb": 80, "memory_gb_per_s": 1000},
              "gpus_per_node": 8, "nodes": 1,
              "node": {"kind": "nvswitch", "link_gb_per_s": 100, "latency_us": 1}},
  "stack": "ideal"})";

IterationBatch decoding(std::int64_t requests, std::int64_t context) {
  IterationBatch batch;
  batch.decode_requests = batch.decode_tokens = batch.results = requests;
  batch.decode_context = requests * context;
  return batch;
}

IterationBatch prompts(std::int64_t requests, std::int64_t tokens) {
  IterationBatch batch;
  batch.prompt_requests = batch.results = requests;
  batch.prompt_tokens = batch.prompt_context = requests * tokens;
  batch.prompt_pairs = requests * tokens * (tokens + 1) / 2;
  return batch;
}

/// Returns the cost of replicas that are all alike.
std::unique_ptr<IterationCost> cost_of(const PreparedExperiment& prepared, const Inference& inference,
                                       Memo& memo) {
  return std::move(
      iteration_costs(prepared, inference, replica_kinds(prepared.experiment).kinds, memo).front());
}

ServingMemory memory_of(const Experiment& experiment, const Inference& inference = {}) {
  return serving_memory(experiment, inference, replica_kinds(experiment).kinds.front(), 2048);
}

struct Served {
  explicit Served(const std::vector<std::string>& overrides = {}, const Inference& how = {})
      : experiment(read(kServed, overrides)),
        inference(how),
        prepared(prepare(experiment, memo)),
        cost(cost_of(prepared, inference, memo)) {}

  Experiment experiment;
  Inference inference;
  Memo memo;
  PreparedExperiment prepared;
  std::unique_ptr<IterationCost> cost;
};

/// Routes of messages, priced anew each time.
class PlainPrices : public ChannelPrices {
 public:
  PlainPrices(const Experiment& experiment, const Machine& machine, const Workload& workload,
              const Channels& channels)
      : workload_(workload),
        channels_(channels),
        pricer_(*machine.topology, machine.link_kinds, experiment.plan.collectives, 1) {}
  std::shared_ptr<const ChannelRoutes> routes(std::uint32_t channel, const Message& message) override {
    return std::make_shared<ChannelRoutes>(pricer_.route(workload_, channels_.channels[channel], message));
  }
  std::shared_ptr<const ChannelPrice> price(std::uint32_t channel, const Message& message) override {
    return std::make_shared<ChannelPrice>(
        pricer_.price(workload_, channels_.channels[channel], message, nullptr));
  }

 private:
  const Workload& workload_;
  const Channels& channels_;
  ChannelPricer pricer_;
};

/// Programs of stages that follow each other: each operation after the one before it.
struct StagePrograms {
  StagePrograms(const Experiment& experiment, const Inference& inference, const IterationBatch& batch)
      : spec(experiment.plan), slots(spec) {
    const IterationSteps steps(experiment, inference);
    const std::vector<ServedStage>& stages = steps.model().stages();
    for (std::size_t s = 0; s < stages.size(); ++s) {
      Program program;
      if (s > 0) {
        send(program, Slot::forward_in, steps.stage_message_bytes(batch.tokens()), Dimension::pipeline,
             Collective::send_recv);
        if (steps.stage_message_bytes(batch.tokens()) < steps.stage_output_bytes(batch.tokens()))
          send(program, Slot::tensor, steps.stage_output_bytes(batch.tokens()), Dimension::tensor,
               Collective::all_gather);
      }
      for (const Step& step : steps.write_stage(stages[s], batch, false, workload).list) add(program, step);
      if (s + 1 < stages.size())
        send(program, Slot::forward_out, steps.stage_message_bytes(batch.tokens()), Dimension::pipeline,
             Collective::send_recv);
      workload.programs.push_back(std::move(program));
    }
    workload.stage_memory.resize(workload.programs.size());
    add_communicators(spec, workload);
  }

  void send(Program& program, Slot slot, Bytes bytes, Dimension dimension, Collective collective) {
    Step step;
    step.kind = Op::Kind::communicate;
    step.communicator = slot;
    step.work = add_message(workload, {collective, bytes, dimension});
    add(program, step);
  }

  void add(Program& program, const Step& step) const {
    Op op;
    op.kind = step.kind;
    op.work = step.work;
    op.stream = step.kind == Op::Kind::compute ? Stream::compute : stream_of(step.communicator);
    op.slot = step.kind == Op::Kind::compute ? 0 : slots[step.communicator];
    op.dep_begin = static_cast<std::uint32_t>(program.deps.size());
    if (!program.ops.empty()) program.deps.push_back(static_cast<std::uint32_t>(program.ops.size() - 1));
    op.dep_end = static_cast<std::uint32_t>(program.deps.size());
    program.ops.push_back(op);
  }

  CommunicatorSpec spec;
  SlotNumbers slots;
  Workload workload;
};

Picoseconds run_programs(const Experiment& experiment, const Inference& inference,
                         const IterationBatch& batch) {
  StagePrograms made(experiment, inference, batch);
  Memo memo;
  const auto machine = machine_of(experiment.cluster, memo);
  const Channels channels = match_channels(made.workload);
  PlainPrices priced(experiment, *machine, made.workload, channels);
  const PriceList list = price(made.workload, channels, experiment, false, priced);
  const Folded each = unfolded(made.workload, {});
  const ClassPositions positions = class_positions(made.workload, channels, each);
  ExpandedGraph expanded =
      expand(made.workload, channels, make_task_groups(made.workload, channels), positions);
  expanded.representatives = positions.representatives;
  const auto orders = std::make_shared<const InterferenceOrders>(interference_orders(made.workload));
  Interference interference(made.workload, channels, list, orders);
  set_costs(made.workload, channels, list, each, interference, expanded);
  return run_contention_free(expanded.graph).makespan_ps;
}

Picoseconds sum_over_stages(IterationCost& cost, const IterationBatch& batch) {
  Picoseconds sum = 0;
  for (std::uint32_t stage = 0; stage < cost.stages(); ++stage)
    sum += cost.stage_ps(stage, batch) + cost.handover_ps(stage, batch);
  return sum;
}

}  // namespace

TEST_CASE("a decoded token takes the bytes that it reads over the bandwidth") {
  // One token that attends to 100, itself among them; 16 bits; 2,048 B of residual stream, 1 ps a byte.
  //   embedding   2 x 2,048                                                  4,096
  //   a layer     norm and residual 4 x 2,048                                8,192
  //               queries, keys, values: 2 (1,024 + 1,024 x 3,072 + 3,072)   6,299,648
  //               rotation and cache: 2 x 2 x (1,024 + 2,048)                12,288
  //               attention: 100 x 2,048 x 2 + 2 (1,024 + 1,024)             413,696
  //               output: 2 (1,024 + 1,024 x 1,024 + 1,024)                  2,101,248
  //               norm and residual                                          8,192
  //               MLP: 2 x 2 (1,024 + 1,024 x 4,096 + 4,096)                 16,797,696
  //               activation: 2 x 4,096 x 2                                  16,384
  //   head        norm 4 x 2,048                                             8,192
  //               logits: 2 (1,024 + 1,024 x 1,000 + 1,000)                  2,052,048
  //               choice: 10 x 1,000                                         10,000
  Served one;
  const Picoseconds layer = 8'192 + 6'299'648 + 12'288 + 413'696 + 2'101'248 + 8'192 + 16'797'696 + 16'384;
  const Picoseconds time = one.cost->stage_ps(0, decoding(1, 100));
  CHECK(time == 4'096 + 4 * layer + 8'192 + 2'052'048 + 10'000);
  // No less than the weights that it reads: 12 x 1,024^2 a layer and the head, 2 B each.
  CHECK(time >= 2 * (4 * 12 * 1024 * 1024 + 1'024'000));
  // Products of 32 tokens read weights once, too: 31 more rows of all operands and results, and caches.
  CHECK(one.cost->stage_ps(0, decoding(32, 100)) < 2 * time);
}

TEST_CASE("weights in fewer bits are read in fewer bits") {
  // A layer has 12 x 1,024^2 weights: 8 bits save one byte for each; 4 bits take 133 B in place of 512 for
  // 256 of them.
  const Picoseconds wide = Served().cost->stage_ps(0, decoding(1, 100));
  constexpr Picoseconds kWeights = 4 * 12 * 1024 * 1024;
  Inference eight;
  eight.weights = WeightStorage::int8;
  CHECK(Served({}, eight).cost->stage_ps(0, decoding(1, 100)) == wide - kWeights);
  Inference four;
  four.weights = WeightStorage::int4;
  CHECK(Served({}, four).cost->stage_ps(0, decoding(1, 100)) == wide - kWeights * (512 - 133) / 256);
  // A cache in 8 bits: 100 x 2,048 B less a layer.
  Inference cache;
  for (const CachePrecision eight_bits : {CachePrecision::fp8, CachePrecision::int8}) {
    cache.kv_precision = eight_bits;
    CHECK(Served({}, cache).cost->stage_ps(0, decoding(1, 100)) == wide - 4 * 100 * 2048);
  }
  // In 4 bits with a scale and a zero for 128 values: 17/64 of 4,096 B.
  cache.kv_precision = CachePrecision::int4;
  CHECK(Served({}, cache).cost->stage_ps(0, decoding(1, 100)) == wide - 4 * 100 * (4096 - 1088));
}

TEST_CASE("long prompts are bound by products") {
  // 32 prompts of 2,048 tokens: 2 FLOPs a weight and token, and 4 x 1,024 a layer and pair; the head makes 32
  // tokens. 10^15 FLOP/s are 1,000 FLOPs a ps.
  Served one({"cluster.gpu.memory_gb_per_s=1000000"});
  const std::int64_t tokens = 32 * 2048;
  const std::int64_t pairs = 32 * 2048 * 2049LL / 2;
  const std::int64_t flops = 2 * tokens * 4 * 12 * 1024 * 1024 + 4 * 4 * 1024 * pairs + 2 * 32 * 1024 * 1000;
  const Picoseconds time = one.cost->stage_ps(0, prompts(32, 2048));
  CHECK(time >= flops / 1000);
  CHECK(static_cast<double>(time) < 1.01 * static_cast<double>(flops) / 1000);
}

TEST_CASE("communication of a layer, times the layers") {
  // Two all-reduces of 64 x 2,048 B a layer and one after the embedding, and the logits are gathered: on
  // rings of 8, 14 steps of 1/8 and of 1 us.
  const auto reduce = [](Bytes bytes) { return 14 * (1'000'000 + bytes / 8 * 10); };
  Served cut(
      {"plan.tensor_parallel=8", "plan.collectives.all-reduce=ring", "plan.collectives.all-gather=ring"});
  Served fast({"plan.tensor_parallel=8", "plan.collectives.all-reduce=ring",
               "plan.collectives.all-gather=ring", "cluster.node.link_gb_per_s=50000",
               "cluster.node.latency_us=0"});
  const IterationBatch batch = decoding(64, 100);
  const Picoseconds gather = 7 * (1'000'000 + 64 * 125 * 2 * 10);
  const Picoseconds messages = cut.cost->stage_ps(0, batch) - fast.cost->stage_ps(0, batch);
  const Picoseconds expected = (2 * 4 + 1) * reduce(64 * 2048) + gather;
  CHECK(messages <= expected);
  CHECK(messages >= expected - expected / 500);  // what the fast links take
  const StageWork work = cut.cost->stage_work(0, batch);
  CHECK(work.messages_ps[static_cast<std::size_t>(Dimension::tensor)] == expected);
  CHECK(work.total_ps() == cut.cost->stage_ps(0, batch));
}

TEST_CASE("stages are as equal as their layers, and embedding and head beside them") {
  // One of two layers each. The difference is the embedding, 2 x 2,048 B, against the head.
  Served two({"plan.pipeline_parallel=2"});
  const IterationBatch batch = decoding(1, 100);
  const Picoseconds embedding = 4'096;
  const Picoseconds head = 8'192 + 2'052'048 + 10'000;
  CHECK(two.cost->stage_ps(1, batch) - head == two.cost->stage_ps(0, batch) - embedding);
  // Four stages of one layer take as long together as one stage of all layers, plus the messages between
  // them.
  Served four({"plan.pipeline_parallel=4"});
  Picoseconds busy = 0;
  for (std::uint32_t stage = 0; stage < 4; ++stage) busy += four.cost->stage_ps(stage, batch);
  CHECK(busy == Served().cost->stage_ps(0, batch));
}

TEST_CASE("stages differ from their mean by the stated imbalance") {
  // The law of load balance: |sum of C_l over a stage - mean| <= epsilon. Of 4 equal layers, 3 and 1 are half
  // of the mean of 2 away from it, 2 and 2 are not: epsilon is layers' times alone.
  const IterationBatch batch = decoding(16, 100);
  const auto layers = [&](const std::string& division) {
    Served one({"plan.pipeline_parallel=2", "plan.stage_layers=" + division});
    const Picoseconds embedding = 16 * 4'096;
    const Picoseconds head = Served().cost->stage_ps(0, batch) - embedding -
                             2 * (one.cost->stage_ps(0, batch) - embedding) / (division[1] - '0') * 2;
    return std::pair(one.cost->stage_ps(0, batch) - embedding, one.cost->stage_ps(1, batch) - head);
  };
  const auto [even_first, even_second] = layers("[2,2]");
  CHECK(even_first == even_second);
  const auto [more, less] = layers("[3,1]");
  const Picoseconds mean = (more + less) / 2;
  CHECK(more + less == even_first + even_second);
  CHECK(2 * (more - mean) == mean);  // epsilon = 1/2
  CHECK(2 * (mean - less) == mean);
}

TEST_CASE("N ranks hold an N-th of what is cut") {
  // The law of memory: M in all before and after, M / N on each. Norms are not cut: 4 x 2 x 1,024 gains and
  // 1,024, 2 B each, on every rank; the rest adds up to what one rank holds.
  const auto weights = [](std::int64_t ranks) {
    const std::string degree = "plan.tensor_parallel=" + std::to_string(ranks);
    return memory_of(read(kServed, {degree})).weights;
  };
  constexpr Bytes kCopied = 2 * (4 * 2 * 1024 + 1024);
  for (const std::int64_t ranks : {2, 4, 8})
    CHECK((weights(ranks) - kCopied) * ranks == weights(1) - kCopied);
}

TEST_CASE("an iteration takes what its programs take in the engine") {
  IterationBatch mixed = decoding(12, 300);
  mixed.prompt_requests = 2;
  mixed.prompt_tokens = 500;
  mixed.prompt_context = 700;
  mixed.prompt_pairs = 90'000;
  mixed.results = 13;
  for (const std::vector<std::string>& plan : std::vector<std::vector<std::string>>{
           {},
           {"plan.tensor_parallel=4"},
           {"plan.tensor_parallel=2", "plan.pipeline_parallel=2"},
           {"plan.tensor_parallel=2", "plan.pipeline_parallel=4", "plan.scatter_gather=false"}}) {
    std::vector<std::string> overrides = plan;
    overrides.emplace_back("cluster.gpu.kernel_launch_us=1.5");
    overrides.emplace_back("cluster.gpu.gemm_start_us=3");
    Served one(overrides);
    for (const IterationBatch& batch : {decoding(1, 10), decoding(40, 900), prompts(3, 250), mixed})
      CHECK(sum_over_stages(*one.cost, batch) == run_programs(one.experiment, one.inference, batch));
  }
}

TEST_CASE("the host issues kernels, or a graph of all") {
  // 2 + 4 x 10 + 1 kernels on one rank: embedding 1; 4 x (4 of the inputs, 1 of attention, 1 output, 4 of the
  // MLP); norm, logits, choice. 100 us each outlast them.
  Served eager({"software.forward_issue_us=100"});
  CHECK(eager.cost->stage_ps(0, decoding(1, 100)) == (1 + 4 * 9 + 3) * 100'000'000LL);
  Served graphs({"software.forward_issue_us=100", "plan.cuda_graphs=step"});
  CHECK(graphs.cost->stage_ps(0, decoding(1, 100)) == Served().cost->stage_ps(0, decoding(1, 100)));
  CHECK(graphs.cost->stage_ps(0, prompts(1, 8)) == eager.cost->stage_ps(0, prompts(1, 8)));
  Served after({"software.iteration_us=200", "software.request_us=3", "software.synchronize_passes=true"});
  CHECK(after.cost->between_ps(decoding(10, 1), 20'000'000) == (200 + 30) * 1'000'000LL);
  // The host needs 30 us for 10 requests, of which 20 us run beside an iteration of 20 us.
  Served beside({"software.iteration_us=200", "software.request_us=3", "software.synchronize_passes=false"});
  CHECK(beside.cost->between_ps(decoding(10, 1), 20'000'000) == (200 + 10) * 1'000'000LL);
  CHECK(beside.cost->between_ps(decoding(10, 1), 40'000'000) == 200 * 1'000'000LL);
}

TEST_CASE("one-shot all-reduces read what the others have") {
  // With 8 ranks, 2,048 B of each of the 7 others arrive at 10 ps a byte, after 5 us; a ring takes 14 us of
  // latencies.
  Served engine(
      {"plan.tensor_parallel=8", "software.one_shot_reduce_us=5", "plan.collectives.all-gather=ring"});
  Served library(
      {"plan.tensor_parallel=8", "plan.collectives.all-reduce=ring", "plan.collectives.all-gather=ring"});
  const IterationBatch batch = decoding(1, 100);
  const Picoseconds saved = 14 * (1'000'000 + 2048 / 8 * 10) - (5'000'000 + 7 * 2048 * 10);
  CHECK(library.cost->stage_ps(0, batch) - engine.cost->stage_ps(0, batch) == 9 * saved);
  // Cards without peer access cannot.
  const std::vector<std::string> cards{"plan.tensor_parallel=8", "cluster.node.kind=pcie-host"};
  std::vector<std::string> asked = cards;
  asked.emplace_back("software.one_shot_reduce_us=5");
  CHECK(Served(asked).cost->stage_ps(0, batch) == Served(cards).cost->stage_ps(0, batch));
}

TEST_CASE("a GPU holds its part of the weights, and of what tokens leave") {
  // 12 x 1,024^2 weights and 2 x 1,024 gains a layer, two tables of 1,000 x 1,024 and a norm, 2 B each.
  const auto memory = [](const std::vector<std::string>& overrides, const Inference& how = {}) {
    return memory_of(read(kServed, overrides), how);
  };
  const std::int64_t gains = 4 * 2 * 1024 + 1024;
  CHECK(memory({}).weights == 2 * (4 * 12 * 1024 * 1024 + 2 * 1'024'000 + gains));
  CHECK(memory({"plan.tensor_parallel=8"}).weights ==
        2 * ((4 * 12 * 1024 * 1024 + 2 * 1'024'000) / 8 + gains));
  Inference four;
  four.weights = WeightStorage::int4;
  CHECK(memory({}, four).weights == 4 * 12 * 1024 * 1024 / 256 * 133 + 2 * (2 * 1'024'000 + gains));
  // Keys and values of 8 heads of 128 in 4 layers, 2 B; of 2 heads, which 8 ranks copy, one each.
  CHECK(memory({}).cache_per_token == 4 * 2 * 1024 * 2);
  CHECK(memory({"plan.tensor_parallel=8"}).cache_per_token == 4 * 2 * 128 * 2);
  CHECK(memory({"plan.tensor_parallel=8", "model.kv_heads=2"}).cache_per_token == 4 * 2 * 128 * 2);
  CHECK(memory({}).usable == 72'000'000'000);  // 0.9 of 80 GB
}

TEST_CASE("latent vectors are cached whole on every rank") {
  const std::vector<std::string> latent{
      R"(model.latent_attention={"kv_rank": 256, "rope_dim": 64, "nope_dim": 128, "value_dim": 128})",
      "plan.tensor_parallel=8"};
  CHECK(memory_of(read(kServed, latent)).cache_per_token == 4 * (256 + 64) * 2);
}

TEST_CASE("models that are not served say so") {
  const std::string encoder = R"({"model": "t5-11b", "cluster": "dgx-a100-80gb"})";
  Memo memo;
  const PreparedExperiment prepared = prepare(read(encoder), memo);
  CHECK_THROWS_AS((void)cost_of(prepared, {}, memo), InputError);
}
