// Which communication of a plan runs beside compute, where the plan leaves it open.
#include <algorithm>
#include <string>
#include <string_view>

#include "config/experiment/read_parts.hpp"
#include "orrery/rank_grid.hpp"
#include "workloads/communicators/ranks_in_node.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

/// Returns true if NVLinks join all tensor ranks of a group.
bool tensor_ranks_share_nvlink(const Experiment& experiment, const Menus& menus) {
  const Cluster& cluster = experiment.cluster;
  if (cluster.graph ||
      std::ranges::find(menus.nvlink_wirings, cluster.node.kind) == menus.nvlink_wirings.end())
    return false;
  return ranks_in_node(RankGrid(experiment.plan), Axis::tensor, cluster) == experiment.plan.tensor_parallel;
}

/// Returns the key that prevents products from being cut into chunks, as the end of a sentence; "" if none
/// does.
std::string_view obstacle_to_chunks(const Plan& plan) {
  if (plan.tensor_parallel == 1) return "tensor_parallel";
  if (!plan.sequence_parallel) return "sequence_parallel";
  return plan.overlap_tensor_parallel ? "" : "overlap_tensor_parallel";
}

double usual_bucket_mb(const Plan& plan, const Software& software) {
  const double parameters =
      std::max(software.bucket_parameters,
               software.bucket_parameters_per_copy * static_cast<double>(plan.weight_copies()));
  if (software.bucket_parameters > 0) return parameters * static_cast<double>(software.gradient_bytes) * 1e-6;
  return software.fusion_buffer_mb > 0 ? software.fusion_buffer_mb : plan.bucket_mb;
}

}  // namespace

void complete_overlap(Experiment& experiment, const Json& given, const Menus& menus, Findings& findings) {
  Plan& plan = experiment.plan;
  const auto has = [&](std::string_view key) { return given.contains(key); };
  if (!has("overlap_gradient_reduce"))
    plan.overlap_gradient_reduce = experiment.software.overlaps_gradient_reduce;
  if (!has("bucket_mb")) plan.bucket_mb = usual_bucket_mb(plan, experiment.software);
  if (experiment.model.attends()) {
    const Software& software = experiment.software;
    if (!has("overlap_tensor_parallel")) plan.overlap_tensor_parallel = software.overlaps_tensor_parallel;
    if (!has("overlap_parameter_gather")) plan.overlap_parameter_gather = software.overlaps_parameter_gather;
  }
  if (!has("overlap_expert_parallel"))
    plan.overlap_expert_parallel = experiment.model.experts > 0 && plan.expert_parallel > 1 &&
                                   !plan.moves_weights_every_micro_batch() &&
                                   plan.pipeline_schedule.starts_with("dualpipe");
  const std::string_view obstacle = obstacle_to_chunks(plan);
  if (!has("overlap_tensor_chunks")) {
    plan.overlap_tensor_chunks = obstacle.empty() && tensor_ranks_share_nvlink(experiment, menus);
  } else if (plan.overlap_tensor_chunks && !obstacle.empty()) {
    findings.add_idle("/plan/overlap_tensor_chunks",
                      "found true, which does nothing without " + std::string(obstacle));
  }
}

void complete_sync_overlap(Experiment& experiment, const Json& given) {
  DataParallelSync& sync = experiment.data_parallel_sync;
  const Plan& plan = experiment.plan;
  const bool like_gradients =
      experiment.software.overlaps_gradient_reduce && plan.overlap_gradient_reduce && plan.zero_stage == 0;
  const bool by_bucket = sync.gossips() && has_key(sync.method, "overlap") && !sync.asynchronous();
  if (like_gradients && by_bucket && !given.contains("overlap"))
    sync.overlap = SyncOverlap::adapt_then_combine;
}

}  // namespace orrery
