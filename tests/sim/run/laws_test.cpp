// Laws every run obeys, on random plans, and agreement of independent ways.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>

#include "orrery/simulate.hpp"
#include "sim/run/run.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::catalog;
using orrery::test::example;
using orrery::test::RandomExperiment;
using orrery::test::read;

namespace {

Int128 total(const Breakdown& b) {
  Int128 sum = b.compute_ps + b.optimizer_ps + b.bubble_ps + b.host_ps;
  for (const Int128 part : b.exposed_ps) sum += part;
  return sum;
}

Picoseconds total(const CriticalPath& path) {
  return std::accumulate(path.communication_ps.begin(), path.communication_ps.end(),
                         path.compute_ps + path.host_ps + path.wait_ps);
}

/// The longest time any one GPU computes.
Picoseconds busiest_gpu(const Run& r) {
  Picoseconds most = 0;
  for (std::uint32_t c = 0; c < r.expanded.classes(); ++c) {
    Picoseconds busy = 0;
    for (const Op& op : r.workload.programs[r.expanded.program[c]].ops) {
      if (op.stream == Stream::compute) busy += r.prices.kernel_sequences[op.work].duration_ps;
    }
    most = std::max(most, busy);
  }
  return most;
}

/// Nothing for the plans that a random cluster or its GPUs do not allow.
std::optional<Run> run_if_valid(const std::string& text) {
  try {
    return run(read(text));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

Report report_with(const std::string& text, const std::vector<std::string>& overrides) {
  return simulate(read(text, overrides));
}

/// Half a byte on each link of every operation of every communicator.
double most_rounded_off(const Run& r) {
  const Channels& channels = *r.channels;
  double roundings = 0;
  const auto count = [&](const CallPrice& price, std::uint64_t operations) {
    const auto one = [&](std::uint32_t, const Leg&, LinkId, std::uint64_t) {
      roundings += static_cast<double>(operations);
    };
    for (std::uint32_t place = 0; place < price.of_place.size(); ++place) price.for_each_use(place, one);
  };
  for (std::size_t c = 0; c < channels.calls.size(); ++c) {
    const Call& call = channels.calls[c];
    count(r.prices.calls[c], call.operations);
    if (!call.request.pass) continue;
    const std::vector<PassMessage> steps = messages_of(r.workload.passes[call.request.work]);
    for (std::size_t i = 0; i < steps.size(); ++i)
      count(r.prices.in_passes[c][i], call.operations * steps[i].steps);
  }
  return roundings / 2;
}

}  // namespace

TEST_CASE("parts add up, and no resource does more than fits") {
  for (std::uint64_t seed = 1000; seed < 1000 + test::trials(240); ++seed) {
    RandomExperiment random(seed);
    const std::string text = seed % 2 == 0 ? random.text() : random.text_with_software();
    CAPTURE(seed);
    CAPTURE(text);
    const std::optional<Run> r_or_not = run_if_valid(text);
    if (!r_or_not) continue;
    const Run& r = *r_or_not;
    const bool flow = text.find("\"flow\"") != std::string::npos;
    CHECK(total(r.report.breakdown) == Int128{r.report.gpus} * r.report.makespan_ps);
    CHECK(total(r.report.critical_path) == r.report.makespan_ps);
    CHECK(r.report.makespan_ps >= busiest_gpu(r));
    for (const LinkUtilization& link : r.report.links) {
      CHECK(link.mean <= link.peak * (1 + 1e-12));
      if (flow) CHECK(link.peak <= 1.0 + 1e-9);
    }
    // Links carry away all that senders send: each message crosses one link or more, and is rounded to whole
    // bytes on each.
    const double sent = std::accumulate(r.report.bytes_per_gpu.begin(), r.report.bytes_per_gpu.end(), 0.0);
    double carried = 0;
    for (const LinkTraffic& links : r.traffic.links) carried += static_cast<double>(links.bytes);
    const double rounded = carried + most_rounded_off(r);
    CHECK(rounded >= sent * static_cast<double>(r.report.gpus * r.report.steps) * (1 - 1e-6));
  }
}

TEST_CASE("both networks agree where transfers do not meet") {
  const std::string base =
      R"({"stack": "ideal", "model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2},
    "plan": {"global_batch_size": 32, "pipeline_schedule": "1f1b", "overlap_parameter_gather": false}})";
  const std::vector<std::vector<std::string>> plans{
      {"plan.tensor_parallel=8", "plan.data_parallel=2"},
      {"plan.data_parallel=16"},
      {"plan.tensor_parallel=4", "plan.data_parallel=4", "plan.zero_stage=3"},
      {"plan.tensor_parallel=8", "plan.data_parallel=2", "plan.sequence_parallel=true", "plan.zero_stage=1"},
      {"plan.tensor_parallel=8", "plan.pipeline_parallel=2", "model.tied_embeddings=false"},
  };
  for (auto plan : plans) {
    plan.emplace_back("simulation.network=flow");
    const Report flow = report_with(base, plan);
    plan.back() = "simulation.network=alpha-beta";
    const Report alone = report_with(base, plan);
    CAPTURE(plan.front());
    CHECK(flow.makespan_ps == alone.makespan_ps);
    CHECK(flow.breakdown.exposed_ps == alone.breakdown.exposed_ps);
  }
}

TEST_CASE("eight groups that share one NIC take eight times as long for their data") {
  // Data-parallel all-reduce of 8 tensor ranks at once over one NIC: ring of 2 nodes, 2 (n-1)/n M/B = M/B.
  const std::string base =
      R"({"stack": "ideal", "model": {"kind": "mlp", "layers": 1, "hidden": 8192, "seq_length": 8},
    "cluster": {"gpu": {"peak_tflops": {"bf16": 1000}, "memory_gb": 1000, "memory_gb_per_s": 10000}, "gpus_per_node": 8, "nodes": 2,
      "node": {"kind": "nvswitch", "link_gb_per_s": 600, "latency_us": 0},
      "fabric": {"kind": "switch", "nics_per_node": 1, "nic_gbps": 80, "latency_us": 0}},
    "plan": {"tensor_parallel": 8, "data_parallel": 2, "micro_batch_size": 1, "bucket_mb": 0, "tensor_partition": ["column"]}})";
  const Report flow = report_with(base, {"simulation.network=flow"});
  const Report alone = report_with(base, {"simulation.network=alpha-beta"});
  // M = 8192 * 8192 / 8 parameters * 2 bytes = 16.8 MB a rank at 10 GB/s.
  const Picoseconds one = transfer_ps(8192LL * 8192 / 8 * 2, 10'000'000'000);
  CHECK(alone.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)] == Int128{16} * one);
  CHECK(flow.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)] == Int128{16} * 8 * one);
  CHECK(flow.critical_path.wait_ps == 7 * one);
}

TEST_CASE("steps follow each other: the steady state repeats") {
  const std::string base = R"({"model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "nodes": 1},
    "plan": {"pipeline_parallel": 4, "data_parallel": 2, "global_batch_size": 16, "zero_stage": 1}})";
  const auto steps = [&](int n) {
    return report_with(base, {"simulation.steps=" + std::to_string(n)}).makespan_ps;
  };
  CHECK(steps(3) - steps(2) == steps(4) - steps(3));
  CHECK(steps(2) <= 2 * steps(1));
}

TEST_CASE("with ZeRO-3 no step begins before the last one has updated its parameters") {
  const std::string base =
      R"({"model": {"kind": "mlp", "widths": [1000, 1000, 1000, 1000], "seq_length": 1000},
    "cluster": {"gpu": {"peak_tflops": {"bf16": 1}, "memory_gb": 1, "memory_gb_per_s": 1}, "nodes": 2,
      "fabric": {"kind": "switch", "nic_gbps": 0.08}}, "plan": {"data_parallel": 2, "zero_stage": 3}})";
  for (const char* overlap : {"false", "true"}) {
    const auto steps = [&](int n) {
      return report_with(base, {std::string("plan.overlap_parameter_gather=") + overlap,
                                "simulation.steps=" + std::to_string(n)})
          .makespan_ps;
    };
    CHECK(steps(2) == 2 * steps(1));
    CHECK(steps(5) == 5 * steps(1));
  }
}

TEST_CASE("ZeRO-3 without prefetch computes and gathers in turn, in every schedule") {
  // Three matrices of 2 MB over 2 ranks at 1 GB/s: a gather or reduction takes 1 MB / 1 GB/s = 1 ms, a
  // product 2 * 1000^3 / 1 TFLOP/s = 2 ms. Two micro-batches: 2 * (3 forward + 5 backward products) = 32 ms,
  // 2 * (3 + 3 gathers + 3 reductions) = 18 ms, one after the other; the optimizer reads
  // 1.5 M parameters of 28 bytes at 10 TB/s in 4.2 us.
  const std::string base =
      R"({"stack": "ideal", "model": {"kind": "mlp", "widths": [1000, 1000, 1000, 1000], "seq_length": 1000},
    "cluster": {"gpu": {"peak_tflops": {"bf16": 1}, "memory_gb": 1, "memory_gb_per_s": 10000}, "nodes": 2,
      "fabric": {"kind": "switch", "nic_gbps": 8}}, "plan": {"data_parallel": 2, "zero_stage": 3, "global_batch_size": 4}})";
  for (const char* schedule : {"gpipe", "1f1b", "sequential"}) {
    const Report r = report_with(base, {std::string("plan.pipeline_schedule=") + schedule});
    CHECK(r.makespan_ps == 50'000'000'000 + 4'200'000);
  }
}

TEST_CASE("the memory of the timeline is at its peak that of the table") {
  for (std::uint64_t seed = 2000; seed < 2000 + test::trials(60); ++seed) {
    const std::string text = RandomExperiment(seed).text();
    CAPTURE(text);
    const std::optional<Run> r = run_if_valid(text);
    if (!r) continue;
    for (std::uint32_t c = 0; c < r->expanded.classes(); ++c) {
      const std::uint32_t program = r->expanded.program[c];
      const auto& ops = r->workload.programs[program].ops;
      Bytes held = 0;
      Bytes peak = 0;
      Picoseconds time = 0;
      for (std::uint32_t op = 0; op < ops.size(); ++op) {
        if (!ops[op].changes_memory()) continue;
        const std::uint32_t task = r->expanded.task(c, op);
        CHECK(r->timeline.start_ps[task] >= time);  // one after the other
        time = r->timeline.finish_ps[task];
        peak = std::max(peak, held += ops[op].memory_at_start);
        held += ops[op].memory_at_finish;
      }
      CHECK(held == 0);
      const StageMemory& memory = r->workload.stage_memory[program];
      CHECK(peak == memory.total() - memory.standing);
    }
  }
}

TEST_CASE("the same experiment gives the same result in any thread") {
  const Experiment e = example("llama-7b.yaml");
  const Report here = simulate(e);
  Report there;
  std::thread([&] { there = simulate(e); }).join();
  CHECK(here.makespan_ps == there.makespan_ps);
  CHECK(here.bytes_per_gpu == there.bytes_per_gpu);
}

TEST_CASE("overlap hides communication and never costs time on private links") {
  const std::string base =
      R"({"stack": "ideal", "model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2},
    "plan": {"tensor_parallel": 2, "data_parallel": 8, "global_batch_size": 64,
             "overlap_tensor_parallel": false, "overlap_parameter_gather": false}})";
  const Report plain = report_with(base, {});
  const Report reduced = report_with(base, {"plan.overlap_gradient_reduce=true"});
  CHECK(reduced.makespan_ps < plain.makespan_ps);
  CHECK(report_with(base, {"plan.overlap_tensor_parallel=true"}).makespan_ps < plain.makespan_ps);
  CHECK(report_with(base, {"plan.zero_stage=1", "plan.overlap_parameter_gather=true"}).makespan_ps <
        report_with(base, {"plan.zero_stage=1"}).makespan_ps);
}
