// Declares the field tables of every part of an experiment. Internal to config/.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "config/schema/field.hpp"
#include "orrery/experiment.hpp"
#include "orrery/jobs.hpp"
#include "orrery/long_run.hpp"
#include "orrery/post_training.hpp"

namespace orrery {

inline constexpr double kMaxGpus = 4e6;
inline constexpr double kMaxLayers = 1e5;
inline constexpr double kMaxExperts = 1e5;
inline constexpr double kMaxBatch = 1e9;
inline constexpr double kMaxTokens = 1e8;  // of a sample

const std::vector<Field<LatentAttention>>& latent_attention_fields();
const std::vector<Field<Model>>& model_fields();
const std::vector<Field<Indexer>>& indexer_fields();
const std::vector<Field<Mamba2>>& mamba2_fields();
const std::vector<Field<GatedDeltaNet>>& gated_delta_net_fields();
/// An entry of model.layer_pattern.
const std::vector<Field<LayerRun>>& layer_run_fields();
const std::vector<Field<Gpu>>& gpu_fields();
/// peak_tflops: one number a precision.
const FieldInfo& peak_field();
const std::vector<Field<NodeWiring>>& node_fields();
const std::vector<Field<Fabric>>& fabric_fields();
const std::vector<Field<GraphLink>>& graph_link_fields();
const std::vector<Field<Graph>>& graph_fields();
const std::vector<Field<Cluster>>& cluster_fields();
const std::vector<Field<Plan>>& plan_fields();
/// plan.recompute: a name, or an object with these.
const Field<Plan>& recompute_field();
const std::vector<Field<Plan>>& recompute_fields();
const std::vector<Field<WirePrecision>>& wire_precision_fields();
/// plan.collectives: one algorithm a collective.
const FieldInfo& algorithm_field();
const std::vector<Field<DataParallelSync>>& sync_fields();
const FieldInfo& gossip_topology_field();
const Field<DataParallelSync>& placement_field();
const std::vector<Field<Compression>>& compression_fields();

const std::vector<Field<NodeGroup>>& group_fields();
const std::vector<Field<Site>>& site_fields();
const std::vector<Field<SiteLink>>& site_link_fields();
const std::vector<Field<Regions>>& region_fields();

/// An entry of cluster.overrides as it is written.
struct OverrideKeys {
  std::int64_t gpu = -1;
  std::int64_t node = -1;
  double speed = 1;
};
const std::vector<Field<OverrideKeys>>& override_fields();
const std::vector<Field<SimulationOptions>>& simulation_fields();
const std::vector<Field<Software>>& software_fields();
const std::vector<Field<Training>>& training_fields();
const std::vector<Field<Inference>>& inference_fields();
/// Keys of a plan that mean something for steps of training alone, and of plan.wire_precision, simulation and
/// software.
std::span<const std::string_view> training_plan_keys();
std::span<const std::string_view> training_wire_keys();
std::span<const std::string_view> training_simulation_keys();
std::span<const std::string_view> training_software_keys();
/// Returns the software keys that training does not use.
std::span<const std::string_view> serving_software_keys();
/// inference.requests as a number.
const Field<Inference>& request_count_field();
const std::vector<Field<TokenLengths>>& token_lengths_fields();
const std::vector<Field<Speculation>>& speculation_fields();
const std::vector<Field<ServiceLevel>>& service_level_fields();
const std::vector<Field<Disaggregation>>& disaggregation_fields();
const std::vector<Field<LongRun>>& long_run_fields();
const std::vector<Field<CheckpointPolicy>>& checkpoint_fields();
const std::vector<Field<ComponentFailures>>& component_failures_fields();
const std::vector<Field<HiddenFault>>& hidden_fault_fields();
const std::vector<Field<Failures>>& failures_fields();
/// The one key of run.failures.correlated.
const FieldInfo& nodes_per_switch_field();
const std::vector<Field<Recovery>>& recovery_fields();
const std::vector<Field<WarmUp>>& warm_up_fields();
const std::vector<Field<BatchRamp>>& batch_ramp_fields();
const std::vector<Field<Evaluation>>& evaluation_fields();
const std::vector<Field<Maintenance>>& maintenance_fields();
const std::vector<Field<Storage>>& storage_fields();
const std::vector<Field<Accuracy>>& accuracy_fields();
const std::vector<Field<LearningProblem>>& problem_fields();
const std::vector<Field<WorkerChange>>& worker_change_fields();
const std::vector<Field<Experiment>>& experiment_fields();
/// Keys of a role of post_training beside those that an experiment has too.
struct RoleKeys {
  std::int64_t gpus = 0;
  RewardKind kind = RewardKind::none;
  double latency_s = 0;
  std::int64_t width = 0;
};
const std::vector<Field<PostTraining>>& post_training_fields();
const std::vector<Field<RoleKeys>>& role_fields();
/// placement and queueing, at the top of an experiment with jobs.
const std::vector<Field<JobsPolicy>>& jobs_policy_fields();
const std::vector<Field<JobsPolicy>>& preemption_fields();
const std::vector<Field<JobSpec>>& job_fields();
/// jobs as an object: a file of them.
struct JobTraceKeys {
  std::string trace;
  std::int64_t first = 0;
  double fabric_share = 0;
};
const std::vector<Field<JobTraceKeys>>& job_trace_fields();

}  // namespace orrery
