// Checks what norms and gates keep that run as single operations.
#include <doctest/doctest.h>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/programs/stages.hpp"

using namespace orrery;
using orrery::test::experiment;
using orrery::test::gpt;
using orrery::test::llama;

namespace {

ActivationBytes kept_by(const Experiment& e) {
  const Outline outlined = outline(e, CommunicatorLayout(e, {}));
  return outlined.stages.list()[0].chunks[0].activations;
}

}  // namespace

TEST_CASE("an eager norm keeps 6 bytes a value more, an eager gate 2 bytes of its width") {
  // 1,024 tokens of 512 values through three layers, each with two norms, and a head with one.
  Experiment e = experiment(llama(3, 512, 1376, 8, 8, 1024, 4096), 1, 1, 1, 1);
  const ActivationBytes fused = kept_by(e);
  e.software.eager_layers = true;
  ActivationBytes more = kept_by(e);
  more -= fused;
  CHECK(more[ActivationKind::residual] == (3 * 2 + 1) * 6 * 1024 * 512);
  CHECK(more[ActivationKind::mlp] == 3 * 2 * 1024 * 1376);
  CHECK(more.total() == more[ActivationKind::residual] + more[ActivationKind::mlp]);
}

TEST_CASE("sequence parallelism cuts what eager norms keep, tensor parallelism what gates keep") {
  Experiment e = experiment(llama(1, 512, 1377, 8, 8, 1024, 4096), 4, 1, 1, 1);  // 345 wide on a rank
  e.plan.sequence_parallel = true;
  const ActivationBytes fused = kept_by(e);
  e.software.eager_layers = true;
  ActivationBytes more = kept_by(e);
  more -= fused;
  CHECK(more[ActivationKind::residual] == 3 * 6 * 1024 * 512 / 4);
  CHECK(more[ActivationKind::mlp] == 2 * 1024 * 345);
}

TEST_CASE("layer norms are one kernel, and what is computed again is not kept") {
  Experiment e = experiment(gpt(3, 512, 8, 1024, 4096), 1, 1, 1, 1);
  const ActivationBytes plain = kept_by(e);
  e.software.eager_layers = true;
  CHECK(kept_by(e) == plain);
  e.model = llama(3, 512, 1376, 8, 8, 1024, 4096);
  e.plan.recompute = Recompute::full;
  e.software.eager_layers = false;
  const ActivationBytes again = kept_by(e);
  e.software.eager_layers = true;
  ActivationBytes more = kept_by(e);
  more -= again;
  CHECK(more.total() == 6 * 1024 * 512);  // of the head's norm
}
