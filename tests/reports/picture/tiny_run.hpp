// A run of two stages, small enough to draw with a pencil.
#pragma once

#include "orrery/rank_grid.hpp"
#include "tests/sim/metrics/run_fixture.hpp"

namespace orrery::test {

/// Times in ms; F forward, B backward with its recomputation, > message to the next stage.
///   stage 0: F0 0-20, F1 20-40, waits, B0 70-100 (recomputation until 80)
///   stage 1: waits, F0 25-45, B0 45-65
/// The message of F0 takes 20-25. Stage 0 holds 1 GB, and 2 GB more from F0 to the end of B0.
struct TinyRun : RunFixture {
  static constexpr Picoseconds kMs = 1'000'000'000;

  TinyRun() : RunFixture(2) {
    add_group({0, 1}, Slot::forward_out, Slot::forward_in);
    const auto work = add_work(0);
    const auto message = add_message(Collective::send_recv, 8'000, Dimension::pipeline);
    const auto forward = [&](int micro_batch) {
      return compute_op(work, Phase::forward, Part::layer, 0, micro_batch);
    };
    const auto compute = [&](std::uint32_t rank, const Op& op, Picoseconds from, Picoseconds to) {
      add_op(rank, op, add_task(from * kMs, to * kMs));
    };
    workload.stage_memory.resize(2);
    workload.stage_memory[0].standing = 1'000'000'000;
    compute(0, compute_op(work, Phase::forward, Part::layer, 0, 0, 2'000'000'000), 0, 20);
    const auto sent = add_task(20 * kMs, 25 * kMs);
    add_op(
        0,
        communicate_op(message, Stream::send_forward, Slot::forward_out, Phase::forward, Part::stage, -1, 0),
        sent);
    add_op(
        1,
        communicate_op(message, Stream::recv_forward, Slot::forward_in, Phase::forward, Part::stage, -1, 0),
        sent);
    compute(0, forward(1), 20, 40);
    compute(1, forward(0), 25, 45);
    compute(1, compute_op(work, Phase::backward, Part::layer, 0, 0), 45, 65);
    compute(0, compute_op(work, Phase::recompute, Part::layer, 0, 0), 70, 80);
    compute(0, compute_op(work, Phase::backward, Part::layer, 0, 0, -2'000'000'000), 80, 100);
  }

  [[nodiscard]] static Plan plan() {
    Plan plan;
    plan.pipeline_parallel = 2;
    return plan;
  }
  [[nodiscard]] RankGrid grid() const { return RankGrid(plan()); }
  [[nodiscard]] Report report() const {
    Report report = report_of(view());
    report.name = "tiny";
    report.gpus = 2;
    report.gpu_usable_memory = 4'000'000'000;
    return report;
  }
};

}  // namespace orrery::test
