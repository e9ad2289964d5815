#include <doctest/doctest.h>

#include "orrery/error.hpp"
#include "tests/reports/trace/trace_check.hpp"
#include "tests/reports/trace/traced_runs.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr std::string_view kPairTrace = R"trace({"displayTimeUnit":"ms","metadata":{"seed":0},"traceEvents":[
{"ph":"M","pid":10,"name":"process_name","args":{"name":"rank 0: tp 0 dp 0 pp 0 (node 0, gpu 0)"}},
{"ph":"M","pid":10,"name":"process_sort_index","args":{"sort_index":0}},
{"ph":"M","pid":10,"tid":1,"name":"thread_name","args":{"name":"compute"}},
{"ph":"M","pid":10,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":10,"tid":4,"name":"thread_name","args":{"name":"send forward"}},
{"ph":"M","pid":10,"tid":4,"name":"thread_sort_index","args":{"sort_index":4}},
{"ph":"M","pid":11,"name":"process_name","args":{"name":"rank 1: tp 0 dp 0 pp 1 (node 0, gpu 1)"}},
{"ph":"M","pid":11,"name":"process_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":11,"tid":1,"name":"thread_name","args":{"name":"compute"}},
{"ph":"M","pid":11,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":11,"tid":5,"name":"thread_name","args":{"name":"recv forward"}},
{"ph":"M","pid":11,"tid":5,"name":"thread_sort_index","args":{"sort_index":5}},
{"ph":"X","pid":10,"tid":1,"ts":0.000,"dur":0.013,"name":"step","cat":"step","args":{"step":0}},
{"ph":"X","pid":10,"tid":1,"ts":0.000,"dur":0.005,"name":"forward pass","cat":"pass","args":{"microbatch":7}},
{"ph":"X","pid":10,"tid":1,"ts":0.000,"dur":0.004,"name":"forward attention","cat":"forward","args":{"layer":3,"microbatch":7}},
{"ph":"C","pid":10,"ts":0.000,"name":"memory GB","args":{"total":0.0065}},
{"ph":"X","pid":11,"tid":1,"ts":0.000,"dur":0.013,"name":"step","cat":"step","args":{"step":0}},
{"ph":"C","pid":11,"ts":0.000,"name":"memory GB","args":{"total":0.004}},
{"ph":"X","pid":10,"tid":4,"ts":0.005,"dur":0.005,"name":"send forward","cat":"forward","args":{"microbatch":7,"group":0,"ranks":2,"bytes":8000}},
{"ph":"C","pid":10,"ts":0.005,"name":"link GB/s","args":{"pipeline":1600}},
{"ph":"X","pid":11,"tid":5,"ts":0.005,"dur":0.005,"name":"recv forward","cat":"forward","args":{"microbatch":7,"group":0,"ranks":2,"bytes":8000}},
{"ph":"s","pid":10,"tid":4,"ts":0.006,"id":3,"name":"p2p","cat":"p2p"},
{"ph":"f","bp":"e","pid":11,"tid":5,"ts":0.008,"id":3,"name":"p2p","cat":"p2p"},
{"ph":"C","pid":10,"ts":0.010,"name":"link GB/s","args":{"pipeline":0}},
{"ph":"X","pid":11,"tid":1,"ts":0.010,"dur":0.002,"name":"backward pass","cat":"pass","args":{"microbatch":7}},
{"ph":"X","pid":11,"tid":1,"ts":0.010,"dur":0.001,"name":"backward mlp","cat":"backward","args":{"layer":4,"microbatch":7}},
{"ph":"C","pid":11,"ts":0.013,"name":"memory GB","args":{"total":0.0035}}
]}
)trace";

}  // namespace

TEST_CASE("a message in the trace, word by word") {
  PairRun run;
  TraceOptions options;
  options.metadata_json = R"({"seed":0})";
  CHECK(write(run, plan_of(1, 2), options).text == kPairTrace);
}

TEST_CASE("traces of random pipelines keep every rule and agree with the report") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const std::uint32_t stages = 1 + seed % 4;
    // Whole ns, so that slices add up to the report's ps.
    RandomPipeline pipeline({stages, 3, 4, 1000 * (seed % 3), 20'000, true}, seed);
    RunFixture& run = pipeline.fixture;
    const Written trace = write(run, plan_of(2, stages));
    const TraceContents contents = TraceCheck::run(trace.text);
    CHECK(contents.slices == trace.info.spans);
    CHECK(contents.flows == trace.info.flows);
    CHECK(contents.processes.size() == 2 * stages);
  }
}

TEST_CASE("slices of compute add up to the report's compute, host and optimizer time") {
  RandomPipeline pipeline({3, 4, 4, 1'000'000, 9'000'000, true}, 5);
  const TraceContents contents = TraceCheck::run(write(pipeline.fixture, plan_of(2, 3)).text);
  const Breakdown b = orrery::test::report_of(pipeline.fixture.view()).breakdown;
  std::int64_t compute_ns = 0;
  for (const auto& [key, ns] : contents.ns) {
    if (key.second == 1) compute_ns += ns;
  }
  // Each of the (2 * 4 * 4 + 1) slices of each of 6 ranks is rounded by less than 2 ns, and the last ones of
  // the 2 * 4 + 1 passes of a rank end 1 ns before those, and these 1 ns before each other or the step.
  const auto exact = static_cast<double>(b.compute_ps + b.host_ps + b.optimizer_ps) / 1000;
  CHECK(std::abs(exact - static_cast<double>(compute_ns)) < (2 * 33 + 2 * 9) * 6);
}

TEST_CASE("touching slices do not overlap for a reader that adds in double") {
  // 0.1 + 0.2 > 0.3 in double, and others once a reader rebases times: slices that touch are printed 1 ns
  // shorter, and so is the pass that they are in, which ends with the step, and the last one in it.
  RunFixture run(1);
  const auto work = run.add_work(0);
  for (const auto& [start, finish] : {std::pair{100'000, 300'000}, {300'000, 400'000}, {400'000, 402'900}}) {
    run.add_op(0, compute_op(work, Phase::forward, Part::layer), run.add_task(start, finish));
  }
  const Written trace = write(run, plan_of(1, 1));
  CHECK(trace.text.find(R"("ts":0.100,"dur":0.199)") != std::string::npos);
  CHECK(trace.text.find(R"("ts":0.300,"dur":0.099)") != std::string::npos);
  CHECK(trace.text.find(R"("ts":0.400,"dur":0.000)") != std::string::npos);
  CHECK(trace.text.find(R"("ts":0.000,"dur":0.402,"name":"step")") != std::string::npos);
  CHECK(trace.text.find(R"("ts":0.100,"dur":0.301,"name":"optimizer","cat":"pass")") != std::string::npos);
  CHECK(TraceCheck::run(trace.text).slices == 5);
}

TEST_CASE("operations shorter than 1 ns stay in their pass and keep apart") {
  for (const Picoseconds length : {100, 500, 900, 1000, 1100, 2000}) {
    CAPTURE(length);
    RunFixture run(1);
    const auto work = run.add_work(0);
    Picoseconds now = 0;
    for (std::int32_t m = 0; m < 8; ++m) {
      for (std::int32_t layer = 0; layer < 3; ++layer, now += length)
        run.add_op(0, compute_op(work, Phase::forward, Part::layer, layer, m),
                   run.add_task(now, now + length));
    }
    const TraceContents contents = TraceCheck::run(write(run, plan_of(1, 1)).text);
    CHECK(contents.slices == 1 + 8 + 24);
  }
}

TEST_CASE("levels leave out what is finer: passes without operations, steps without passes") {
  RandomPipeline pipeline({2, 3, 4, 1'000'000, 2'000'000, true}, 1);
  TraceOptions options;
  const TraceContents all = TraceCheck::run(write(pipeline.fixture, plan_of(2, 2), options).text);
  // The page has 4 ranks, each with a step, 3 passes forward, 3 backward and the optimizer.
  CHECK(all.steps == 4);
  CHECK(all.passes == 4 * 7);
  options.level = TraceLevel::pass;
  const Written passes = write(pipeline.fixture, plan_of(2, 2), options);
  CHECK(passes.info.spans == 4 + 4 * 7);
  CHECK(TraceCheck::run(passes.text).slices == 4 + 4 * 7);
  CHECK(TraceCheck::run(passes.text).highest == all.highest);
  options.level = TraceLevel::step;
  CHECK(TraceCheck::run(write(pipeline.fixture, plan_of(2, 2), options).text).slices == 4);
  // The level decides which ranks fit: 4 of 1 + 7 spans are within 32, those with operations are not.
  options.max_spans = 32;
  options.level = TraceLevel::pass;
  CHECK(write(pipeline.fixture, plan_of(2, 2), options).info.ranks == 4);
  options.level = TraceLevel::operation;
  CHECK(write(pipeline.fixture, plan_of(2, 2), options).info.ranks == 2);
}

TEST_CASE("ranks can be chosen, and arrows need both ends") {
  RandomPipeline pipeline({3, 2, 2, 1'000'000, 2'000'000, true}, 1);
  TraceOptions options;
  options.ranks = {4, 2};
  const Written two = write(pipeline.fixture, plan_of(2, 3), options);
  const TraceContents contents = TraceCheck::run(two.text);
  CHECK(contents.processes == std::set<std::int64_t>{12, 14});
  CHECK(contents.flows == 2 * 2);  // forward and backward of two micro-batches
  options.ranks = {2, 5};
  CHECK(TraceCheck::run(write(pipeline.fixture, plan_of(2, 3), options).text).flows == 0);
  options.ranks = {6};
  CHECK_THROWS_AS(write(pipeline.fixture, plan_of(2, 3), options), InputError);
}

TEST_CASE("a trace that would be too long keeps one rank a stage") {
  RandomPipeline pipeline({3, 2, 2, 1'000'000, 2'000'000, true}, 1);
  TraceOptions options;
  options.max_spans = 20;
  CHECK(write(pipeline.fixture, plan_of(2, 3), options).info.ranks == 3);
}

TEST_CASE("steps can be chosen") {
  RunFixture run(1);
  const auto work = run.add_work(0);
  run.workload.steps = 2;
  for (std::int32_t step = 0; step < 2; ++step) {
    Op op = compute_op(work, Phase::forward, Part::layer);
    op.step = step;
    run.add_op(0, op, run.add_task(step * 1'000'000, (step + 1) * 1'000'000));
  }
  TraceOptions options;
  options.steps = {1};
  const Written trace = write(run, plan_of(1, 1), options);
  CHECK(TraceCheck::run(trace.text).slices == 3);
  CHECK(trace.text.find(R"("ts":1.000,"dur":1.000,"name":"step")") != std::string::npos);
  CHECK(trace.text.find(R"("ts":1.000,"dur":0.999,"name":"optimizer","cat":"pass")") != std::string::npos);
  CHECK(trace.text.find(R"("ts":1.000,"dur":0.998)") != std::string::npos);
  CHECK(trace.text.find(R"("args":{"step":1)") != std::string::npos);
}

TEST_CASE("every rank of a folded run has the times of its class and its own peers") {
  RunFixture run(4, 2);
  run.add_group({0, 2}, Slot::forward_out, Slot::forward_in);
  run.add_group({1, 3}, Slot::forward_out, Slot::forward_in);
  const auto pair = run.add_message(Collective::send_recv, 60, Dimension::pipeline);
  const auto send = run.add_task(1'000'000, 2'000'000);
  run.add_op(0, communicate_op(pair, Stream::send_forward, Slot::forward_out), send);
  run.add_op(1, communicate_op(pair, Stream::recv_forward, Slot::forward_in), send);
  const Written trace = write(run, plan_of(2, 2));
  const TraceContents contents = TraceCheck::run(trace.text);
  CHECK(contents.slices == 4);
  CHECK(contents.flows == 2);
  CHECK(trace.text.find(R"("group":1)") != std::string::npos);
}

TEST_CASE("counters show the peak in long traces too, and stay few") {
  RandomPipeline pipeline({2, 64, 24, 1'000'000, 3'000'000, true}, 3);
  const Written trace = write(pipeline.fixture, plan_of(2, 2));
  REQUIRE(trace.info.spans > 20'000);
  const TraceContents contents = TraceCheck::run(trace.text);
  // GPipe keeps the activations of all 64 micro-batches and 24 operations, 1 MB each.
  CHECK(contents.highest.at({10, "memory GB total"}) == doctest::Approx(64 * 24 * 1e-3));
  CHECK(contents.counters < trace.info.spans / 10);
  CHECK(contents.highest.at({10, "link GB/s tensor"}) > 0);
}

TEST_CASE("a span of a long trace takes less than 150 bytes") {
  // Times of about 10 s and three-digit layers, as in a large run.
  RandomPipeline pipeline({8, 64, 24, 1'000'000'000, 2'000'000'000, true}, 3);
  const Written trace = write(pipeline.fixture, plan_of(2, 8));
  REQUIRE(trace.info.spans > 95'000);
  const double bytes = static_cast<double>(trace.text.size()) / static_cast<double>(trace.info.spans);
  MESSAGE("bytes a span: " << bytes);
  CHECK(bytes < 150);
}
