#include "studies/post_training/weight_sync.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "orrery/rank_grid.hpp"
#include "sim/cost/collective_cost.hpp"
#include "sim/step/machine.hpp"
#include "workloads/models/blocks.hpp"

namespace orrery {
namespace {

using Members = std::vector<std::uint32_t>;

/// Time of `bytes` at 1e9 bytes/s; 0 where the rate is unknown.
Picoseconds copy_ps(Bytes bytes, double gb_per_s) {
  if (gb_per_s <= 0) return 0;
  return transfer_ps(bytes, static_cast<std::int64_t>(gb_per_s * 1e9));
}

/// Two layouts have the same shards where a rank generates with the weights that it trains.
bool shares_layout(const Plan& actor, const Plan& rollout) {
  return actor.zero_stage < 3 && actor.pipeline_parallel == 1 && rollout.pipeline_parallel == 1 &&
         actor.tensor_parallel == rollout.tensor_parallel && actor.expert_parallel == rollout.expert_parallel;
}

/// A set of trainer ranks that holds the whole model.
Members one_copy(const Plan& plan) {
  Members members;
  const bool spread =
      plan.zero_stage >= 3 || plan.expert_parallel * plan.expert_tensor_parallel > plan.tensor_parallel;
  if (spread) {
    members.resize(static_cast<std::size_t>(plan.gpus()));
    std::iota(members.begin(), members.end(), 0U);
    return members;
  }
  RankGrid(plan).for_each_member({}, {Axis::tensor, Axis::pipeline},
                                 [&](std::uint32_t rank) { members.push_back(rank); });
  std::ranges::sort(members);
  return members;
}

class SyncPrice {
 public:
  SyncPrice(const PostTrainingExperiment& experiment, Memo& memo)
      : section_(experiment.section()),
        actor_(experiment.role(PostTrainingRole::actor)),
        rollout_(experiment.rollout()),
        machine_(machine_of(cluster_of(experiment), memo)),
        pricer_(*machine_->topology, actor_.plan.collectives),
        gpus_per_node_(actor_.cluster.gpus_per_node) {}

  WeightSync price(Bytes model_bytes, Bytes rollout_gpu_bytes) {
    WeightSync sync{model_bytes, rollout_gpu_bytes, checkpoint_tensors(actor_.model)};
    sync.host_ps = from_microseconds(section_.sync_tensor_us) * sync.tensors;
    if (section_.placement != RolePlacement::disaggregated) {
      to_own_gpus(sync);
    } else if (section_.weight_sync == WeightSyncMethod::broadcast) {
      by_broadcast(sync);
    } else {
      through_hosts(sync);
    }
    return sync;
  }

 private:
  /// Trainers' GPUs come first, rollouts' after them. Rollouts with a cluster of their own are reached over
  /// links as those of the trainers.
  static Cluster cluster_of(const PostTrainingExperiment& experiment) {
    Cluster cluster = experiment.cluster();
    const std::int64_t needed = first_rollout(experiment) + experiment.gpus(PostTrainingRole::rollout);
    const std::int64_t nodes = (needed + cluster.gpus_per_node - 1) / cluster.gpus_per_node;
    if (experiment.section().placement == RolePlacement::disaggregated && cluster.groups.empty() &&
        !cluster.graph && !cluster.regions)
      cluster.nodes = std::max(cluster.nodes, nodes);
    return cluster;
  }
  static std::int64_t first_rollout(const PostTrainingExperiment& experiment) {
    return experiment.gpus(PostTrainingRole::actor);
  }

  Picoseconds time(Collective collective, Bytes bytes, const Members& members) {
    if (members.size() < 2) return 0;
    Message message;
    message.collective = collective;
    message.bytes = bytes;
    message.dimension = Dimension::data;
    pricer_.price(message, members, price_);
    return price_.alone_ps();
  }

  /// Every GPU gets all shards in turn and keeps its own of the rollouts' layout: bytes are read and written
  /// once in its memory.
  void to_own_gpus(WeightSync& sync) {
    if (!shares_layout(actor_.plan, rollout_.plan))
      sync.gather_ps = time(Collective::all_gather, sync.model_bytes, one_copy(actor_.plan));
    sync.load_ps = copy_ps(2 * sync.rollout_gpu_bytes, rollout_.cluster.gpu_of_class(0).memory_gb_per_s);
    sync.total_ps = sync.host_ps + sync.gather_ps + sync.load_ps;
  }

  /// The trainer's first rank has the whole model, which all rollout GPUs get and keep their part of.
  void by_broadcast(WeightSync& sync) {
    const Members copy = one_copy(actor_.plan);
    sync.gather_ps = time(Collective::all_gather, sync.model_bytes, copy);
    Members members{0};
    for (std::int64_t gpu = 0; gpu < rollout_.plan.gpus(); ++gpu)
      members.push_back(static_cast<std::uint32_t>(actor_.plan.gpus() + gpu));
    sync.send_ps = time(Collective::broadcast, sync.model_bytes, members);
    sync.total_ps = sync.host_ps + sync.gather_ps + sync.send_ps;
  }

  /// Every trainer GPU writes an equal part of the model to its host; each rail of NICs carries its share of
  /// the model to all nodes of rollouts; their GPUs read what they keep.
  void through_hosts(WeightSync& sync) {
    sync.host_ps = 0;
    const double host_gb_per_s = actor_.cluster.gpu_of_class(0).host_link_gb_per_s;
    sync.gather_ps = copy_ps(sync.model_bytes / actor_.plan.gpus(), host_gb_per_s);
    Members nodes{0};
    for (std::int64_t gpu = 0; gpu < rollout_.plan.gpus(); gpu += gpus_per_node_)
      nodes.push_back(static_cast<std::uint32_t>(actor_.plan.gpus() + gpu));
    sync.send_ps = time(Collective::broadcast, sync.model_bytes / gpus_per_node_, nodes);
    sync.load_ps = copy_ps(sync.rollout_gpu_bytes, rollout_.cluster.gpu_of_class(0).host_link_gb_per_s);
    sync.total_ps = sync.gather_ps + sync.send_ps + sync.load_ps;
    if (section_.weight_sync == WeightSyncMethod::checkpoint_engine) side_by_side(sync);
  }

  /// The slowest of the three ways goes on all the time; the others show in the first bucket and the last
  /// one.
  void side_by_side(WeightSync& sync) const {
    const Picoseconds slowest = std::max({sync.gather_ps, sync.send_ps, sync.load_ps});
    const auto bucket = static_cast<Bytes>(section_.sync_bucket_mb * 1e6);
    const std::int64_t buckets = std::max<std::int64_t>(1, (sync.model_bytes + bucket - 1) / bucket);
    sync.total_ps = slowest + (sync.total_ps - slowest) / buckets;
  }

  const PostTraining& section_;
  const Experiment& actor_;
  const Experiment& rollout_;
  std::shared_ptr<const Machine> machine_;
  CollectivePricer pricer_;
  std::int64_t gpus_per_node_;
  TransferPrice price_;
};

}  // namespace

std::int64_t checkpoint_tensors(const Model& model) {
  const std::int64_t biases = model.qkv_biases ? 3 : 0;
  const std::int64_t attention =
      (model.latent() ? 7 : 4 + biases) + (model.qk_norm == QueryKeyNorm::none ? 0 : 2);
  const std::int64_t norms = model.post_norms ? 4 : 2;
  const std::int64_t mlp = model.gated_mlp ? 3 : 2;
  const std::int64_t with_experts =
      model.experts > 0 ? (model.layers - model.dense_layers) / model.moe_layer_frequency : 0;
  const std::int64_t expert_layer = mlp * (model.experts + (model.shared_experts > 0 ? 1 : 0)) + 1;
  return model.layers * (attention + norms) + (model.layers - with_experts) * mlp +
         with_experts * expert_layer + (model.tied_embeddings ? 2 : 3);
}

WeightSync weight_sync(const PostTrainingExperiment& experiment, std::int64_t parameters,
                       Bytes rollout_gpu_bytes, Memo& memo) {
  const Bytes bytes = parameters * element_bytes(experiment.role(PostTrainingRole::actor).plan.precision);
  return SyncPrice(experiment, memo).price(bytes, rollout_gpu_bytes);
}

}  // namespace orrery
