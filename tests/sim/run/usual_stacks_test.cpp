// Checks the default stack of an experiment that names none: the one that people use for its kind of model.
// It also checks the first question to it: the time that gossip saves over all-reduce, with equal precisions
// and equal overlap.
//
// 16 V100s, each on a line of 10 Gb/s to a hub, 32 images of ResNet-50 each: P = 25,557,032 parameters, S = 4
// P = 102,228,128 bytes in 32 bits, B = 1.25e9 bytes/s, S / B = 81.7825 ms.
#include "config/experiment/usual_stacks.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "orrery/write.hpp"
#include "tests/sim/run/experiments.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

constexpr double kModelOverLine = 25'557'032.0 * 4 / 1.25e9;  // S / B, seconds

Experiment images(std::int64_t workers, const std::vector<std::string>& changes) {
  return read(
      fmt::format(R"({{"model": "resnet-50", "cluster": {{"gpu": "v100", "nodes": {}, "gpus_per_node": 1,
                       "fabric": {{"kind": "star", "nic_gbps": 10}}}},
                       "plan": {{"micro_batch_size": 32, "global_batch_size": {}}}}})",
                  workers, 32 * workers),
      changes);
}

const std::vector<std::string> kGossip{"data_parallel_sync.method=gossip"};
/// Nothing beside computing, and all of it in one message.
const std::vector<std::string> kAlone{"plan.overlap_gradient_reduce=false", "plan.bucket_mb=0",
                                      "plan.collectives.all-reduce=ring"};

std::vector<std::string> with(std::vector<std::string> some, const std::vector<std::string>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

double per_gpu(const Report& report, Int128 sum_ps) {
  return static_cast<double>(sum_ps) * 1e-12 / static_cast<double>(report.gpus * report.steps);
}

double exposed(const Report& report) {
  return per_gpu(report, report.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)]);
}

std::string summary_of(const Report& report) {
  std::string text;
  write_summary(report, {false, 160}, [&text](std::string_view part) { text += part; });
  return text;
}

}  // namespace

TEST_CASE("who names no stack gets the one people use for that kind of model") {
  struct Usual {
    const char* model;
    const char* stack;
    Optimizer optimizer;
    bool overlaps;
    double bucket_mb;
    std::int64_t gradient_bytes;
  };
  constexpr double kOfDdp = 25 * 1.048576;  // 25 MiB
  for (const Usual& usual : {Usual{"resnet-50", "pytorch-ddp", Optimizer::sgd_momentum, true, kOfDdp, 4},
                             Usual{"vgg-16", "pytorch-ddp", Optimizer::sgd_momentum, true, kOfDdp, 4},
                             Usual{"bert-large", "huggingface-ddp", Optimizer::adam, true, kOfDdp, 4},
                             Usual{"t5-11b", "nemo-2024", Optimizer::adam, false, 80, 2},
                             Usual{"llama3.1-8b", "nemo-2024", Optimizer::adam, false, 80, 2}}) {
    CAPTURE(usual.model);
    const Experiment e = read(
        fmt::format(R"({{"model": "{}", "cluster": {{"base": "dgx-a100-80gb", "nodes": 2}}}})", usual.model));
    CHECK(e.stack == usual.stack);
    CHECK(e.stack_reason.starts_with("none is named, and this is the usual one of "));
    CHECK(e.plan.optimizer == usual.optimizer);
    CHECK(e.plan.overlap_gradient_reduce == usual.overlaps);
    CHECK(e.plan.bucket_mb == doctest::Approx(usual.bucket_mb));
    CHECK(e.software.gradient_bytes == usual.gradient_bytes);
  }
  for (const UsualStack& row : usual_stacks()) CHECK(!row.models.empty());
}

TEST_CASE("what is named is kept: a stack has the defaults that it had, a key wins over all") {
  const Experiment named = images(16, {"stack=cnn-2020"});
  CHECK(named.stack_reason.empty());
  CHECK(named.plan.optimizer == Optimizer::adam);
  CHECK_FALSE(named.plan.overlap_gradient_reduce);
  CHECK(named.plan.bucket_mb == 40);
  CHECK(images(16, with(kGossip, {"stack=bluefog-2021"})).data_parallel_sync.overlap == SyncOverlap::none);
  CHECK(images(16, {"stack=pytorch-ddp"}).plan.optimizer == Optimizer::sgd_momentum);
  CHECK(images(16, {"plan.optimizer=lion"}).plan.optimizer == Optimizer::lion);
  CHECK(images(16, {"plan.bucket_mb=1"}).plan.bucket_mb == 1);
}

TEST_CASE("models of gossip leave by bucket where gradients would") {
  const auto overlap = [](const std::vector<std::string>& changes) {
    return images(16, with(kGossip, changes)).data_parallel_sync.overlap;
  };
  CHECK(overlap({}) == SyncOverlap::adapt_then_combine);
  CHECK(overlap({"plan.overlap_gradient_reduce=false"}) == SyncOverlap::none);
  CHECK(overlap({"data_parallel_sync.overlap=none"}) == SyncOverlap::none);
  CHECK(overlap({"data_parallel_sync.method=local-sgd"}) == SyncOverlap::none);
  CHECK(overlap({"data_parallel_sync.method=gradient-tracking"}) == SyncOverlap::none);  // has no such key
  CHECK(overlap({"data_parallel_sync.method=ad-psgd"}) == SyncOverlap::combine_while_computing);
}

/// All-reduce: 2 (n-1)/n S / B, 153.34 ms of 16 and 140.20 ms of 7 workers. One peer: S / B, and then
/// 3 S / memory, 306.7e6 bytes at some 800e9 bytes/s: 0.4 ms.
TEST_CASE("alone on the line an all-reduce takes 153 ms and one peer 82 ms") {
  for (const std::int64_t workers : {16, 7}) {
    CAPTURE(workers);
    const auto n = static_cast<double>(workers);
    const double ring = 2 * (n - 1) / n * kModelOverLine;
    const Report reduced = simulate(images(workers, kAlone));
    CHECK(exposed(reduced) == doctest::Approx(ring).epsilon(0.005));
    const Report met = simulate(images(workers, with(kAlone, kGossip)));
    CHECK(exposed(met) == doctest::Approx(kModelOverLine).epsilon(0.01));
  }
}

/// Both in 16 bits: half of that, and a kernel that casts 6 bytes a value, 0.2 ms, either way.
TEST_CASE("in 16 bits on the wire both take half of that") {
  const Report reduced = simulate(images(16, with(kAlone, {"plan.wire_precision.data=bf16"})));
  CHECK(exposed(reduced) == doctest::Approx(15.0 / 16 * kModelOverLine).epsilon(0.01));
  CHECK(reduced.unlike_all_reduce.empty());
  const Report met = simulate(images(16, with(kAlone, with(kGossip, {"plan.wire_precision.models=bf16"}))));
  CHECK(exposed(met) == doctest::Approx(kModelOverLine / 2).epsilon(0.02));
  CHECK(met.unlike_all_reduce ==
        "not like for like with all-reduce: models travel in bf16, gradients would in fp32 "
        "(plan.wire_precision.models)");
}

/// Beside the backward pass. The first bucket of 26.2 MB is ready after at most 4 of the 18 layers: the last
/// one has 3,355,002 parameters, those before it 1,306,002 each, 4 x 7,273,008 = 29.1 MB. From then on the
/// line is busy until the end, so of a backward pass of b, between 14/18 b and b is hidden, less what compute
/// loses beside communication. Less is left of what takes less: the pass hides as much of either.
TEST_CASE("beside the backward pass, what is left is the line's time less the pass") {
  const Report alone = simulate(images(16, kAlone));
  // A convolution has a pass forward and two backward, elementwise kernels 2.5 and 4 units of traffic.
  const double compute = per_gpu(alone, alone.breakdown.compute_ps);
  const double backward_least = 4.0 / 6.5 * compute;
  const double backward_most = 2.0 / 3 * compute;
  const double ring = 15.0 / 8 * kModelOverLine;
  const Report reduced = simulate(images(16, {"plan.collectives.all-reduce=ring"}));
  CHECK(exposed(reduced) > ring - 1.05 * backward_most);
  CHECK(exposed(reduced) < ring - 14.0 / 18 * backward_least * 0.95);
  const Report met = simulate(images(16, kGossip));
  CHECK(exposed(met) > kModelOverLine - 1.05 * backward_most);
  CHECK(exposed(met) < kModelOverLine * 1.01 - 14.0 / 18 * backward_least * 0.95);
  // 2 x 15/16 - 1 = 7/8 of S / B less, 71.6 ms.
  CHECK(reduced.step_time_s() - met.step_time_s() == doctest::Approx(7.0 / 8 * kModelOverLine).epsilon(0.03));
}

TEST_CASE("a summary says first in what a method differs from an all-reduce beside the method") {
  const std::string usual = summary_of(simulate(images(16, kGossip)));
  CHECK(usual.find("not like for like") == std::string::npos);
  CHECK(usual.find("beside compute: models between replicas;") != std::string::npos);
  CHECK(usual.find("stack pytorch-ddp: gradients of 4 bytes, buckets of 26.21 MB (none is named, and this is "
                   "the usual one of convolutional networks)") != std::string::npos);
  const std::string apart =
      summary_of(simulate(images(16, with(kGossip, {"data_parallel_sync.overlap=none"}))));
  CHECK(apart.find(
            "not like for like with all-reduce: models travel after the step, gradients would beside the "
            "backward pass (data_parallel_sync.overlap)") != std::string::npos);
  // Sites that exchange models in 32 bits, where gradients have 16.
  const Report sites = simulate(read(R"({"model": "gpt3-125m",
               "cluster": {"base": "dgx-a100-80gb", "gpus_per_node": 1,
                           "regions": {"sites": [{"name": "east", "nodes": 2}, {"name": "west", "nodes": 2}],
                                       "links": [{"from": "east", "to": "west", "up_gbps": 10, "latency_ms": 20}]}},
               "data_parallel_sync": {"method": "diloco", "level": "site", "period": 2}})"));
  const std::string unlike =
      "not like for like with all-reduce: models travel in fp32, gradients would in bf16 "
      "(plan.wire_precision.models)";
  CHECK(sites.unlike_all_reduce == unlike);
  const std::string text = summary_of(sites);
  CHECK(text.find(unlike) < text.find("tp 1 x"));
  CHECK(text.find("warning: not like") == std::string::npos);
  CHECK(simulate(images(16, {})).unlike_all_reduce.empty());
}

/// 256 tokens attend to all 256, with a mask to half of them: twice the products, 2 x 2 x 256^2 x 64 of each
/// of 8 heads in the fused kernel.
TEST_CASE("an encoder alone has no causal mask: its fused attention computes all scores") {
  const auto attention = [](const std::string& causal, const std::string& more = "") {
    const Experiment e = read(
        R"({"model": {"kind": "transformer", "layers": 1, "hidden": 512, "heads": 8, "vocab": 1024,
                      "seq_length": 256, "attention": "flash", "causal": )" +
        causal + R"(}, "cluster": {"base": "dgx-h100", "gpus_per_node": 4}, "stack": "ideal")" + more + "}");
    const Workload workload = lower(e);
    Flops sum = 0;
    for (const Op& op : workload.programs[0].ops) {
      if (op.kind != Op::Kind::compute || op.phase != Phase::forward) continue;
      for (const Kernel& kernel : workload.kernel_sequences[op.work].kernels)
        if (kernel.kind == Kernel::Kind::attention) sum += kernel.flops;
    }
    return sum;
  };
  constexpr Flops kAll = 4LL * 256 * 256 * 64 * 8;
  CHECK(attention("true") == kAll / 2);
  CHECK(attention("false") == kAll);
  // Shared among 4 ranks, a quarter each: keys and values go around.
  const std::string shared = R"(, "plan": {"context_parallel": 4})";
  CHECK(attention("true", shared) == kAll / 8);
  CHECK(attention("false", shared) == kAll / 4);
  CHECK_THROWS_WITH_AS(
      (void)read(
          R"({"model": {"base": "bert-large", "attention": "flash", "window": 8}, "cluster": "dgx-h100"})"),
      doctest::Contains("/model/window: found a value beside causal false"), InputError);
  CHECK_THROWS_WITH_AS((void)read(R"({"model": "bert-large", "cluster": "dgx-h100",
                                      "inference": {"prompt_tokens": 8, "output_tokens": 8}})"),
                       doctest::Contains("causal false, allowed true"), InputError);
}
