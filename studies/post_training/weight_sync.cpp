#include "studies/post_training/weight_sync.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "orrery/error.hpp"
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

/// Time of `count` equal pieces of work. @throws InputError beyond 1e6 s
Picoseconds times(Picoseconds one, Int128 count) {
  constexpr Int128 kMost = Int128{1'000'000} * 1'000'000'000'000;
  const Int128 all = one * count;
  if (all > kMost)
    throw InputError(
        "/post_training",
        fmt::format("found weights that take {:.3g} s to rollouts, allowed 1e6 s (sync_tensor_us, "
                    "sync_parameter_us, sync_bucket_mb)",
                    static_cast<double>(all) * 1e-12));
  return static_cast<Picoseconds>(all);
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

/// The links between trainers and rollouts.
struct WayToRollouts {
  Cluster cluster;
  std::int64_t first_gpu = 0;  ///< of the rollouts; the first trainer is GPU 0
};

/// Trainers' GPUs come first, rollouts' after them. Rollouts with a cluster of their own are reached over a
/// fabric with the nodes of both: the trainers', or theirs where that has none to add nodes to.
WayToRollouts way_to_rollouts(const PostTrainingExperiment& experiment) {
  const Cluster& whole = experiment.cluster();
  const std::int64_t trainers = experiment.gpus(PostTrainingRole::actor);
  if (experiment.gpus() == whole.nodes * whole.gpus_per_node) return {whole, trainers};
  const auto grows = [](const Cluster& one) { return one.groups.empty() && !one.graph && !one.regions; };
  const Cluster& rollouts = experiment.rollout().cluster;
  if (!grows(whole) && !grows(rollouts))
    throw InputError(
        "/cluster",
        "found groups, regions or a graph for trainers and for rollouts apart, allowed for one of "
        "them");
  Cluster both = grows(whole) ? whole : rollouts;
  const std::int64_t first_node = grows(whole) ? whole.nodes : 1;
  const std::int64_t per_node = both.gpus_per_node;
  both.nodes = first_node + (rollouts.nodes * rollouts.gpus_per_node + per_node - 1) / per_node;
  return {std::move(both), first_node * per_node};
}

class SyncPrice {
 public:
  SyncPrice(const PostTrainingExperiment& experiment, Memo& memo)
      : section_(experiment.section()),
        actor_(experiment.role(PostTrainingRole::actor)),
        rollout_(experiment.rollout()),
        way_(way_to_rollouts(experiment)),
        trainers_(machine_of(experiment.cluster(), memo)),
        machine_(machine_of(way_.cluster, memo)),
        gather_pricer_(*trainers_->topology, actor_.plan.collectives),
        pricer_(*machine_->topology, actor_.plan.collectives) {}

  WeightSync price(Bytes model_bytes, Bytes rollout_gpu_bytes) {
    WeightSync sync{model_bytes, rollout_gpu_bytes, checkpoint_tensors(actor_.model)};
    sync.host_ps = times(from_microseconds(section_.sync_tensor_us), sync.tensors);
    if (section_.placement != RolePlacement::disaggregated) {
      to_own_gpus(sync);
    } else if (section_.weight_sync == WeightSyncMethod::broadcast) {
      by_broadcast(sync);
    } else if (section_.weight_sync == WeightSyncMethod::packed_broadcast) {
      by_packed_broadcast(sync);
    } else {
      through_hosts(sync);
    }
    return sync;
  }

 private:
  Picoseconds time(Collective collective, Bytes bytes, const Members& members) {
    if (members.size() < 2) return 0;
    Message message;
    message.collective = collective;
    message.bytes = bytes;
    message.dimension = Dimension::data;
    (collective == Collective::all_gather ? gather_pricer_ : pricer_).price(message, members, price_);
    return price_.alone_ps();
  }

  /// The first trainer and every n-th GPU of the rollouts.
  [[nodiscard]] Members trainer_and_rollouts(std::int64_t stride) const {
    Members members{0};
    for (std::int64_t gpu = 0; gpu < rollout_.plan.gpus(); gpu += stride)
      members.push_back(static_cast<std::uint32_t>(way_.first_gpu + gpu));
    return members;
  }

  [[nodiscard]] Members trainers_and_rollouts() const {
    Members members(static_cast<std::size_t>(actor_.plan.gpus()));
    std::iota(members.begin(), members.end(), 0U);
    for (std::int64_t gpu = 0; gpu < rollout_.plan.gpus(); ++gpu)
      members.push_back(static_cast<std::uint32_t>(way_.first_gpu + gpu));
    return members;
  }

  /// Every GPU gets all shards in turn and keeps its own of the rollouts' layout: bytes are read and written
  /// once in its memory.
  void to_own_gpus(WeightSync& sync) {
    if (!shares_layout(actor_.plan, rollout_.plan))
      sync.gather_ps = time(Collective::all_gather, sync.model_bytes, one_copy(actor_.plan));
    sync.load_ps = copy_ps(2 * sync.rollout_gpu_bytes, rollout_.cluster.gpu_of_class(0).memory_gb_per_s);
    sync.total_ps = sync.host_ps + sync.gather_ps + sync.load_ps;
  }

  /// The trainer's first rank has each tensor whole, which all rollout GPUs get and keep their part of. A
  /// tensor is a message, and a load for which the engine lists its parameters.
  void by_broadcast(WeightSync& sync) {
    const Bytes tensor = std::max<Bytes>(1, sync.model_bytes / sync.tensors);
    const Int128 listed = Int128{engine_parameters(rollout_.model)} * sync.tensors;
    sync.host_ps += times(from_microseconds(section_.sync_parameter_us), listed);
    sync.gather_ps = time(Collective::all_gather, sync.model_bytes, one_copy(actor_.plan));
    sync.send_ps = times(time(Collective::broadcast, tensor, trainer_and_rollouts(1)), sync.tensors);
    sync.total_ps = sync.host_ps + sync.gather_ps + sync.send_ps;
  }

  /// Trainers are in the communicator too, so that all their NICs carry what one of them has. The host
  /// exports and loads tensors while buckets of others are gathered and sent.
  void by_packed_broadcast(WeightSync& sync) {
    sync.gather_ps = time(Collective::all_gather, sync.model_bytes, one_copy(actor_.plan));
    const std::int64_t buckets = bucket_count(sync);
    const Picoseconds bucket_ps =
        time(Collective::broadcast, sync.model_bytes / buckets, trainers_and_rollouts());
    sync.send_ps = times(bucket_ps, buckets);
    sync.total_ps = sync.host_ps + sync.gather_ps + sync.send_ps;
    side_by_side(sync);
  }

  /// The host exports all tensors first. Then every trainer GPU writes an equal part of the model to its
  /// host; each rail of NICs carries its share of the model to all nodes of rollouts; their GPUs read what
  /// they keep.
  void through_hosts(WeightSync& sync) {
    const double host_gb_per_s = actor_.cluster.gpu_of_class(0).host_link_gb_per_s;
    sync.gather_ps = copy_ps(sync.model_bytes / actor_.plan.gpus(), host_gb_per_s);
    const std::int64_t rails = way_.cluster.gpus_per_node;
    sync.send_ps = time(Collective::broadcast, sync.model_bytes / rails, trainer_and_rollouts(rails));
    sync.load_ps = copy_ps(sync.rollout_gpu_bytes, rollout_.cluster.gpu_of_class(0).host_link_gb_per_s);
    sync.total_ps = sync.gather_ps + sync.send_ps + sync.load_ps;
    const Picoseconds exported = std::exchange(sync.host_ps, 0);
    if (section_.weight_sync == WeightSyncMethod::checkpoint_engine) side_by_side(sync);
    sync.host_ps = exported;
    sync.total_ps += exported;
  }

  [[nodiscard]] std::int64_t bucket_count(const WeightSync& sync) const {
    const auto bucket = static_cast<Bytes>(section_.sync_bucket_mb * 1e6);
    return std::max<std::int64_t>(1, (sync.model_bytes + bucket - 1) / bucket);
  }

  /// The slowest of the ways goes on all the time; the others show in the first bucket and the last one.
  void side_by_side(WeightSync& sync) const {
    const Picoseconds slowest = std::max({sync.host_ps, sync.gather_ps, sync.send_ps, sync.load_ps});
    sync.total_ps = slowest + (sync.total_ps - slowest) / bucket_count(sync);
  }

  const PostTraining& section_;
  const Experiment& actor_;
  const Experiment& rollout_;
  WayToRollouts way_;
  std::shared_ptr<const Machine> trainers_;
  std::shared_ptr<const Machine> machine_;  ///< of the way
  CollectivePricer gather_pricer_;
  CollectivePricer pricer_;
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

std::int64_t engine_parameters(const Model& model) {
  const std::int64_t biases = model.qkv_biases ? 1 : 0;
  const std::int64_t attention =
      (model.latent() ? 6 : 2 + biases) + (model.qk_norm == QueryKeyNorm::none ? 0 : 2);
  const std::int64_t norms = model.post_norms ? 4 : 2;
  constexpr std::int64_t kMatricesOfMlp = 2;
  const std::int64_t with_experts =
      model.experts > 0 ? (model.layers - model.dense_layers) / model.moe_layer_frequency : 0;
  const std::int64_t expert_layer = kMatricesOfMlp * (1 + (model.shared_experts > 0 ? 1 : 0)) + 1;
  return model.layers * (attention + norms) + (model.layers - with_experts) * kMatricesOfMlp +
         with_experts * expert_layer + (model.tied_embeddings ? 2 : 3);
}

WeightSync weight_sync(const PostTrainingExperiment& experiment, std::int64_t parameters,
                       Bytes rollout_gpu_bytes, Memo& memo) {
  const Bytes bytes = parameters * element_bytes(experiment.role(PostTrainingRole::actor).plan.precision);
  return SyncPrice(experiment, memo).price(bytes, rollout_gpu_bytes);
}

}  // namespace orrery
