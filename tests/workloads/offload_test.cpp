// Checks offloading to host memory: copies and their dependencies, and the memory left on the GPU.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;

namespace {

struct Copied {
  int operations = 0;
  Bytes bytes = 0;
  bool operator==(const Copied&) const = default;
};

Copied copied(const Workload& w, Stream stream, std::size_t program = 0) {
  Copied out;
  for (const Op& op : w.programs[program].ops) {
    if (op.stream != stream) continue;
    ++out.operations;
    for (const Kernel& kernel : w.kernel_sequences[op.work].kernels) out.bytes += kernel.bytes;
  }
  return out;
}

Experiment offloading(Offload what, double fraction) {
  Experiment e = experiment(gpt(8, 512, 8, 256, 4096), 1, 4, 2, 8, 2);
  e.plan.offload = what;
  e.plan.offload_fraction = fraction;
  return e;
}

/// Bytes of activations of a layer, for 2 samples of 256 tokens: 34 sbh + 5 a s^2 b.
constexpr Bytes kKept = 34 * (256 * 2 * 512) + 5 * 8 * 256 * 256 * 2;

}  // namespace

TEST_CASE("states in the memory of the host leave the GPU, and gradients and parameters cross the link") {
  for (const int zero : {0, 1}) {
    CAPTURE(zero);
    Experiment e = offloading(Offload::optimizer, 1);
    e.plan.zero_stage = zero;
    e.plan.bucket_mb = 1;
    const std::int64_t p = stage_memory(e)[1].parameters_count;
    const std::int64_t owned = zero == 0 ? p : p / 2;
    CHECK(stage_memory(e)[1].optimizer() == 0);
    const Workload w = lower(e);
    const int buckets = static_cast<int>((owned + 499'999) / 500'000);  // of 1 MB in 16 bits
    CHECK(copied(w, Stream::copy_to_host, 1) == Copied{buckets, 2 * owned});
    CHECK(copied(w, Stream::host_optimizer, 1) == Copied{buckets, 28 * owned});
    CHECK(copied(w, Stream::copy_from_host, 1) == Copied{buckets, 2 * owned});
    e.plan.offload_fraction = 0.25;
    const std::int64_t part = (owned + 3) / 4;
    CHECK(stage_memory(e)[1].optimizer() == 12 * (owned - part));
    CHECK(copied(lower(e), Stream::copy_to_host, 1).bytes == 2 * part);
    e.plan.offload_fraction = 0;
    CHECK(stage_memory(e)[1].optimizer() == 12 * owned);
    CHECK(copied(lower(e), Stream::copy_to_host, 1) == Copied{});
  }
}

TEST_CASE("activations in the memory of the host leave three layers of them on the GPU") {
  const StageMemory kept = stage_memory(offloading(Offload::none, 1))[1];
  CHECK(kept.activations.total() == 3 * 2 * kKept);  // 1F1B: three micro-batches of two layers
  const Experiment all = offloading(Offload::activations, 1);
  const StageMemory none = stage_memory(all)[1];
  CHECK(none.activations.total() == 0);
  CHECK(none.workspace.total() == kept.workspace.total() + 3 * kKept);
  CHECK(none.parameters + none.gradients + none.optimizer() ==
        kept.parameters + kept.gradients + kept.optimizer());
  const Experiment half = offloading(Offload::activations, 0.5);
  CHECK(stage_memory(half)[1].activations.total() == 3 * kKept);
  const Workload w = lower(half);
  CHECK(copied(w, Stream::copy_to_host, 1) == Copied{8, 8 * kKept});
  CHECK(copied(w, Stream::copy_from_host, 1) == Copied{8, 8 * kKept});
  CHECK(copied(lower(all), Stream::copy_to_host, 1) == Copied{16, 16 * kKept});
}

TEST_CASE("what is offloaded is what recomputation keeps") {
  Experiment e = offloading(Offload::activations, 1);
  e.plan.recompute = Recompute::full;
  CHECK(copied(lower(e), Stream::copy_to_host, 1) == Copied{16, 16 * 2 * 256 * 2 * 512});
}

TEST_CASE("a layer's activations come back after they have left, and no more than one layer ahead") {
  for (const char* schedule : {"1f1b", "gpipe", "interleaved-1f1b", "zb-h1"}) {
    CAPTURE(schedule);
    Experiment e = offloading(Offload::activations, 1);
    e.plan.pipeline_schedule = schedule;
    e.plan.virtual_stages = schedule == std::string("interleaved-1f1b") ? 2 : 1;
    const Workload w = lower(e);
    const Program& program = w.programs[1];
    std::map<std::pair<int, int>, std::uint32_t> left;  // micro-batch, layer
    std::uint32_t latest = 0;                           // computation
    int back = 0;
    for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (op.stream == Stream::compute) latest = i;
      if (op.stream == Stream::copy_to_host) left[{op.micro_batch, op.layer}] = i;
      if (op.stream != Stream::copy_from_host) continue;
      ++back;
      const auto deps = program.dependencies(op);
      REQUIRE(!deps.empty());
      CHECK(deps[0] == left.at({op.micro_batch, op.layer}));
      if (deps.size() > 1) CHECK(deps[1] < latest);  // the block that ran last may still run
    }
    CHECK(back == 16);
    Bytes held = 0;
    for (const Op& op : program.ops) held += op.memory_at_start + op.memory_at_finish;
    CHECK(held == 0);
  }
}
