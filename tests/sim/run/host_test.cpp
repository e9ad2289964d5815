// Steps in which the host thread that issues kernels is the bottleneck, and others in which it costs little.
#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::RandomExperiment;
using orrery::test::read;

namespace {

constexpr const char* kModel =
    R"("model": {"kind": "transformer", "layers": 4, "hidden": 256, "heads": 8, "vocab": 1000, "seq_length": 128})";

/// Slow enough that the smallest kernel takes longer than a few us, without constants of its own.
constexpr const char* kGpu = R"("gpu": {"peak_tflops": {"bf16": 1}, "memory_gb": 80, "memory_gb_per_s": 10})";

std::string one_gpu(std::int64_t micro_batches) {
  return std::string("{") + kModel + R"(, "stack": "ideal", "cluster": {)" + kGpu +
         R"(, "nodes": 1}, "plan": {"micro_batch_size": 1, "global_batch_size": )" +
         std::to_string(micro_batches) + R"(}, "simulation": {"network": "alpha-beta"}})";
}

std::string pipeline(std::int64_t stages) {
  return std::string("{") + kModel + R"(, "stack": "ideal", "cluster": {)" + kGpu +
         R"(, "gpus_per_node": 1, "nodes": )" + std::to_string(stages) +
         R"(, "fabric": {"kind": "switch", "nic_gbps": 10, "latency_us": 5}}, "plan": {"pipeline_parallel": )" +
         std::to_string(stages) +
         R"(, "micro_batch_size": 1, "global_batch_size": 6}, "simulation": {"network": "alpha-beta"}})";
}

Report with(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return simulate(read(text, overrides));
}

/// Returns the time that the host of the first program spends on everything but the optimizer's kernel.
Picoseconds issued(const Workload& w) {
  Picoseconds sum = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == Op::Kind::communicate) {
      sum += w.messages[op.work].host_ps;
    } else if (op.phase != Phase::optimize) {
      sum += w.kernel_sequences[op.work].host_ps;
    }
  }
  return sum;
}

std::int64_t kernels(const Workload& w, bool backward) {
  std::int64_t sum = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.stream == Stream::compute && op.phase != Phase::optimize &&
        (op.phase == Phase::backward) == backward)
      sum += static_cast<std::int64_t>(w.kernel_sequences[op.work].kernels.size());
  }
  return sum;
}

/// The step's last two operations on the GPU: the gradient of the embedding, one kernel, and the optimizer.
struct LastTwo {
  Picoseconds gradient = 0;
  Picoseconds optimizer = 0;
};

LastTwo last_two(const Run& r) {
  LastTwo last;
  for (const Op& op : r.workload.programs[0].ops) {
    if (op.stream != Stream::compute) continue;
    (op.phase == Phase::optimize ? last.optimizer : last.gradient) =
        r.prices.kernel_sequences[op.work].duration_ps;
  }
  return last;
}

}  // namespace

TEST_CASE("a host slower than its GPU: the step takes as long as issuing it") {
  for (const std::int64_t micro_batches : {1, 3}) {
    CAPTURE(micro_batches);
    const Run r = run(read(
        one_gpu(micro_batches),
        {"software.forward_issue_us=100000", "software.backward_issue_us=200000",
         "software.parameter_issue_us=70", "software.pass_overhead_us=11", "software.step_overhead_ms=13"}));
    const Picoseconds spent = issued(r.workload);
    // 100 ms a kernel forward, 200 ms backward, two passes a micro-batch, 13 ms before them.
    CHECK(spent == kernels(r.workload, false) * 100'000'000'000 +
                       kernels(r.workload, true) * 200'000'000'000 + 2 * micro_batches * 11'000'000 +
                       13'000'000'000);
    // The last kernel runs when it is issued, then the host waits for it, issues the optimizer of 4 layers
    // of 12 tensors, two tables and the two of the last norm, and the GPU runs that.
    const LastTwo last = last_two(r);
    CHECK(r.report.makespan_ps == spent + last.gradient + (4 * 12 + 4) * 70'000'000LL + last.optimizer);
    CHECK(r.report.critical_path.compute_ps == last.gradient + last.optimizer);
    CHECK(r.report.critical_path.host_ps == r.report.makespan_ps - last.gradient - last.optimizer);
    // The GPU computes as long as ever and waits for the host in the rest.
    const Report ideal = with(one_gpu(micro_batches));
    CHECK(r.report.breakdown.compute_ps == ideal.breakdown.compute_ps);
    CHECK(r.report.breakdown.optimizer_ps == ideal.breakdown.optimizer_ps);
    CHECK(r.report.breakdown.host_ps == Int128{r.report.makespan_ps} - ideal.makespan_ps);
    CHECK(r.report.breakdown.bubble_ps == 0);
    CHECK(r.report.gpu_utilization_mean ==
          static_cast<double>(ideal.makespan_ps) / static_cast<double>(r.report.makespan_ps));
  }
}

TEST_CASE("with tensor parallelism the host issues collectives too") {
  const std::string text = std::string("{") + kModel + R"(, "stack": "ideal", "cluster": {)" + kGpu +
                           R"(, "gpus_per_node": 2, "nodes": 1,
    "node": {"kind": "nvswitch", "link_gb_per_s": 100, "latency_us": 2}}, "plan": {"tensor_parallel": 2}})";
  const Run r = run(read(text, {"software.forward_issue_us=100000", "software.backward_issue_us=100000",
                                "software.collective_issue_us=50", "software.tensor_skew_us=25"}));
  std::int64_t collectives = 0;
  for (const Op& op : r.workload.programs[0].ops) collectives += op.kind == Op::Kind::communicate ? 1 : 0;
  // 50 + 25 * 2^2 = 150 us each.
  const std::int64_t all = kernels(r.workload, false) + kernels(r.workload, true);
  CHECK(issued(r.workload) == all * 100'000'000'000 + collectives * 150'000'000);
  const LastTwo last = last_two(r);
  CHECK(r.report.makespan_ps == issued(r.workload) + last.gradient + last.optimizer);
}

TEST_CASE("a tensor-parallel collective waits for the last of its ranks") {
  const std::string text = std::string("{") + kModel + R"(, "stack": "ideal", "cluster": {)" + kGpu +
                           R"(, "gpus_per_node": 4, "nodes": 1,
    "node": {"kind": "nvswitch", "link_gb_per_s": 100, "latency_us": 2}},
    "plan": {"tensor_parallel": 4, "overlap_tensor_parallel": false}})";
  const Run ideal = run(read(text));
  std::int64_t collectives = 0;
  for (const Op& op : ideal.workload.programs[0].ops) collectives += op.kind == Op::Kind::communicate ? 1 : 0;
  REQUIRE(collectives > 0);
  const Report late = with(text, {"software.tensor_wait_us=20"});
  CHECK(late.makespan_ps == ideal.report.makespan_ps + collectives * 3 * 20'000'000);
  CHECK(late.breakdown.compute_ps == ideal.report.breakdown.compute_ps);
}

TEST_CASE("only groups with some GPUs of each node lose by split_node_efficiency") {
  const auto step = [](std::int64_t tensor, const std::vector<std::string>& overrides) {
    const std::string text =
        std::string("{") + kModel + R"(, "stack": "ideal", "cluster": {)" + kGpu +
        R"(, "gpus_per_node": 4, "nodes": 2, "node": {"kind": "nvswitch", "link_gb_per_s": 100},
      "fabric": {"kind": "switch", "nics_per_node": 4, "nic_gbps": 10}}, "plan": {"global_batch_size": 8,
      "tensor_parallel": )" +
        std::to_string(tensor) + R"(}, "simulation": {"network": "alpha-beta"}})";
    return with(text, overrides);
  };
  const std::vector<std::string> split{"software.split_node_efficiency=0.25"};
  CHECK(step(4, split).makespan_ps == step(4, {}).makespan_ps);  // one GPU of each node
  CHECK(step(1, split).makespan_ps == step(1, {}).makespan_ps);  // all of them
  const auto data = [](const Report& report) {
    return static_cast<Picoseconds>(report.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)] /
                                    8);
  };
  const Report fast = step(2, {});
  const Report slow = step(2, split);
  CHECK(slow.makespan_ps - fast.makespan_ps == data(slow) - data(fast));
  CHECK(data(slow) == 4 * data(fast));
}

TEST_CASE("a host faster than its GPU: the step begins and ends with it") {
  for (const std::int64_t micro_batches : {1, 3}) {
    CAPTURE(micro_batches);
    const Report ideal = with(one_gpu(micro_batches));
    const Report r = with(
        one_gpu(micro_batches),
        {"software.forward_issue_us=0.000003", "software.backward_issue_us=0.000003",
         "software.parameter_issue_us=0.5", "software.pass_overhead_us=2", "software.step_overhead_ms=1"});
    // 1 ms before the step, 2 us before the first pass, 3 ps for its first kernel; later passes are issued
    // while the GPU computes. The optimizer is issued when all is done: 52 tensors.
    CHECK(r.makespan_ps == ideal.makespan_ps + 1'000'000'000 + 2'000'000 + 3 + 52 * 500'000);
    CHECK(r.breakdown.host_ps == 1'000'000'000 + 2'000'000 + 3 + 52 * 500'000);
    CHECK(r.critical_path.host_ps == 1'000'000'000 + 2'000'000 + 3 + 52 * 500'000);
  }
}

TEST_CASE("steps follow each other: each waits for the one before") {
  const std::vector<std::string> costs{"software.forward_issue_us=100000",
                                       "software.backward_issue_us=100000", "software.step_overhead_ms=5"};
  const auto steps = [&](int n) {
    std::vector<std::string> overrides = costs;
    overrides.push_back("simulation.steps=" + std::to_string(n));
    return with(one_gpu(2), overrides).makespan_ps;
  };
  CHECK(steps(2) == 2 * steps(1));
  CHECK(steps(3) == 3 * steps(1));
}

TEST_CASE("waiting for the GPU before each pass costs what the host could have issued ahead") {
  const std::vector<std::string> costs{"software.forward_issue_us=50", "software.backward_issue_us=50",
                                       "software.collective_issue_us=20", "software.pass_overhead_us=40"};
  const auto step = [&](const std::string& text, const char* synchronize) {
    std::vector<std::string> overrides = costs;
    overrides.push_back(std::string("software.synchronize_passes=") + synchronize);
    return with(text, overrides).makespan_ps;
  };
  CHECK(step(one_gpu(6), "true") > step(one_gpu(6), "false"));
  for (const std::int64_t stages : {2, 4}) {
    CAPTURE(stages);
    CHECK(step(pipeline(stages), "true") > step(pipeline(stages), "false"));
  }
  // Without other costs it is free on one GPU.
  CHECK(with(one_gpu(6), {"software.synchronize_passes=true"}).makespan_ps == with(one_gpu(6)).makespan_ps);
}

TEST_CASE("a step never gets shorter when the host gets slower") {
  const std::vector<std::string> costs{"forward_issue_us", "backward_issue_us", "collective_issue_us",
                                       "tensor_skew_us",   "tensor_wait_us",    "parameter_issue_us",
                                       "pass_overhead_us", "step_overhead_ms"};
  int compared = 0;
  for (std::uint64_t seed = 4000; seed < 4000 + test::trials(40); ++seed) {
    const std::string text = RandomExperiment(seed).text_with_software();
    CAPTURE(seed);
    CAPTURE(text);
    const auto makespan = [&](const std::vector<std::string>& overrides) -> std::optional<Picoseconds> {
      std::vector<std::string> all{"simulation.network=alpha-beta"};
      all.insert(all.end(), overrides.begin(), overrides.end());
      try {
        return simulate(read(text, all)).makespan_ps;
      } catch (const InputError&) {
        return std::nullopt;
      }
    };
    if (!makespan({})) continue;
    for (const std::string& cost : costs) {
      CAPTURE(cost);
      Picoseconds before = 0;
      for (const char* value : {"0", "0.5", "20", "21", "1000"}) {
        const Picoseconds now = *makespan({"software." + cost + "=" + value});
        CHECK(now >= before);
        before = now;
        ++compared;
      }
    }
  }
  CHECK(compared > test::trials(500));
}

TEST_CASE("issue times beyond the end of simulated time are an error") {
  // 10 s a kernel: a pass over 60,000 layers of nine kernels or more takes 5.4e18 ps and more; 2^62
  // are 4.6e18.
  const std::string text = std::string(R"({"model": {"kind": "transformer", "layers": 60000, "hidden": 8,
    "heads": 1, "vocab": 8, "seq_length": 1}, "stack": "ideal", "cluster": {)") +
                           kGpu + R"(, "nodes": 1}})";
  CHECK_THROWS_AS((void)read(text, {"software.forward_issue_us=1e7"}), InputError);
  for (const char* network : {"alpha-beta", "flow"}) {
    CAPTURE(network);
    Experiment e = read(text, {std::string("simulation.network=") + network});
    e.software.forward_issue_us = e.software.backward_issue_us = 1e7;  // reading refuses them
    CHECK_THROWS_AS((void)simulate(e), std::overflow_error);
  }
}

TEST_CASE("hiding all of sequence parallelism's collectives is no slower than hiding none") {
  const std::string text = std::string("{") + kModel + R"(, "stack": "ideal", "cluster": {)" + kGpu +
                           R"(, "gpus_per_node": 4, "nodes": 1,
    "node": {"kind": "nvswitch", "link_gb_per_s": 0.5, "latency_us": 0}},
    "plan": {"tensor_parallel": 4, "sequence_parallel": true, "overlap_tensor_parallel": true}})";
  Picoseconds before = with(text, {"software.tensor_overlap=0"}).makespan_ps;
  for (const char* share : {"0.25", "0.5", "0.75", "1"}) {
    CAPTURE(share);
    const Picoseconds now = with(text, {std::string("software.tensor_overlap=") + share}).makespan_ps;
    CHECK(now <= before);
    before = now;
  }
  CHECK(before < with(text, {"software.tensor_overlap=0"}).makespan_ps);
}

TEST_CASE("days of a training run: its tokens over tokens a second") {
  const Report r = with(one_gpu(3), {"training.tokens=1000000000000"});
  CHECK(r.training_tokens == 1'000'000'000'000);
  CHECK(r.tokens_per_step == 3 * 128);
  CHECK(r.training_days() == 1e12 / r.tokens_per_s() / 86400);
  // The step's share of the run: 384 tokens of 1e12.
  CHECK(r.training_days() == doctest::Approx(1e12 / 384 * r.step_time_s() / 86400));
}

TEST_CASE("a step on several nodes waits for the slowest, one on a single node does not") {
  const std::vector<std::string> wait{"software.many_nodes_wait_ms=50"};
  CHECK(with(pipeline(2), wait).makespan_ps == with(pipeline(2)).makespan_ps + 50'000'000'000);
  CHECK(with(one_gpu(2), wait).makespan_ps == with(one_gpu(2)).makespan_ps);
}

TEST_CASE("deciles of the step time are those of one node or of many") {
  const std::vector<std::string> deciles{
      "software.error_p10_one_node=-0.125", "software.error_p90_one_node=0.25",
      "software.error_p10_many_nodes=0.0625", "software.error_p90_many_nodes=0.5"};
  CHECK(!with(one_gpu(1)).has_spread());
  const Report one = with(one_gpu(1), deciles);
  CHECK(one.has_spread());
  CHECK(one.step_time_s_p10() == one.step_time_s() * 0.875);
  CHECK(one.step_time_s_p90() == one.step_time_s() * 1.25);
  const Report two = with(pipeline(2), deciles);
  CHECK(two.step_time_s_p10() == two.step_time_s() * 1.0625);
  CHECK(two.step_time_s_p90() == two.step_time_s() * 1.5);
  // Deciles of one node say nothing about two.
  CHECK(!with(pipeline(2), {deciles[0], deciles[1]}).has_spread());
}
