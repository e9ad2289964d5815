// Checks the memory of a process beside tensors: libraries, the allocator, the CUDA context, communicators.
#include <doctest/doctest.h>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;

TEST_CASE("a device holds tensors, what libraries and the allocator add, and what lies outside it") {
  Experiment e = experiment(gpt(4, 512, 8, 256, 4096), 2, 2, 2, 4);  // tensor, pipeline, data parallel
  const Bytes tensors = stage_memory(e)[0].total();
  CHECK(stage_memory(e)[0].device() == tensors);
  e.software.framework_gb = 0.25;
  e.software.allocator_overhead = 0.1;
  e.software.context_gb = 0.5;
  e.software.communicator_mb = 30;
  const StageMemory memory = stage_memory(e)[0];
  CHECK(memory.total() == tensors + 250'000'000);
  CHECK(memory.workspace.framework == 250'000'000);
  CHECK(static_cast<double>(memory.reserved()) ==
        doctest::Approx(1.1 * static_cast<double>(memory.total())).epsilon(1e-8));
  // A communicator along each of three dimensions.
  CHECK(memory.outside == 500'000'000 + 3 * 30'000'000);
  CHECK(memory.device() == memory.reserved() + memory.outside);
}
