// Writes layers with experts of an iteration. Tokens travel to the experts and back as the plan's dispatcher
// says.
#include <utility>

#include "workloads/communicators/expert_load.hpp"
#include "workloads/communicators/wire_width.hpp"
#include "workloads/inference/iteration_steps.hpp"

namespace orrery {

/// Router, the experts that are hit, and shared ones. Replicas that share experts have as many tokens each.
void IterationSteps::write_experts(const ServedLayer& layer, const TransformerShape& shape,
                                   IterationWriter& to) const {
  const Model& model = layer.model();
  const Plan& plan = experiment_.plan;
  const ExpertShape experts = layer.experts(shape);
  const double sharing = static_cast<double>(plan.expert_parallel * plan.expert_tensor_parallel) /
                         static_cast<double>(plan.tensor_parallel);
  const std::int64_t hit = experts_hit(model, experts.experts, sharing * static_cast<double>(shape.tokens));
  const std::int64_t rows = divide_up(experts.rows, hit);
  const Bytes moved = shape.residual() + experts.rows * row();

  std::vector<Kernel> routing(static_cast<std::size_t>(experiment_.software.routing_kernels), memory(0));
  routing.push_back(elementwise((model.post_norms ? 8 : 4) * shape.residual()));
  routing.push_back(wide(router_product(model, shape.tokens)));
  routing.push_back(router_choice(model, shape.tokens));
  to.compute(Part::experts, std::move(routing));
  const bool together = layer.experts_in_tensor_group();
  const auto share = [&](Collective collective) {
    if (together || plan.expert_tensor_parallel == 1) return;
    to.collective(Part::experts, collective, experts.rows * row(), Slot::expert_tensor);
  };
  if (!together) write_travel(experts, false, to);
  share(Collective::all_gather);
  std::vector<Kernel> kernels{elementwise(moved)};
  add_mlp(expert_products(model, experts.rows, rows, experts.ffn, hit), kernels);
  kernels.push_back(elementwise(moved));
  if (experts.shared_ffn > 0) {
    add_mlp(mlp_products(model, shape.tokens, experts.shared_ffn), kernels);
    if (model.shared_expert_gate) {
      kernels.push_back(wide(shared_gate_product(model, shape.tokens)));
      kernels.push_back(elementwise(2 * shape.residual()));
    }
  }
  to.compute(Part::experts, std::move(kernels));
  share(Collective::reduce_scatter);
  if (!together) write_travel(experts, true, to);
  reduce(Part::experts, shape.residual(), to);
}

/// Tokens to their experts, or back: straight, or by nodes.
void IterationSteps::write_travel(const ExpertShape& experts, bool back, IterationWriter& to) const {
  const Plan& plan = experiment_.plan;
  if (plan.expert_parallel == 1) return;
  if (ranks_in_node_ > 0) return write_hops(experts, back, to);
  const auto& wire = back ? plan.wire_precision.combine : plan.wire_precision.dispatch;
  to.collective(Part::experts, Collective::all_to_all,
                WireWidth(wire, element_, plan.precision).of_kept(experts.sent * row()), Slot::expert);
}

/// Between the ranks of one place in their nodes and inside nodes: one after the other (hierarchical), or
/// with one copy to each node and rank, in chunks of which the last inside a node follows all between nodes
/// (deduplicated), as in training.
void IterationSteps::write_hops(const ExpertShape& experts, bool back, IterationWriter& to) const {
  constexpr Bytes kChunks = 16;
  const Plan& plan = experiment_.plan;
  const Model& model = experiment_.model;
  const std::int64_t nodes = plan.expert_parallel / ranks_in_node_;
  const bool whole = plan.dispatcher == Dispatcher::hierarchical;
  const auto& wire = back ? plan.wire_precision.combine : plan.wire_precision.dispatch;
  const auto bytes = [&](std::int64_t holders) {
    const std::int64_t rows = whole ? experts.sent : experts.copies(holders_per_token(model, holders));
    return WireWidth(wire, element_, plan.precision).of_kept(rows * row());
  };
  Bytes first = nodes > 1 ? bytes(nodes) : 0;
  Bytes second = ranks_in_node_ > 1 ? bytes(plan.expert_parallel) : 0;
  Slot first_slot = Slot::expert_peers;
  Slot second_slot = Slot::expert_node;
  if (back) {
    std::swap(first, second);
    std::swap(first_slot, second_slot);
  }
  const auto exchange = [&](Bytes moved, Slot slot, bool beside) {
    if (moved > 0) to.collective(Part::experts, Collective::all_to_all, moved, slot, beside);
  };
  const Bytes last = whole ? second : divide_up(second, kChunks);
  exchange(second - last, second_slot, false);
  exchange(first, first_slot, second > last);
  exchange(last, second_slot, false);
}

}  // namespace orrery
