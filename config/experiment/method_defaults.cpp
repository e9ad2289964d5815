#include "config/experiment/method_defaults.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace orrery {
namespace {

/// Holds the defaults of a paper or its authors' implementation; 0 and "": the defaults of other methods.
/// Outer optimizer: learning rate and momentum.
struct MethodDefaults {
  SyncMethod method;
  std::int64_t period;
  std::string_view topology;
  double outer_learning_rate;
  double outer_momentum;
};

constexpr std::array<MethodDefaults, 8> kDefaults{{
    // Douillard et al. 2023: Nesterov 0.7, 0.9; H is 500 there, 100 in Streaming DiLoCo (2025).
    {SyncMethod::diloco, 100, "", 0.7, 0.9},
    // Exact diffusion wants a graph that stays and goes both ways.
    {SyncMethod::d2, 0, "ring", 0.7, 0.9},
    // Wang et al. 2020 on CIFAR-10: tau 12, alpha 1, beta 0.7.
    {SyncMethod::slowmo, 12, "", 1, 0.7},
    // Kolehmainen et al. 2025: pairs, every 50 steps, 0.7 and 0.5.
    {SyncMethod::noloco, 50, "random-matching", 0.7, 0.5},
    // Sarfi et al. 2025: H from 15 to 100, no outer momentum.
    {SyncMethod::sparse_loco, 30, "", 1, 0},
    // Lian et al. 2018: a random neighbour.
    {SyncMethod::ad_psgd, 0, "random-matching", 0.7, 0.9},
    // Zhang et al. 2015: tau 10, beta 0.9.
    {SyncMethod::easgd, 10, "", 0.9, 0},
    // Liu et al. 2024: as diloco.
    {SyncMethod::async_diloco, 100, "", 0.7, 0.9},
}};

const MethodDefaults* defaults_of(SyncMethod method) {
  const auto found = std::ranges::find(kDefaults, method, &MethodDefaults::method);
  return found == kDefaults.end() ? nullptr : found;
}

/// 64 of 4096 values, two bits each, and an error feedback of 0.95 (Sarfi et al. 2025).
Compression sparse_loco_compression() {
  Compression out;
  out.method = Compression::Method::top_k;
  out.bits = 2;
  out.chunk = 4096;
  out.fraction = 1.0 / 64;
  out.error_decay = 0.95;
  return out;
}

/// 32 of the frequencies of 64 x 64 values, and a momentum of 0.999 (Peng et al. 2024, `demo.py`).
Compression demo_compression() {
  Compression out;
  out.method = Compression::Method::dct_top_k;
  out.bits = 32;
  out.chunk = 4096;
  out.fraction = 1.0 / 128;
  out.error_decay = 0.999;
  return out;
}

}  // namespace

void apply_method_defaults(DataParallelSync& sync) {
  if (const MethodDefaults* defaults = defaults_of(sync.method)) {
    if (defaults->period > 0) sync.period = defaults->period;
    if (!defaults->topology.empty()) sync.topology = defaults->topology;
  }
  if (sync.method == SyncMethod::ad_psgd) sync.overlap = SyncOverlap::combine_while_computing;
  if (sync.method == SyncMethod::sparse_loco) sync.compression = sparse_loco_compression();
  if (sync.method == SyncMethod::demo) sync.compression = demo_compression();
}

void apply_method_defaults(SyncMethod method, LearningProblem& problem) {
  const MethodDefaults* defaults = defaults_of(method);
  if (defaults == nullptr) return;
  problem.outer_learning_rate = defaults->outer_learning_rate;
  problem.outer_momentum = defaults->outer_momentum;
}

}  // namespace orrery
