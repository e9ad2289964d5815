// Makes small runs for traces, and writes them.
#pragma once

#include <string>

#include "orrery/rank_grid.hpp"
#include "reports/writers.hpp"
#include "tests/sim/metrics/run_fixture.hpp"

namespace orrery::test {

inline Plan plan_of(std::int64_t tensor, std::int64_t pipeline) {
  Plan plan;
  plan.tensor_parallel = tensor;
  plan.pipeline_parallel = pipeline;
  return plan;
}

struct Written {
  TraceInfo info;
  std::string text;
};

inline Written write(const RunFixture& run, const Plan& plan, const TraceOptions& options = {}) {
  Written out;
  out.info =
      write_trace(run.view(), RankGrid(plan), options, [&out](std::string_view part) { out.text += part; });
  return out;
}

/// Sender 0-5 ns, message 5-9 ns, receiver 9-12 ns.
struct PairRun : RunFixture {
  PairRun() : RunFixture(2) {
    add_group({0, 1}, Slot::forward_out, Slot::forward_in);
    const auto work = add_work(0);
    const auto message = add_message(Collective::send_recv, 8'000, Dimension::pipeline);
    const auto first = add_task(0, 5'000);
    const auto send = add_task(5'000, 10'000, {first});
    const auto second = add_task(10'000, 13'500, {send});
    workload.stage_memory.resize(2);
    workload.stage_memory[0].standing = 6'000'000;
    workload.stage_memory[1].standing = 4'000'000;
    add_op(0, compute_op(work, Phase::forward, Part::attention, 3, 7, 500'000), first);
    add_op(
        0,
        communicate_op(message, Stream::send_forward, Slot::forward_out, Phase::forward, Part::stage, -1, 7),
        send);
    add_op(
        1,
        communicate_op(message, Stream::recv_forward, Slot::forward_in, Phase::forward, Part::stage, -1, 7),
        send);
    add_op(1, compute_op(work, Phase::backward, Part::mlp, 4, 7, -500'000), second);
  }
};

}  // namespace orrery::test
