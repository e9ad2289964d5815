#include "sim/claims/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "sim/claims/not_simulated.hpp"
#include "sim/metrics/memory_fit.hpp"
#include "workloads/lowering/lower.hpp"
#include "workloads/weights/weight_traffic.hpp"

namespace orrery {
namespace {

double gigabytes(Bytes bytes) { return static_cast<double>(bytes) / 1e9; }

/// Holds the traffic and the memory of a plan: each of the stage that has most of it.
struct Judged {
  WeightTraffic traffic;
  Bytes memory = 0;
  bool fits = false;
};

Judged judge(const Experiment& experiment) {
  const Outline outlined = outline(experiment, CommunicatorLayout(experiment, {}));
  Judged judged;
  for (const Stage& stage : outlined.stages.list()) {
    const WeightTraffic traffic = weight_traffic(experiment, stage);
    if (traffic.bytes() > judged.traffic.bytes()) judged.traffic = traffic;
  }
  for (const StageMemory& stage : outlined.workload.stage_memory)
    judged.memory = std::max(judged.memory, stage.total());
  judged.fits = fits(experiment, outlined.workload.stage_memory);
  return judged;
}

/// Keys of a plan with other values.
struct Change {
  std::string keys;
  Plan plan;
};

/// Ways to move weights less often.
std::vector<Change> changes_of(const Plan& plan) {
  std::vector<Change> changes;
  const auto add = [&](std::string keys, auto change) {
    changes.push_back({std::move(keys), plan});
    change(changes.back().plan);
  };
  const auto once = [](Plan& p) { p.gradient_reduction = GradientReduction::every_step; };
  const auto keep = [](Plan& p) { p.reshard_after_forward = false; };
  const std::string reduce = "plan.gradient_reduction=every-step";
  if (plan.reduces_every_micro_batch()) add(reduce, once);
  if (plan.zero_stage < 3) return changes;
  add("plan.zero_stage=1", [&](Plan& p) {
    p.zero_stage = 1;
    once(p);
  });
  if (!plan.reshard_after_forward) return changes;
  add("plan.reshard_after_forward=false", keep);
  if (plan.reduces_every_micro_batch())
    add("plan.reshard_after_forward=false with " + reduce, [&](Plan& p) {
      once(p);
      keep(p);
    });
  return changes;
}

std::string in_words(const WeightTraffic& traffic) {
  std::string text;
  if (traffic.gathers > 1) text = fmt::format("parameters gathered {} times and ", traffic.gathers);
  return fmt::format("{}gradients reduced {} times a step: {:.3g} GB per GPU", text, traffic.reductions,
                     gigabytes(traffic.bytes()));
}

/// That a GPU waits for data-parallel communication in a step.
double exposed_seconds(const Report& report) {
  return static_cast<double>(report.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)]) * 1e-12 /
         static_cast<double>(report.gpus) / static_cast<double>(report.steps);
}

/// On weights that move with every micro-batch, are waited for and could move less often; "" where memory is
/// not there for that, or it would not save half.
std::string weights_that_move(const Experiment& experiment, double exposed_s) {
  const Plan& plan = experiment.plan;
  if (!plan.moves_weights_every_micro_batch() || plan.micro_batches_per_copy() < 3 ||
      plan.weight_copies() == 1 || experiment.data_parallel_sync.method != SyncMethod::all_reduce)
    return "";
  const Judged now = judge(experiment);
  std::optional<Judged> best;
  std::string keys;
  Experiment other = experiment;
  for (const Change& change : changes_of(plan)) {
    other.plan = change.plan;
    const Judged judged = judge(other);
    if (!judged.fits || (best && judged.traffic.bytes() >= best->traffic.bytes())) continue;
    best = judged;
    keys = change.keys;
  }
  if (!best || 2 * best->traffic.bytes() > now.traffic.bytes()) return "";
  return fmt::format("{}, and {:.3g} s of waiting; {} moves {:.3g} GB and fits with {:.3g} GB more memory",
                     in_words(now.traffic), exposed_s, keys, gigabytes(best->traffic.bytes()),
                     gigabytes(best->memory - now.memory));
}

/// On NICs that a GPU cannot fill; "" where it can, or none leads out.
std::string idle_nics(const Cluster& cluster) {
  const double way_out = cluster.way_out_gb_per_s();
  const double nics = cluster.nics_gb_per_s_of_gpu();
  if (cluster.graph || cluster.gpus() == cluster.gpus_per_domain() || way_out == 0 || nics <= way_out)
    return "";
  return fmt::format(
      "the NICs of a GPU could carry {:.3g} GB/s, and it sends {:.3g} GB/s at most over its link to them "
      "(cluster.gpu.{}): its messages to other nodes take that (cluster.fabric.nics_per_node {}, "
      "cluster.gpus_per_node {})",
      nics, way_out, cluster.gpu.nic_link_gb_per_s > 0 ? "nic_link_gb_per_s" : "host_link_gb_per_s",
      cluster.fabric.nics_per_node, cluster.gpus_per_node);
}

}  // namespace

std::vector<std::string> warnings(const Experiment& experiment, const Report& report) {
  constexpr double kNoticed = 0.01;  // of a step
  const double exposed_s = exposed_seconds(report);
  std::vector<std::string> list = not_simulated(experiment);
  if (std::string sentence = idle_nics(experiment.cluster); !sentence.empty())
    list.push_back(std::move(sentence));
  if (exposed_s < kNoticed * report.step_time_s()) return list;
  if (std::string sentence = weights_that_move(experiment, exposed_s); !sentence.empty())
    list.push_back(std::move(sentence));
  return list;
}

}  // namespace orrery
