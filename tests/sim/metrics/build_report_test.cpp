#include <doctest/doctest.h>

#include "sim/metrics/traffic.hpp"
#include "tests/sim/metrics/run_fixture.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr std::size_t kTensor = static_cast<std::size_t>(Dimension::tensor);
constexpr std::size_t kPipeline = static_cast<std::size_t>(Dimension::pipeline);
constexpr std::size_t kData = static_cast<std::size_t>(Dimension::data);

Int128 total(const Breakdown& b) {
  Int128 sum = b.compute_ps + b.optimizer_ps + b.bubble_ps + b.host_ps;
  for (const Int128 part : b.exposed_ps) sum += part;
  return sum;
}

Picoseconds total(const CriticalPath& path) {
  Picoseconds sum = path.compute_ps + path.host_ps + path.wait_ps;
  for (const Picoseconds part : path.communication_ps) sum += part;
  return sum;
}

/// Two ranks, a stage each:
///   rank 0: compute 0-10, send 10-14, compute 10-12, optimizer 20-25
///   rank 1: recv 10-14, compute 14-20, all-reduce (data) 20-24 with rank 0, optimizer 24-30
struct TwoStages : RunFixture {
  TwoStages() : RunFixture(2) {
    add_group({0, 1}, Slot::forward_out, Slot::forward_in);
    add_group({0, 1}, Slot::data);
    const auto work = add_work(1);
    const auto message = add_message(Collective::send_recv, 4, Dimension::pipeline);
    const auto gradients = add_message(Collective::all_reduce, 100, Dimension::data);
    const auto first = add_task(0, 10);
    const auto send = add_task(10, 14, {first}, 3);  // 1 ps longer than alone
    const auto second = add_task(10, 12, {first});
    const auto forward = add_task(14, 20, {send});
    const auto reduce = add_task(20, 24, {second, forward});
    const auto step0 = add_task(24, 29, {reduce});
    const auto step1 = add_task(24, 30, {reduce});
    const Op pass = compute_op(work, Phase::forward, Part::layer);
    const Op step = compute_op(work, Phase::optimize, Part::optimizer);
    add_op(0, pass, first);
    add_op(0, communicate_op(message, Stream::send_forward, Slot::forward_out), send);
    add_op(0, pass, second);
    add_op(1, communicate_op(message, Stream::recv_forward, Slot::forward_in), send);
    add_op(1, pass, forward);
    for (std::uint32_t c = 0; c < 2; ++c) {
      add_op(c, communicate_op(gradients, Stream::data, Slot::data), reduce);
    }
    add_op(0, step, step0);
    add_op(1, step, step1);
  }
};

}  // namespace

TEST_CASE("every moment of every GPU belongs to one part of the breakdown") {
  TwoStages run;
  const Report report = orrery::test::report_of(run.view());
  const Breakdown& b = report.breakdown;
  // Each of the 3 passes and 2 optimizer steps starts with 1 ps of launch.
  CHECK(b.host_ps == 5);
  CHECK(b.compute_ps == 9 + 1 + 5);
  CHECK(b.optimizer_ps == 4 + 5);
  // Rank 0: 12-14 waits with the send in flight, 14-20 for rank 1 to reduce, 20-24 reduces, 29-30 is done.
  // Rank 1: 0-10 with nothing, 10-14 receives, 20-24 reduces.
  CHECK(b.exposed_ps[kPipeline] == 2 + 4);
  CHECK(b.exposed_ps[kData] == 6 + 4 + 4);
  CHECK(b.bubble_ps == 1 + 10);
  CHECK(total(b) == 2 * 30);
  // Passes keep the GPUs busy for 15 of compute and 3 of their launches.
  CHECK(report.pipeline_bubble_fraction == doctest::Approx(11.0 / 18));
  CHECK(report.gpu_utilization_mean == doctest::Approx((10 + 2 + 5 + 6 + 6) / 60.0));
  CHECK(report.gpu_utilization_min == doctest::Approx(12.0 / 30));
}

TEST_CASE("the critical path ends last and adds up to the makespan") {
  TwoStages run;
  const CriticalPath path = orrery::test::report_of(run.view()).critical_path;
  CHECK(path.compute_ps == 10 + 6 + 6);  // first, forward, step1
  CHECK(path.communication_ps[kPipeline] == 3);
  CHECK(path.communication_ps[kData] == 4);
  CHECK(path.wait_ps == 1);
  CHECK(total(path) == 30);
}

TEST_CASE("a gap that the host ends is a wait for the host from when it begins to work, a bubble before") {
  // host:    waits for the first pass, 10-13, and issues the second pass 4 later: 13 + 4 = 17
  // compute: pass 0-8, bubble 8-10, host 10-17, pass 17-20, pass 25-26 released by nothing here
  RunFixture run(1);
  const auto work = run.add_work(1);
  const auto first = run.add_task(0, 8);
  const auto host = run.add_task(10, 13, {first});
  const auto second = run.add_task(17, 20, {host, first});
  const auto third = run.add_task(25, 26, {host, second});
  run.expanded.graph.lag = {0, 0, 4, 9};
  const Op pass = compute_op(work, Phase::forward, Part::layer);
  Op issue = pass;
  issue.stream = Stream::host;
  run.add_op(0, pass, first);
  run.add_op(0, issue, host);
  run.add_op(0, pass, second);
  run.add_op(0, pass, third);  // 13 + 9 = 22, not 25: of 20 to 25 the host is not to blame
  const Report report = orrery::test::report_of(run.view());
  CHECK(report.breakdown.host_ps == 3 + 7);  // three launches
  CHECK(report.breakdown.bubble_ps == 2 + 5);
  CHECK(report.breakdown.compute_ps == 7 + 2 + 0);
  CHECK(total(report.breakdown) == 26);
  // Neither waiting for the host nor its work is work of the GPU: 8 + 3 + 1 of 26.
  CHECK(report.gpu_utilization_mean == 12.0 / 26);
  CHECK(report.gpu_utilization_min == 12.0 / 26);
}

TEST_CASE("a wait for the host begins with the first of its operations that follow each other") {
  // host:    2-5 waits for nobody we know, 5 + 3 of issue, 8-10, 10-11, issues the pass 1 later
  // compute: bubble 0-2, host 2-12, pass 12-20
  RunFixture run(1);
  const auto work = run.add_work(0);
  const auto step = run.add_task(2, 5);
  const auto pass = run.add_task(8, 10, {step});
  const auto wait = run.add_task(10, 11, {pass});
  const auto compute = run.add_task(12, 20, {wait});
  run.expanded.graph.lag = {0, 3, 0, 1};
  const Op op = compute_op(work, Phase::forward, Part::layer);
  Op issue = op;
  issue.stream = Stream::host;
  for (const std::uint32_t task : {step, pass, wait}) run.add_op(0, issue, task);
  run.add_op(0, op, compute);
  Breakdown b = orrery::test::report_of(run.view()).breakdown;
  CHECK(b.bubble_ps == 2);
  CHECK(b.host_ps == 10);
  CHECK(b.compute_ps == 8);
  // Had the second operation waited for something else, from 7 to 8, the host would begin at 8.
  run.expanded.graph.lag = {0, 2, 0, 1};
  b = orrery::test::report_of(run.view()).breakdown;
  CHECK(b.bubble_ps == 8);
  CHECK(b.host_ps == 4);
}

/// compute: pass 0-8, pass 20-21; host 9-12 with a lag of 8; an all-reduce of `dimension` 14-16.
Breakdown wait_for_host(Dimension dimension, Slot slot, Stream stream) {
  RunFixture run(2);
  run.add_group({0, 1}, slot);
  const auto work = run.add_work(0);
  const auto message = run.add_message(Collective::all_reduce, 8, dimension);
  const auto reduce = run.add_task(14, 16);
  run.expanded.graph.lag = {0};
  for (std::uint32_t c = 0; c < 2; ++c) {
    const auto first = run.add_task(0, 8);
    const auto host = run.add_task(9, 12);
    const auto second = run.add_task(20, 21, {host});
    run.expanded.graph.lag.insert(run.expanded.graph.lag.end(), {0, 0, 8});
    Op pass = compute_op(work, Phase::forward, Part::layer);
    run.add_op(c, pass, first);
    run.add_op(c, communicate_op(message, stream, slot), reduce);
    run.add_op(c, pass, second);
    pass.stream = Stream::host;
    auto& ops = run.workload.programs.edit()[c].ops;  // the host's operation comes before the second pass
    ops.insert(ops.begin() + 1, pass);
    auto& tasks = run.expanded.ops.edit()[c];
    tasks.insert(tasks.begin() + 1, {host, pass.slot});
  }
  return orrery::test::report_of(run.view()).breakdown;
}

TEST_CASE("while tensor traffic is in flight, a wait for the host belongs to it") {
  const Breakdown b = wait_for_host(Dimension::tensor, Slot::tensor, Stream::tensor);
  CHECK(b.bubble_ps == 2 * 1);      // 8 to 9
  CHECK(b.host_ps == 2 * (5 + 4));  // 9 to 14 and 16 to 20
  CHECK(b.exposed_ps[kTensor] == 2 * 2);
  CHECK(b.compute_ps == 2 * 9);
  CHECK(total(b) == 2 * 21);
}

TEST_CASE("data-parallel traffic behind a wait for the host is not exposed") {
  const Breakdown b = wait_for_host(Dimension::data, Slot::data, Stream::data);
  CHECK(b.exposed_ps[static_cast<std::size_t>(Dimension::data)] == 0);
  CHECK(b.bubble_ps == 2 * 1);  // 8 to 9
  CHECK(b.host_ps == 2 * 11);   // 9 to 20
  CHECK(b.compute_ps == 2 * 9);
  CHECK(total(b) == 2 * 21);
}

TEST_CASE("the critical path through the host: its work, and until it has issued what comes next") {
  RunFixture run(1);
  const auto work = run.add_work(0);
  const auto first = run.add_task(0, 8);
  const auto host = run.add_task(8, 13, {first});
  const auto second = run.add_task(17, 20, {host, first});
  run.expanded.graph.lag = {0, 0, 4};
  Op pass = compute_op(work, Phase::forward, Part::layer);
  run.add_op(0, pass, first);
  pass.stream = Stream::host;
  run.add_op(0, pass, host);
  pass.stream = Stream::compute;
  run.add_op(0, pass, second);
  CriticalPath path = orrery::test::report_of(run.view()).critical_path;
  CHECK(path.compute_ps == 8 + 3);
  CHECK(path.host_ps == 5 + 4);
  CHECK(path.wait_ps == 0);
  CHECK(total(path) == 20);
  // Where the lag ends earlier, the other predecessor decides, and the rest is wait.
  run.expanded.graph.lag = {0, 0, 2};
  path = orrery::test::report_of(run.view()).critical_path;
  CHECK(path.host_ps == 5 + 2);
  CHECK(path.wait_ps == 2);
  CHECK(total(path) == 20);
}

TEST_CASE("a gap before the start of a task is wait") {
  RunFixture run(1);
  const auto work = run.add_work(0);
  const auto a = run.add_task(2, 5);
  const auto b = run.add_task(7, 9, {a});
  run.add_op(0, compute_op(work, Phase::forward, Part::layer), a);
  run.add_op(0, compute_op(work, Phase::forward, Part::layer), b);
  const CriticalPath path = orrery::test::report_of(run.view()).critical_path;
  CHECK(path.compute_ps == 3 + 2);
  CHECK(path.wait_ps == 2 + 2);
}

TEST_CASE("of several communications in flight the wait belongs to tensor, then data, then pipeline") {
  RunFixture run(2);
  run.add_group({0, 1}, Slot::tensor);
  run.add_group({0, 1}, Slot::data);
  run.add_group({0, 1}, Slot::forward_out, Slot::forward_in);
  const auto tensor = run.add_message(Collective::all_reduce, 8, Dimension::tensor);
  const auto data = run.add_message(Collective::all_reduce, 8, Dimension::data);
  const auto pair = run.add_message(Collective::send_recv, 8, Dimension::pipeline);
  // tensor 10-20, data 5-25, pipeline 0-30, makespan 30: pipeline 5 + 5, data 5 + 5, tensor 10 a GPU.
  const auto t = run.add_task(10, 20);
  const auto d = run.add_task(5, 25);
  const auto p = run.add_task(0, 30);
  for (std::uint32_t c = 0; c < 2; ++c) {
    run.add_op(c, communicate_op(tensor, Stream::tensor, Slot::tensor), t);
    run.add_op(c, communicate_op(data, Stream::data, Slot::data), d);
  }
  run.add_op(0, communicate_op(pair, Stream::send_forward, Slot::forward_out), p);
  run.add_op(1, communicate_op(pair, Stream::recv_forward, Slot::forward_in), p);
  const Breakdown b = orrery::test::report_of(run.view()).breakdown;
  CHECK(b.exposed_ps[kTensor] == 2 * 10);
  CHECK(b.exposed_ps[kData] == 2 * 10);
  CHECK(b.exposed_ps[kPipeline] == 2 * 10);
  CHECK(b.bubble_ps == 0);
}

TEST_CASE("1F1B with free communication idles for (p-1)/m of its passes") {
  // p = 2, m = 3, forward 1, backward 2: stage 0 runs F F B F B B, stage 1 F B F B F B from 1 on.
  RunFixture run(2);
  const auto work = run.add_work(0);
  const Op forward = compute_op(work, Phase::forward, Part::layer);
  const Op backward = compute_op(work, Phase::backward, Part::layer);
  const std::pair<Picoseconds, bool> stage0[]{{0, true}, {1, true},  {4, false},
                                              {6, true}, {7, false}, {10, false}};
  for (const auto& [start, is_forward] : stage0) {
    run.add_op(0, is_forward ? forward : backward, run.add_task(start, start + (is_forward ? 1 : 2)));
  }
  for (Picoseconds start = 1; start < 10; start += 3) {
    run.add_op(1, forward, run.add_task(start, start + 1));
    run.add_op(1, backward, run.add_task(start + 1, start + 3));
  }
  CHECK(run.timeline.makespan_ps == (3 + 2 - 1) * 3);
  CHECK(orrery::test::report_of(run.view()).pipeline_bubble_fraction == 1.0 / 3);
}

TEST_CASE("a folded class counts as often as it has ranks") {
  RunFixture run(4, 2);  // classes {0, 1} and {2, 3}
  run.add_group({0, 1}, Slot::tensor);
  run.add_group({2, 3}, Slot::tensor);
  run.add_group({0, 2}, Slot::forward_out, Slot::forward_in);
  run.add_group({1, 3}, Slot::forward_out, Slot::forward_in);
  const auto work = run.add_work(0);
  const auto tensor = run.add_message(Collective::all_reduce, 100, Dimension::tensor);
  const auto pair = run.add_message(Collective::send_recv, 60, Dimension::pipeline);
  const auto pass = run.add_task(0, 6'000'000);
  const auto reduce = run.add_task(6'000'000, 8'000'000, {pass});
  const auto send = run.add_task(8'000'000, 10'000'000, {reduce});
  run.add_op(0, compute_op(work, Phase::forward, Part::layer), pass);
  run.add_op(0, communicate_op(tensor, Stream::tensor, Slot::tensor), reduce);
  run.add_op(0, communicate_op(pair, Stream::send_forward, Slot::forward_out), send);
  run.add_op(1, communicate_op(pair, Stream::recv_forward, Slot::forward_in), send);
  const Report report = orrery::test::report_of(run.view());
  CHECK(report.breakdown.compute_ps == 2 * 6'000'000);
  CHECK(report.breakdown.exposed_ps[kTensor] == 2 * 2'000'000);
  CHECK(report.breakdown.exposed_ps[kPipeline] == 4 * 2'000'000);
  CHECK(total(report.breakdown) == 4 * 10'000'000);
  CHECK(report.stats.ranks == 2);
  // all-reduce: 2 (n-1)/n M = 100 by two ranks of four; send: 60 by two of four.
  CHECK(report.bytes_per_gpu[kTensor] == 50);
  CHECK(report.bytes_per_gpu[kPipeline] == 30);
}

TEST_CASE("bytes sent follow the collective") {
  const auto sent = [](Collective collective, std::size_t n, bool first = true) {
    return bytes_sent({collective, 120, Dimension::tensor}, n, first);
  };
  CHECK(sent(Collective::all_reduce, 4) == 180);
  CHECK(sent(Collective::all_gather, 4) == 90);
  CHECK(sent(Collective::reduce_scatter, 3) == 80);
  CHECK(sent(Collective::all_to_all, 2) == 60);
  CHECK(sent(Collective::broadcast, 4) == 90);
  CHECK(sent(Collective::send_recv, 2) == 120);
  CHECK(sent(Collective::send_recv, 2, false) == 0);
  CHECK(sent(Collective::all_reduce, 1) == 0);
}

TEST_CASE("time is conserved on random pipelines") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    RandomPipeline pipeline(
        {1 + seed % 4, static_cast<std::int32_t>(1 + seed % 5), 3, 10, 5000, seed % 3 != 0}, seed);
    const Report report = orrery::test::report_of(pipeline.fixture.view());
    const Int128 all = Int128{report.gpus} * report.makespan_ps;
    CHECK(total(report.breakdown) == all);
    CHECK(report.breakdown.bubble_ps >= 0);
    CHECK(total(report.critical_path) == report.makespan_ps);
    CHECK(report.gpu_utilization_min <= report.gpu_utilization_mean);
    CHECK(report.gpu_utilization_mean <= 1);
  }
}

TEST_CASE("a run without tasks has no figures and no division by zero") {
  RunFixture run(2);
  const Report report = orrery::test::report_of(run.view());
  CHECK(report.makespan_ps == 0);
  CHECK(report.pipeline_bubble_fraction == 0);
  CHECK(report.gpu_utilization_mean == 0);
  CHECK(report.links[0].mean == 0);
}

TEST_CASE("classes of one program find their own tasks side by side") {
  // 20 ranks of one program: a pass of r + 1 ps, a data reduction from 20 to 25, one task of all.
  constexpr std::uint32_t kRanks = 20;
  RunFixture run(kRanks);
  std::vector<std::uint32_t> everyone;
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    run.workload.program_of_rank.edit()[r] = 0;
    run.expanded.program.edit()[r] = 0;
    run.expanded.position.edit()[r] = r;
    everyone.push_back(r);
  }
  run.workload.programs.resize(1);
  run.add_group(everyone, Slot::data);
  const auto gradients = run.add_message(Collective::all_reduce, 8, Dimension::data);
  std::vector<std::uint32_t> passes;
  for (std::uint32_t r = 0; r < kRanks; ++r) passes.push_back(run.add_task(0, r + 1));
  run.add_op(0, compute_op(run.add_work(0), Phase::forward, Part::layer), passes[0]);
  const auto reduce = run.add_task(20, 25, passes, 4);
  run.add_op(0, communicate_op(gradients, Stream::data, Slot::data), reduce);
  const Report report = orrery::test::report_of(run.view());
  CHECK(report.breakdown.compute_ps == 20 * 21 / 2);
  // All wait for rank 19 to reduce with.
  CHECK(report.breakdown.exposed_ps[kData] == 20 * 5 + 20 * 19 / 2);
  CHECK(report.breakdown.bubble_ps == 0);
  CHECK(report.gpu_utilization_min == doctest::Approx(1.0 / 25));
  CHECK(report.critical_path.compute_ps == 20);  // of rank 19, the only one that ends at 20
  CHECK(report.critical_path.communication_ps[kData] == 4);
  CHECK(report.critical_path.wait_ps == 1);
}

TEST_CASE("link utilisation is bytes over what a link can carry in the makespan") {
  RunFixture run(2);  // 4 links of 1 MB/s
  run.add_op(0, compute_op(run.add_work(0), Phase::forward, Part::layer), run.add_task(0, 2'000'000'000'000));
  run.link_bytes = {1'000'000, 0, 0, 500'000};  // of 2e6 in 2 s
  const Report report = orrery::test::report_of(run.view());
  REQUIRE(report.links.size() == 1);
  CHECK(report.links[0].kind == LinkKind::nic);
  CHECK(report.links[0].mean == doctest::Approx((0.5 + 0.25) / 4));
  CHECK(report.links[0].peak == doctest::Approx(0.5));
}
