// Expert parallelism: ranks of a stage that share the experts of a layer. They are ranks of the other
// dimensions counted again ("folded", Liu et al. 2025, "MoE Parallel Folding"): of the T C D ranks of a
// stage, neighbouring `expert_tensor_parallel` ones share the matrices of each expert, `expert_parallel` such
// groups share the experts, and those that hold the same experts add up their gradients. Tokens go to their
// experts and back by all-to-alls. Over several nodes these can go in two steps, between ranks of the same
// place in their nodes and then inside the nodes, which lets a token cross to a node once (Zhao et al. 2025,
// "DeepEP"). Both steps run at a time, on streams of their own.
#include <string>

#include "workloads/communicators/expert_load.hpp"
#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

constexpr std::array kExpertStreams{Stream::expert, Stream::expert, Stream::expert_node, Stream::expert};
constexpr std::array kExpertReplicaStreams{Stream::data};

std::uint32_t expert_slots(const CommunicatorSpec& spec) {
  return spec.experts.present ? std::uint32_t{kExpertStreams.size()} : 0;
}

/// Forms two groups from each group along the expert axis: ranks of one node, and ranks at the same index of
/// their nodes.
void form_by_node(const CommunicatorSpec& spec, std::uint32_t peers, std::uint32_t node, GroupWriter& to) {
  const RankGrid& grid = spec.experts.grid;
  const std::int64_t inside = spec.experts.ranks_in_node;
  const auto join_every = [&](RankCoordinates at, std::int64_t from, std::int64_t end, std::int64_t stride,
                              std::uint32_t slot) {
    for (std::int64_t place = from; place < end; place += stride) {
      at[Axis::expert] = place;
      to.join(grid.rank(at), slot);
    }
    to.close();
  };
  grid.for_each_group({Axis::expert}, [&](const RankCoordinates& at) {
    const std::int64_t ranks = grid.size(Axis::expert);
    for (std::int64_t place = 0; place < inside; ++place) join_every(at, place, ranks, inside, peers);
    for (std::int64_t first = 0; first < ranks; first += inside)
      join_every(at, first, first + inside, 1, node);
  });
}

void form_expert_groups(const CommunicatorSpec& spec, std::uint32_t first, GroupWriter& to) {
  to.add_along(spec.experts.grid, {Axis::expert}, first);
  if (spec.experts.ranks_in_node > 0) {
    form_by_node(spec, first + 1, first + 2, to);
  } else {
    to.add_loners(first + 1);
    to.add_loners(first + 2);
  }
  to.add_along(spec.experts.grid, {Axis::tensor}, first + 3);
}

std::uint32_t expert_replica_slots(const CommunicatorSpec& spec) { return spec.experts.present ? 1 : 0; }

void form_expert_replicas(const CommunicatorSpec& spec, std::uint32_t slot, GroupWriter& to) {
  if (spec.mirrored) return to.add_mirrored(spec.experts.grid, {Axis::data}, slot);
  to.add_along(spec.experts.grid, {Axis::data}, slot);
}

void check_without_experts(const Plan& plan, const ReportProblem& complain) {
  const auto refuse = [&](std::string_view key, bool given) {
    if (given) complain({key}, "found a value that does nothing, allowed only for kind moe-transformer");
  };
  refuse("expert_parallel", plan.expert_parallel > 1);
  refuse("expert_tensor_parallel", plan.expert_tensor_parallel > 1);
  refuse("dispatcher", plan.dispatcher != Dispatcher::all_to_all);
  refuse("capacity_factor", plan.capacity_factor > 0);
  refuse("overlap_expert_parallel", plan.overlap_expert_parallel);
  refuse("overlap_shared_experts", plan.overlap_shared_experts);
  refuse("token_histogram", !plan.token_histogram.empty());
  refuse("token_imbalance", plan.token_imbalance != TokenImbalance::uniform);
}

void check_histogram(const Model& model, const Plan& plan, const ReportProblem& complain) {
  const bool asked = plan.token_imbalance == TokenImbalance::histogram;
  const auto entries = static_cast<std::int64_t>(plan.token_histogram.size());
  if (!asked && entries > 0)
    complain({"token_histogram"}, "found a list, allowed only with token_imbalance \"histogram\"");
  if (!asked) return;
  if (entries != model.experts)
    return complain({"token_histogram", "token_imbalance"}, "found " + std::to_string(entries) +
                                                                " entries, allowed one for each of " +
                                                                std::to_string(model.experts) + " experts");
  if (histogram_tokens(plan) == 0)
    complain({"token_histogram", "token_imbalance"}, "found no tokens, allowed a sum above 0");
}

void check_degrees(const Experiment& e, const ReportProblem& complain) {
  const Plan& plan = e.plan;
  const std::string experts = std::to_string(e.model.experts);
  if (e.model.experts % plan.expert_parallel != 0)
    complain({"expert_parallel"},
             "found " + std::to_string(plan.expert_parallel) + ", allowed a divisor of experts " + experts);
  if (e.model.expert_ffn_hidden % plan.expert_tensor_parallel != 0)
    complain({"expert_tensor_parallel", "tensor_parallel"},
             "found " + std::to_string(plan.expert_tensor_parallel) +
                 ", allowed a divisor of expert_ffn_hidden " + std::to_string(e.model.expert_ffn_hidden));
  const std::int64_t together = plan.expert_parallel * plan.expert_tensor_parallel;
  if (plan.stage_ranks() % together != 0)
    complain({"expert_parallel", "expert_tensor_parallel"},
             "found expert_parallel " + std::to_string(plan.expert_parallel) + " x expert_tensor_parallel " +
                 std::to_string(plan.expert_tensor_parallel) + " = " + std::to_string(together) +
                 ", allowed a divisor of the " + std::to_string(plan.stage_ranks()) +
                 " ranks of a stage (tensor_parallel x context_parallel x data_parallel)" +
                 (plan.stage_ranks() % plan.expert_parallel == 0 && plan.expert_tensor_parallel > 1
                      ? ", such as expert_tensor_parallel 1, whole experts on each rank"
                      : ""));
}

/// Both grids must put the same ranks in a stage.
void check_stages(const Plan& plan, const ReportProblem& complain) {
  const RankGrid all(plan);
  const RankGrid experts = RankGrid::of_experts(plan);
  if (plan.pipeline_parallel == 1 || all.stride(Axis::pipeline) == experts.stride(Axis::pipeline)) return;
  complain({"rank_order"},
           "found \"" + plan.rank_order +
               "\", in which stages of experts are not those of the other weights; allowed pp at "
               "the end, or degrees whose products before pp are equal");
}

void check_dispatcher(const Experiment& e, const ReportProblem& complain) {
  if (e.plan.dispatcher == Dispatcher::all_to_all || expert_ranks_in_node(e) > 0) return;
  complain({"dispatcher"},
           "found \"" + std::string(kDispatcherNames[static_cast<std::size_t>(e.plan.dispatcher)]) +
               "\", allowed only where expert_parallel ranks lie side by side, equally many in each "
               "node; or \"all-to-all\"");
}

/// In other orders backward passes wait for the forward pass before them, if over other ranks; passes of a
/// pair end together, so that a micro-batch needs two for each stage, the warm-up of interleaved 1F1B.
/// Gradients that are reduced, or parameters gathered, within passes need one order on all ranks.
void check_overlap(const Plan& plan, const ReportProblem& complain) {
  if (!plan.overlap_expert_parallel) return;
  const std::string& schedule = plan.pipeline_schedule;
  const bool alone = schedule == "1f1b" && plan.pipeline_parallel == 1;
  if (!schedule.starts_with("dualpipe") && schedule != "interleaved-1f1b" && !alone)
    complain({"overlap_expert_parallel"},
             "found true with pipeline_schedule \"" + schedule +
                 "\", allowed with interleaved-1f1b | dualpipe | dualpipe-v, or 1f1b without stages");
  if (plan.moves_weights_every_micro_batch())
    complain({"overlap_expert_parallel", "gradient_reduction", "zero_stage"},
             "found true with zero_stage " + std::to_string(plan.zero_stage) +
                 (plan.reduces_every_micro_batch() ? " that reduces every micro-batch" : "") +
                 ", allowed with 0 | 1, or 2 with gradient_reduction \"every-step\"");
}

void check_experts(const Experiment& e, const ReportProblem& complain) {
  const Plan& plan = e.plan;
  if (e.model.experts == 0) return check_without_experts(plan, complain);
  if (plan.overlap_shared_experts && e.model.shared_experts == 0)
    complain({"overlap_shared_experts"}, "found true, allowed only for models with shared_experts");
  check_degrees(e, complain);
  check_histogram(e.model, plan, complain);
  check_overlap(plan, complain);
  if (plan.stage_ranks() % (plan.expert_parallel * plan.expert_tensor_parallel) != 0) return;
  check_stages(plan, complain);
  check_dispatcher(e, complain);
  if (plan.shards_in_groups())
    complain({"zero_group_size"}, "found groups, allowed data_parallel for kind moe-transformer");
  const DataParallelSync& sync = e.data_parallel_sync;
  if (sync.method != SyncMethod::all_reduce || sync.joins_replicas() ||
      sync.compression.method != Compression::Method::none)
    complain({"expert_parallel"},
             "found kind moe-transformer, allowed only where data_parallel_sync is a plain all-reduce of all "
             "GPUs");
}

}  // namespace

constinit const CommunicatorKind kExpertGroups{
    "experts",    Dimension::expert,  Slot::expert, kExpertStreams, true,
    expert_slots, form_expert_groups, nullptr,      check_experts};

constinit const CommunicatorKind kExpertReplicas{
    "expert replicas",    Dimension::data,     Slot::expert_data, kExpertReplicaStreams, true,
    expert_replica_slots, form_expert_replicas};

}  // namespace orrery
