// model.layer_pattern: what each layer is, where a model says so of each.
#include <fmt/format.h>

#include <algorithm>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "config/schema/wording.hpp"

namespace orrery {
namespace {

void complete(LayerRun& run, const Model& model) {
  if (run.heads == 0) run.heads = model.heads;
  if (run.kv_heads == 0) run.kv_heads = model.latent() ? run.heads : std::min(model.kv_heads, run.heads);
  if (run.ffn_hidden == 0) run.ffn_hidden = model.ffn_hidden;
}

void check_run(const LayerRun& run, const Model& model, const Path& path, Findings& findings) {
  if (run.attention == LayerAttention::none && run.mlp == LayerMlp::none)
    findings.add(path, "found neither attention nor mlp, allowed layers that have one of them");
  if (run.attention == LayerAttention::window && model.window == 0)
    findings.add(Path(path, "attention"), "found \"window\", allowed only with model.window");
  if (run.mlp == LayerMlp::experts && model.experts == 0)
    findings.add(Path(path, "mlp"), "found \"experts\", allowed only for kind moe-transformer");
  if (run.kv_heads > run.heads || run.heads % run.kv_heads != 0)
    findings.add(Path(path, "kv_heads"),
                 fmt::format("found {}, allowed a divisor of heads {}", run.kv_heads, run.heads));
  if (model.latent() && run.kv_heads != run.heads)
    findings.add(Path(path, "kv_heads"), "found a value beside latent_attention, allowed heads");
}

/// What says the same of layers, or nothing of layers that differ.
void check_beside(const Model& model, const Path& path, Findings& findings) {
  const auto refuse = [&](std::string_view key, bool given) {
    if (given) findings.add(Path(path, key), "found a value beside layer_pattern, allowed one of them");
  };
  refuse("window_pattern", model.window_pattern > 0);
  refuse("dense_layers", model.dense_layers > 0);
  refuse("moe_layer_frequency", model.moe_layer_frequency > 1);
  refuse("lora_rank", model.lora_rank > 0);
  refuse("parallel_block", model.parallel_block);
}

void check_pattern(const Model& model, const Path& path, Findings& findings) {
  std::int64_t layers = 0;
  for (const LayerRun& run : model.layer_pattern) layers += run.layers;
  const Path here(path, "layer_pattern");
  if (model.layers % layers != 0)
    findings.add(here, fmt::format("found {} layers, allowed a divisor of layers {}", layers, model.layers));
  const auto any = [&](auto is) { return std::ranges::any_of(model.layer_pattern, is); };
  if (model.window > 0 && !any([](const LayerRun& run) { return run.attention == LayerAttention::window; }))
    findings.add(Path(path, "window"), "found a value that no layer of layer_pattern has a use for");
  if (model.experts > 0 && !any([](const LayerRun& run) { return run.mlp == LayerMlp::experts; }))
    findings.add(here, "found no layer with experts, allowed for kind transformer");
}

}  // namespace

void read_layer_pattern(const Json& value, Model& model, const Path& path, Scope& scope) {
  const auto found = value.find("layer_pattern");
  if (found == value.end() || found->is_null()) return;
  const Path here(path, "layer_pattern");
  if (!found->is_array() || found->empty()) {
    scope.findings.add(here, fmt::format("found {}, allowed {}", described(*found),
                                         field_named(model_fields(), "layer_pattern").help));
    return;
  }
  const std::size_t before = scope.findings.list().size();
  for (std::size_t i = 0; i < found->size(); ++i) {
    LayerRun& run = model.layer_pattern.emplace_back();
    const Path place(here, i);
    read_fields((*found)[i], layer_run_fields(), run, place, scope);
    complete(run, model);
    check_run(run, model, place, scope.findings);
  }
  check_beside(model, path, scope.findings);
  if (scope.findings.list().size() == before) check_pattern(model, path, scope.findings);
}

}  // namespace orrery
