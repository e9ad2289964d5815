// Whole runs of mixtures of experts.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;

namespace {

/// Four layers of 8 experts, of which a token takes 2, on 16 GPUs.
Experiment mixture(const std::vector<std::string>& overrides = {}) {
  return read(
      R"({"model": {"kind": "moe-transformer", "layers": 4, "hidden": 512, "ffn_hidden": 2048, "heads": 8,
                            "vocab": 1024, "seq_length": 512, "attention": "flash", "gated_mlp": true, "biases": false,
                            "dropout": false, "experts": 8, "experts_per_token": 2, "expert_ffn_hidden": 1024},
                  "cluster": {"base": "dgx-h100", "nodes": 2},
                  "plan": {"expert_parallel": 8, "global_batch_size": 32, "zero_stage": 1}})",
      overrides);
}

std::int64_t sent(const Report& report, Dimension dimension) {
  return static_cast<std::int64_t>(report.bytes_per_gpu[static_cast<std::size_t>(dimension)]);
}

std::string diagnostic_of(const std::vector<std::string>& overrides) {
  try {
    (void)mixture(overrides);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("runs with experts are the same folded and unfolded, in both networks") {
  const std::vector<std::vector<std::string>> plans{
      {"plan.expert_parallel=8"},
      {"plan.expert_parallel=16", "model.experts=16", "plan.dispatcher=hierarchical"},
      {"plan.expert_parallel=16", "model.experts=16", "plan.dispatcher=deduplicated"},
      {"plan.expert_parallel=4", "plan.tensor_parallel=2", "plan.sequence_parallel=true"},
      {"plan.expert_parallel=4", "model.shared_experts=1", "plan.tensor_parallel=2"},
      {"plan.expert_parallel=4", "plan.tensor_parallel=2", "plan.sequence_parallel=true",
       "plan.expert_tensor_parallel=1", "model.shared_experts=2"},
      {"plan.expert_parallel=2", "plan.pipeline_parallel=2", "model.dense_layers=2", "plan.zero_stage=3"},
      {"plan.expert_parallel=4", "plan.context_parallel=2", "plan.zero_stage=2",
       "plan.overlap_gradient_reduce=true"},
      {"plan.expert_parallel=4", "plan.pipeline_parallel=2", "plan.pipeline_schedule=zb-h1",
       "model.shared_experts=1"}};
  for (const auto& plan : plans) {
    for (const char* network : {"alpha-beta", "flow"}) {
      CAPTURE(plan.back());
      CAPTURE(network);
      Experiment e = mixture(plan);
      e.simulation.network = std::string_view(network) == "flow" ? Network::flow : Network::alpha_beta;
      const Report folded = simulate(e);
      e.simulation.folding = Folding::off;
      check_same_times(folded, simulate(e));
      CHECK(sent(folded, Dimension::expert) > 0);
    }
  }
}

TEST_CASE("passes side by side hide what tokens take, and move as much") {
  for (const std::string schedule : {"dualpipe", "dualpipe-v", "1f1b", "interleaved-1f1b"}) {
    CAPTURE(schedule);
    const bool in_turn = schedule.ends_with("1f1b");  // where it is off unless asked for
    std::vector<std::string> plan{"plan.expert_parallel=4",
                                  "plan.pipeline_parallel=4",
                                  "model.layers=8",
                                  "model.shared_experts=1",
                                  "stack=ideal",
                                  "plan.global_batch_size=64",
                                  "model.hidden=2048",
                                  "plan.pipeline_schedule=" + schedule};
    if (schedule.starts_with("interleaved")) plan.emplace_back("plan.virtual_stages=2");
    if (schedule == "1f1b") plan.emplace_back("plan.pipeline_parallel=1");
    CHECK(mixture(plan).plan.overlap_expert_parallel != in_turn);
    if (in_turn) plan.emplace_back("plan.overlap_expert_parallel=true");
    Experiment side_by_side = mixture(plan);
    const Report together = simulate(side_by_side);
    side_by_side.simulation.folding = Folding::off;
    check_same_times(together, simulate(side_by_side));
    plan.emplace_back("plan.overlap_expert_parallel=false");
    const Report apart = simulate(mixture(plan));
    CHECK(together.bytes_per_gpu == apart.bytes_per_gpu);
    CHECK(together.breakdown.compute_ps == apart.breakdown.compute_ps);
    const auto exposed = static_cast<std::size_t>(Dimension::expert);
    CHECK(together.breakdown.exposed_ps[exposed] < apart.breakdown.exposed_ps[exposed]);
    CHECK(together.makespan_ps < apart.makespan_ps);
  }
}

TEST_CASE("shared experts beside the others hide what tokens take, and do as much") {
  for (const std::vector<std::string>& plan : std::vector<std::vector<std::string>>{
           {},
           {"plan.tensor_parallel=2", "plan.expert_parallel=4", "plan.sequence_parallel=true"},
           {"plan.tensor_parallel=2", "plan.expert_parallel=4", "plan.dispatcher=deduplicated"},
           {"plan.pipeline_parallel=2", "plan.pipeline_schedule=zb-h1", "plan.expert_parallel=4"},
           {"plan.recompute=full"}}) {
    CAPTURE(plan.empty() ? "alone" : plan.back());
    std::vector<std::string> all{"model.shared_experts=1", "model.hidden=2048", "stack=ideal"};
    all.insert(all.end(), plan.begin(), plan.end());
    const Report apart = simulate(mixture(all));
    all.emplace_back("plan.overlap_shared_experts=true");
    Experiment e = mixture(all);
    const Report beside = simulate(e);
    e.simulation.folding = Folding::off;
    check_same_times(beside, simulate(e));
    CHECK(beside.bytes_per_gpu == apart.bytes_per_gpu);
    // Steps are rounded to picoseconds one by one.
    CHECK(static_cast<double>(beside.breakdown.compute_ps) ==
          doctest::Approx(static_cast<double>(apart.breakdown.compute_ps)).epsilon(1e-6));
    CHECK(beside.makespan_ps < apart.makespan_ps);
    const auto exposed = static_cast<std::size_t>(Dimension::expert);
    CHECK(beside.breakdown.exposed_ps[exposed] < apart.breakdown.exposed_ps[exposed]);
  }
}

// All 512 tokens of each of 8 ranks take 2 of 8 experts. At worst these are on 2 ranks in turn: a rank that
// has one expert gets 4 times its mean of 2 x 512 rows, each of which keeps 512 inputs, 2 x 1024 inputs of
// the activation and 1024 outputs of 2 bytes; 2 micro-batches of one sample, one kept at a time.
TEST_CASE("the busiest rank's tokens are kept and computed with") {
  const Report even = simulate(mixture());
  const Report worst = simulate(mixture({"plan.token_imbalance=worst"}));
  const std::int64_t rows = 512 * 2;
  // The stage has four layers; at the peak the last one may have freed its inputs.
  const Bytes layer = (4 - 1) * rows * (512 + 3 * 1024) * 2;
  const Bytes more =
      worst.stage_memory.front().activations.total() - even.stage_memory.front().activations.total();
  CHECK(more > 3 * layer);
  CHECK(more <= 4 * layer);
  CHECK(worst.step_time_s() > even.step_time_s());
  CHECK(sent(worst, Dimension::expert) == 4 * sent(even, Dimension::expert));
}

// Per layer and micro-batch tokens travel to their experts and back, forward and backward. A rank sends 7 of
// 8 parts of its 512 x 2 rows of 512 values of 2 bytes.
TEST_CASE("tokens travel to their experts and back") {
  const std::int64_t rows = 512 * 2 * 512 * 2;
  CHECK(sent(simulate(mixture()), Dimension::expert) == 4 * 2 * 4 * rows * 7 / 8);
}

// Products of experts are most of the FLOPs here: in 8 bits they take half as long, but for casts.
TEST_CASE("experts compute in 8 bits where the plan does") {
  const std::vector<std::string> wide{"stack=ideal", "model.hidden=4096", "model.expert_ffn_hidden=16384",
                                      "model.seq_length=4096", "plan.expert_parallel=4"};
  std::vector<std::string> narrow = wide;
  narrow.emplace_back("plan.precision=fp8");
  CHECK(10 * simulate(mixture(narrow)).breakdown.compute_ps <
        8 * simulate(mixture(wide)).breakdown.compute_ps);
}

// Twice the load: rank 0 of 8 has one expert, to which 2 / 8 of the rows go in place of 1 / 8.
TEST_CASE("a rank with more tokens holds up all others") {
  const Report even = simulate(mixture());
  const Report uneven = simulate(mixture({"plan.token_imbalance=[2, 1, 1, 1, 1, 1, 1, 0]"}));
  CHECK(sent(uneven, Dimension::expert) == 2 * sent(even, Dimension::expert));
  CHECK(uneven.step_time_s() > even.step_time_s());
  const Report capped =
      simulate(mixture({"plan.token_imbalance=[2, 1, 1, 1, 1, 1, 1, 0]", "plan.capacity_factor=1"}));
  CHECK(sent(capped, Dimension::expert) == sent(even, Dimension::expert));
}

// Each of 8 ranks has one expert of 3 x 512 x 1024 weights in each of 4 layers, and its twin in the other
// node has them too. With ZeRO-1 the gradients are reduced in 32 or 16 bits and the parameters gathered: each
// rank sends half.
TEST_CASE("gradients of experts are reduced among the ranks that hold them") {
  Experiment e = mixture({"stack=ideal"});
  const Report report = simulate(e);
  const std::int64_t experts = 4LL * 3 * 512 * 1024;
  // Per layer: 4 x 512^2 of attention, 2 norms of 2 x 512, a router of 8 x 512. Then tables and the last
  // norm.
  const std::int64_t others = 4LL * (4 * 512 * 512 + 4 * 512 + 8 * 512) + 1024 * 512 + 512 * 512 + 2 * 512;
  const std::int64_t padded = (others + 15) / 16 * 16;
  CHECK(report.parameters == others + 8 * experts);
  CHECK(sent(report, Dimension::data) == experts / 2 * (2 + 2) + padded * 15 / 16 * (2 + 2));
}

// Parameters and gradients of 2 bytes each whole, 12 bytes of Adam's states shared out among 16 ranks, or 2.
TEST_CASE("states of experts are shared out among the ranks that hold them") {
  const StageMemory memory = simulate(mixture({"stack=ideal"})).stage_memory.front();
  const std::int64_t experts = 4LL * 3 * 512 * 1024;
  const std::int64_t others = memory.parameters_count - experts;
  CHECK(memory.parameters == 2 * (others + experts));
  CHECK(memory.optimizer() == (12 * others + 15) / 16 + 12 * experts / 2);
}

TEST_CASE("deduplicated tokens cross between nodes once") {
  const std::vector<std::string> wide{"stack=ideal", "model.hidden=4096", "model.experts=16",
                                      "model.experts_per_token=8", "plan.expert_parallel=16"};
  const auto with = [&](const char* dispatcher) {
    std::vector<std::string> all = wide;
    all.push_back(std::string("plan.dispatcher=") + dispatcher);
    return simulate(mixture(all));
  };
  const Report plain = with("all-to-all");
  const Report once = with("deduplicated");
  CHECK(once.step_time_s() < plain.step_time_s());
}

TEST_CASE("what experts ask of a plan") {
  const auto says = [](const std::vector<std::string>& overrides, const std::string& part) {
    CAPTURE(part);
    CHECK(diagnostic_of(overrides).find(part) != std::string::npos);
  };
  says({"plan.expert_parallel=3"}, "/plan/expert_parallel: found 3, allowed a divisor of experts 8");
  says({"plan.expert_parallel=8", "plan.pipeline_parallel=4"},
       "found expert_parallel 8 x expert_tensor_parallel 1 = 8, allowed a divisor of the 4 ranks of a stage");
  says({"plan.overlap_expert_parallel=true", "plan.pipeline_schedule=gpipe"},
       "/plan/overlap_expert_parallel: found true with pipeline_schedule \"gpipe\", allowed with "
       "interleaved-1f1b | dualpipe | dualpipe-v, or 1f1b without stages");
  says({"plan.overlap_expert_parallel=true", "plan.pipeline_parallel=2"},
       "found true with pipeline_schedule \"1f1b\", allowed with interleaved-1f1b");
  says({"plan.expert_parallel=16"}, "/plan/expert_parallel: found 16, allowed a divisor of experts 8");
  says({"plan.overlap_shared_experts=true"},
       "/plan/overlap_shared_experts: found true, allowed only for models with shared_experts");
  says({"model.window=1024"}, "/model/window: found 1024, allowed at most seq_length 512");
  says({"plan.token_imbalance=[1, 2]"}, "found 2 entries, allowed one for each of 8 experts");
  says({"plan.token_imbalance=[0, 0, 0, 0, 0, 0, 0, 0]"}, "found no tokens, allowed a sum above 0");
  says({"model.experts_per_token=9"}, "/model/experts_per_token: found 9, allowed at most experts 8");
  says({"model.kind=transformer"}, "found key \"experts\", allowed only for kind moe-transformer");
  says({"data_parallel_sync.method=diloco"}, "allowed only where data_parallel_sync is a plain all-reduce");
}

// A host that waits in each layer is behind its GPU from there on; one that has launched graphs is not.
TEST_CASE("dropless dispatch makes the host wait for the router, unless all of the step is a graph") {
  const auto exposed = [](std::vector<std::string> more) {
    std::vector<std::string> all{"plan.expert_parallel=4", "software.expert_issue_us=50",
                                 "software.row_slice_issue_us=20", "software.dispatch_waits_for_host=true"};
    all.insert(all.end(), more.begin(), more.end());
    Experiment e = mixture(all);
    const Report folded = simulate(e);
    e.simulation.folding = Folding::off;
    check_same_times(folded, simulate(e));
    return folded.makespan_ps;
  };
  const Picoseconds waits = exposed({});
  CHECK(exposed({"software.dispatch_waits_for_host=false"}) < waits);
  // A given number of rows for each expert: nothing to wait for, and the rows are the axes of one array.
  CHECK(exposed({"plan.capacity_factor=1"}) < exposed({"software.dispatch_waits_for_host=false"}));
  CHECK(exposed({"plan.cuda_graphs=layers"}) < waits);
  CHECK(exposed({"plan.cuda_graphs=step"}) < exposed({"plan.cuda_graphs=layers"}));
  CHECK(
      exposed({"plan.cuda_graphs=step"}) ==
      exposed({"plan.cuda_graphs=step", "software.forward_issue_us=1000", "software.pass_overhead_us=1000"}));
}

// Over two nodes: both hops at a time, but for the last chunk of the second.
TEST_CASE("with one copy to each node the hops of a dispatch run beside each other") {
  const auto expert_time = [](const char* dispatcher) {
    const Report report =
        simulate(mixture({"plan.expert_parallel=16", "model.experts=16", "model.hidden=4096", "stack=ideal",
                          "model.seq_length=4096", std::string("plan.dispatcher=") + dispatcher}));
    return report.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::expert)];
  };
  CHECK(expert_time("deduplicated") < expert_time("hierarchical"));
}
