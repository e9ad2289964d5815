#include "workloads/models/layer_kinds.hpp"

#include <algorithm>

#include "workloads/models/attention_shape.hpp"
#include "workloads/models/encoder_decoder.hpp"
#include "workloads/models/expert_shape.hpp"
#include "workloads/models/recurrence.hpp"
#include "workloads/models/transformer_shape.hpp"
#include "workloads/schedules/placement.hpp"

namespace orrery {
namespace {

/// Forward FLOPs per token of the self-attention, or the recurrence, of a layer that is computed again.
TotalFlops attention_flops_again(const Model& m, const LayerKind& kind) {
  if (kind.content.recurs()) {
    const Recurrence r = recurrence_of(kind.content.mixer, m, 1);
    return kind.recomputes_layers() ? 2 * TotalFlops{r.weights(m)} + r.flops_per_token : 0;
  }
  if (!kind.content.attends()) return 0;
  const Heads heads{kind.content.heads, kind.content.kv_heads};
  const TotalFlops core = core_flops(m, heads.query, others_of(m, kind.content));
  if (kind.recomputed.meets({Module::layer, Module::attention}))
    return 2 * TotalFlops{attention_weights(m, heads) + adapter_weights(m, {Linear::qkv, Linear::proj})} +
           core;
  TotalFlops sum = kind.recomputed.has(Module::core_attention) ? core : 0;
  if (kind.recomputed.has(Module::operations))
    sum += 2 * TotalFlops{m.hidden} * (m.kv_heads * m.query_dim() + output_width(m, heads));
  if (kind.recomputed.has(Module::latent_projection)) sum += 2 * latent_projection_weights(m, heads);
  return sum;
}

TotalFlops mlp_flops_again(const Model& m, const LayerKind& kind) {
  const Module half = kind.content.has_experts() ? Module::experts : Module::mlp;
  if (kind.content.mlp == LayerMlp::none) return 0;
  if (kind.recomputed.has(Module::operations)) return 2 * TotalFlops{m.hidden} * kind.content.ffn_hidden;
  if (!kind.recomputed.meets({Module::layer, half})) return 0;
  if (kind.content.has_experts()) return 2 * expert_weights_met(m);
  return 2 *
         TotalFlops{mlp_weights(m, kind.content.ffn_hidden) + adapter_weights(m, {Linear::fc1, Linear::fc2})};
}

/// Returns the FLOPs per sample that recomputation repeats in cross-attention.
TotalFlops cross_flops_again(const Model& m, const LayerKind& kind) {
  if (!kind.content.crosses) return 0;
  if (kind.recomputed.meets({Module::layer, Module::attention}))
    return cross_weight_flops(m) + cross_core_flops(m);
  return kind.recomputed.has(Module::core_attention) ? cross_core_flops(m) : 0;
}

/// Returns the FLOPs per sample that recomputation repeats in a layer.
TotalFlops flops_again(const Model& m, const LayerKind& kind) {
  return tokens_of(m, kind.content) * (attention_flops_again(m, kind) + mlp_flops_again(m, kind)) +
         cross_flops_again(m, kind);
}

}  // namespace

ModuleSet recomputed_modules(const Model& model, const Plan& plan) {
  switch (plan.recompute) {
    case Recompute::none:
      break;
    case Recompute::selective:
      return model.attention == Attention::core ? ModuleSet{Module::core_attention} : ModuleSet{};
    case Recompute::full:
      return {Module::layer};
    case Recompute::modules:
      return plan.recompute_modules;
  }
  return {};
}

LayerKinds::LayerKinds(const Model& model, const Plan& plan)
    : model_(model), plan_(plan), recomputed_(recomputed_modules(model, plan)) {
  of_layers_.reserve(static_cast<std::size_t>(model.all_layers()));
  std::int64_t layer = 0;
  std::size_t stage = 0;
  for (const std::int64_t layers : layers_per_virtual_stage(plan, model.all_layers())) {
    add_stage(stage++, layer, layer + layers);
    layer += layers;
  }
  add_stage(stage, layer, model.all_layers());  // where the stages have yet to be chosen
}

void LayerKinds::add_stage(std::size_t stage, std::int64_t from, std::int64_t to) {
  if (recomputed_.has(Module::layer) && plan_.recompute_method == RecomputeMethod::uniform &&
      plan_.recompute_layers > 1)
    return add_groups(from, to);
  for (std::int64_t layer = from; layer < to; ++layer) {
    const bool again = !recomputes_some() || layer - from < recomputed_layers(stage);
    add({model_.layer(layer), again ? recomputed_ : ModuleSet{}, 0, true, receives(layer, from)});
  }
}

/// Returns true if only the first layers of each stage are recomputed.
bool LayerKinds::recomputes_some() const {
  return plan_.recompute_method == RecomputeMethod::block &&
         (plan_.recompute_layers > 0 || !plan_.recompute_stage_layers.empty());
}

std::int64_t LayerKinds::recomputed_layers(std::size_t stage) const {
  const std::vector<std::int64_t>& own = plan_.recompute_stage_layers;
  return stage < own.size() ? own[stage] : plan_.recompute_layers;
}

LayerKind LayerKinds::of_depth() const {
  return {model_.layer(model_.all_layers() - 1), recomputes_some() ? ModuleSet{} : recomputed_};
}

void LayerKinds::add_groups(std::int64_t from, std::int64_t to) {
  for (std::int64_t first = from; first < to; first += plan_.recompute_layers) {
    const std::int64_t end = std::min(to, first + plan_.recompute_layers);
    const std::int32_t alike = first_alike(first, end);
    for (std::int64_t layer = first; layer < end; ++layer)
      add({model_.layer(layer), recomputed_, static_cast<std::int32_t>(layer - first), layer + 1 == end,
           receives(layer, from), alike});
  }
}

/// The bridge keeps it where it stands.
bool LayerKinds::receives(std::int64_t layer, std::int64_t first_of_stage) const {
  return model_.encoder_layers > 0 && layer == first_of_stage && layer > model_.encoder_layers;
}

void LayerKinds::add(const LayerKind& kind) {
  const auto known = std::ranges::find(kinds_, kind);
  of_layers_.push_back(static_cast<std::uint32_t>(known - kinds_.begin()));
  if (known == kinds_.end()) kinds_.push_back(kind);
}

/// A shorter group may be alike the beginning of a longer one, whose layers are the same.
std::int32_t LayerKinds::first_alike(std::int64_t from, std::int64_t to) {
  for (const std::int32_t start : group_starts_) {
    bool alike = start + (to - from) <= model_.all_layers();
    for (std::int64_t i = 0; alike && i < to - from; ++i)
      alike = model_.layer(start + i) == model_.layer(from + i);
    if (alike) return start;
  }
  group_starts_.push_back(static_cast<std::int32_t>(from));
  return group_starts_.back();
}

std::vector<LayerContent> LayerKinds::group_up_to(const LayerKind& kind) const {
  std::vector<LayerContent> group;
  for (std::int32_t i = 0; i < kind.before; ++i) group.push_back(model_.layer(kind.first_alike + i));
  group.push_back(kind.content);
  return group;
}

TotalFlops recompute_flops(const Model& model, const Plan& plan, const LayerKinds& kinds) {
  std::vector<std::int64_t> layers(kinds.list().size(), 0);
  for (const std::uint32_t kind : kinds.of_layers()) ++layers[kind];
  TotalFlops per_sample = 0;
  for (std::size_t i = 0; i < layers.size(); ++i)
    per_sample += layers[i] * flops_again(model, kinds.list()[i]);
  const LayerKind depth = kinds.of_depth();
  const TotalFlops projection = depth.recomputes_layers() ? 2 * projection_weights(model) : 0;
  per_sample += model.multi_token_prediction * (flops_again(model, depth) + model.seq_length * projection);
  return plan.global_batch_size * per_sample;
}

}  // namespace orrery
