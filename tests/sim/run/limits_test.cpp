// Checks by hand that the sizes refused as too large are those computed, sent and written, and no larger
// ones.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;
using orrery::test::told_from_fewer;

namespace {

std::string refusal_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    static_cast<void>(read(text, overrides));
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

double exaflops(TotalFlops flops) { return static_cast<double>(flops) * 1e-18; }

constexpr const char* kMillionTokens = R"({"stack": "torchtitan-2024", "software": {"cudnn_attention": true},
    "model": {"base": "qwen3-32b", "seq_length": 1048576}, "cluster": {"base": "dgx-h100"},
    "plan": {"context_parallel": 8, "zero_stage": 3, "micro_batch_size": 1, "global_batch_size": 1,
             "recompute": "full", "overlap_parameter_gather": true}})";

/// `weights` in one matrix, gossip over lines of 0.5 Gb/s.
std::string matrix_over_slow_lines(const std::string& widths, const std::string& topology, int nodes) {
  return R"({"model": {"kind": "mlp", "widths": )" + widths + R"(, "seq_length": 1}, "stack": "ideal",
      "cluster": {"base": "dgx-h100", "nodes": )" +
         std::to_string(nodes) + R"(, "gpus_per_node": 1,
                  "fabric": {"kind": "switch", "nics_per_node": 1, "nic_gbps": 0.5}},
      "data_parallel_sync": {"method": "gossip", "topology": ")" +
         topology + R"("}})";
}

}  // namespace

// Attention: 64 layers x 12 x 8192 x 2^40 = 6.92e18 FLOPs without masks and with both gradients, a third more
// with the forward pass again: 9.22e18. The rest: 32.8e9 weights x 8 x 2^20 = 0.27e18. A GPU has an eighth:
// 1.19e18; the mask leaves half of attention, 0.61e18, which is 620 s at the peak of 989 TFLOP/s.
TEST_CASE("a million tokens are divided among the ranks that share them") {
  const Report report = simulate(read(kMillionTokens));
  CHECK(exaflops(report.hardware_flops_per_step) == doctest::Approx(9.22 + 0.27).epsilon(0.01));
  CHECK(to_seconds(report.makespan_ps) > 620);
  CHECK(to_seconds(report.makespan_ps) == doctest::Approx(1295).epsilon(0.1));  // as others measured
}

TEST_CASE("sequences that people train on are not refused") {
  const std::vector<std::string> four_million{"model.base=qwen3-8b", "model.seq_length=4194304",
                                              "cluster.nodes=4", "plan.context_parallel=32"};
  CHECK(refusal_of(kMillionTokens, four_million) == "");
  const std::vector<std::string> ten_million{"model.base=llama3.1-405b", "model.seq_length=10485760",
                                             "cluster.nodes=64", "plan.context_parallel=512"};
  CHECK(refusal_of(kMillionTokens, ten_million) == "");
}

// 32 heads x 128 x 4 x 98,566,144^2 = 1.6e20 FLOPs in a layer forward, beyond 64 bits; half of it by the
// mask, a 512th of it a GPU: 1.55e17, and 2.5 times that backward. Two layers: 1.09e18, 1,100 s at 989
// TFLOP/s, and about as long again at the speed of kernels.
TEST_CASE("FLOPs of a sequence beyond 64 bits are counted before they are divided") {
  for (const std::string type : {"all-gather", "hierarchical"}) {
    CAPTURE(type);
    const Experiment e =
        read(R"({"model": {"base": "llama3.1-8b", "layers": 2, "seq_length": 98566144}, "stack": "ideal",
        "cluster": {"base": "dgx-h100", "nodes": 64}, "plan": {"context_parallel": 512, "context_parallel_type": ")" +
             type + R"(", "global_batch_size": 1}})");
    const double seconds = to_seconds(simulate(e).makespan_ps);
    CHECK(seconds > 1100);
    CHECK(seconds < 6000);
  }
}

// 1e9 weights x 4 bytes x 8 / 0.5e9 = 64 s to one neighbour a step, whatever the shape of the matrix; and two
// neighbours of a ring take twice as long.
TEST_CASE("gossip over slow lines takes the weights and neighbours that there are") {
  const auto seconds = [](const std::string& text) {
    const Report report = simulate(read(text));
    return to_seconds(report.makespan_ps) / static_cast<double>(report.steps);
  };
  const std::string oblong = "[1000, 1000000]";
  CHECK(seconds(matrix_over_slow_lines(oblong, "one-peer-exponential", 4)) ==
        doctest::Approx(64).epsilon(0.01));
  CHECK(seconds(matrix_over_slow_lines("[1000000, 1000]", "ring", 4)) == doctest::Approx(128).epsilon(0.01));
  // 70e9 weights: 4,480 s to a neighbour; 64 of them would be 2.9e5 s a step, of which there are 6.
  const std::string wide = "[7000, 10000000]";
  CHECK(seconds(matrix_over_slow_lines(wide, "one-peer-exponential", 64)) ==
        doctest::Approx(4480).epsilon(0.01));
  // All with all are 63 neighbours, 2.8e5 s; of ten times the weights too many.
  CHECK(refusal_of(matrix_over_slow_lines(wide, "complete", 64)) == "");
  CHECK(refusal_of(matrix_over_slow_lines("[70000, 10000000]", "complete", 64)) ==
        "test:2:18: /cluster: found simulated seconds of communication of 2.8e+06, allowed at most 1e+06");
}

// A boundary of a micro-batch is 4,096 x 4,096 x 2 bytes, 2.7 s at 100 Mb/s: 512 of them are 1,374 s.
TEST_CASE("stages over slow lines send what crosses them, not what layers keep") {
  const Report report = simulate(read(R"({"model": {"base": "llama-7b", "seq_length": 4096},
      "cluster": {"base": "dgx-h100", "nodes": 4, "gpus_per_node": 1,
                  "fabric": {"kind": "switch", "nics_per_node": 1, "nic_gbps": 0.1}},
      "plan": {"pipeline_parallel": 4, "global_batch_size": 512}})"));
  CHECK(to_seconds(report.makespan_ps) > 1374);
  CHECK(to_seconds(report.makespan_ps) < 4 * 1374);
}

// ZeRO-3 gathers and reduces 12 bytes a weight at most with each micro-batch: 70.6e9 x 12 / 0.125e9 bytes/s =
// 6,774 s, 1,000 times.
TEST_CASE("what ZeRO moves with every micro-batch counts") {
  const std::string text = R"({"model": "llama3.1-70b", "cluster": {"base": "dgx-h100", "nodes": 2,
      "fabric": {"kind": "switch", "nic_gbps": 1}}, "plan": {"zero_stage": 3, "global_batch_size": 16000}})";
  CHECK(refusal_of(text) ==
        "test:1:38: /cluster: found simulated seconds of communication of 6.8e+06, allowed at most 1e+06");
  CHECK(refusal_of(text, {"plan.zero_stage=1"}) == "");
}

// A period is one micro-batch, so a million of them take the time of a thousand and 999,000 periods.
TEST_CASE("a batch of a million samples on one GPU is told from few of them") {
  const auto time = [](const std::string& samples) {
    return simulate(read(R"({"model": "resnet-50", "cluster": {"gpu": "a100-80gb"}})",
                         {"plan.global_batch_size=" + samples}))
        .makespan_ps;
  };
  const Picoseconds thousand = time("1000");
  CHECK(time("1000000") == thousand + 999'000 * (time("1001") - thousand));
}

// 126 layers in three chunks on each of 14 stages, 14,336 GPUs: 112, 224 and 1,792 micro-batches in periods
// of 14.
TEST_CASE("plans of large runs need no more of the machine for more micro-batches") {
  const std::string text = R"({"model": "llama3.1-405b", "cluster": {"base": "dgx-h100", "nodes": 1792},
      "plan": {"tensor_parallel": 8, "pipeline_parallel": 14, "sequence_parallel": true, "zero_stage": 1,
               "virtual_stages": 3, "pipeline_schedule": "interleaved-1f1b", "micro_batch_size": 1,
               "global_batch_size": )";
  const Report few = simulate(read(text + "14336}}"));
  const Report many = simulate(read(text + "229376}}"));
  CHECK(many.stats.tasks == few.stats.tasks);
  // 120 periods more, 15 times as many as between the first two.
  const Report some = simulate(read(text + "28672}}"));
  CHECK(many.makespan_ps - few.makespan_ps == 15 * (some.makespan_ps - few.makespan_ps));
}

TEST_CASE(
    "a step too long to write is told from fewer micro-batches, and is none where every one is asked for") {
  const std::string text = R"({"model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "gpus_per_node": 2},
      "plan": {"pipeline_parallel": 2, "global_batch_size": 4000000}})";
  const Experiment e = read(text);
  CHECK(told_from_fewer(e));
  CHECK_THROWS_AS(static_cast<void>(run(e)), InputError);
  CHECK_THROWS_AS(static_cast<void>(simulate(read(text, {"simulation.folding=off"}))), InputError);
}

TEST_CASE("passes side by side repeat, too, and take as long as the whole step where they are steady") {
  int steady = 0;
  for (const std::string schedule : {"dualpipe", "dualpipe-v", "1f1b", "interleaved-1f1b"}) {
    for (const std::string stack : {"ideal", "megatron-core-2025"}) {
      CAPTURE(schedule);
      CAPTURE(stack);
      const std::string chunks = schedule.starts_with("interleaved") ? R"(, "virtual_stages": 2)" : "";
      const Experiment e =
          read(R"({"model": {"kind": "moe-transformer", "layers": 8, "hidden": 2048, "ffn_hidden": 2048,
          "heads": 8, "vocab": 1024, "seq_length": 512, "attention": "flash", "experts": 8, "experts_per_token": 2,
          "shared_experts": 1}, "cluster": {"base": "dgx-h100", "nodes": 2}, "stack": ")" +
               stack + R"(", "plan": {"expert_parallel": 4, "pipeline_parallel": )" +
               (schedule == "1f1b" ? "1" : "4") +
               R"(, "global_batch_size": 512, "overlap_expert_parallel": true, "pipeline_schedule": ")" +
               schedule + "\"" + chunks + "}}");
      const auto told = told_from_fewer(e);
      if (!told) continue;
      ++steady;
      check_same_times(*told, run(e).report);
    }
  }
  CHECK(steady >= 6);  // of 8
}
