// Reads model.layer_pattern: the content of each layer, if a model describes each of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

void complete(LayerRun& run, const Model& model) {
  if (run.mixer != TokenMixer::attention) run.attention = LayerAttention::none;
  if (run.heads == 0) run.heads = model.heads;
  if (run.kv_heads == 0) run.kv_heads = model.latent() ? run.heads : std::min(model.kv_heads, run.heads);
  if (run.ffn_hidden == 0) run.ffn_hidden = model.ffn_hidden;
}

/// The key of the model that has the widths of such layers; "" where none has.
std::string_view widths_of(TokenMixer mixer) {
  if (mixer == TokenMixer::mamba2) return "mamba2";
  return mixer == TokenMixer::gated_delta_net ? "gated_delta_net" : "";
}

bool has_widths(const Model& model, TokenMixer mixer) {
  if (mixer == TokenMixer::mamba2) return model.mamba2.heads > 0;
  return mixer == TokenMixer::attention || model.gated_delta_net.key_heads > 0;
}

void check_run(const LayerRun& run, const Model& model, const Path& path, Findings& findings) {
  if (!has_widths(model, run.mixer))
    findings.add(Path(path, "kind"),
                 fmt::format("found \"{}\", allowed only with model.{}",
                             kTokenMixerNames[static_cast<std::size_t>(run.mixer)], widths_of(run.mixer)));
  if (run.mixer == TokenMixer::attention && run.attention == LayerAttention::none &&
      run.mlp == LayerMlp::none)
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

/// Refuses keys beside layer_pattern that describe the same property of layers, or that need layers that are
/// all equal.
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

/// The letters of Megatron-Core (--hybrid-override-pattern), each a layer with one half.
struct Letter {
  char letter;
  TokenMixer mixer;
  LayerAttention attention;
  LayerMlp mlp;
};
constexpr std::array<Letter, 5> kLetters{{
    {'M', TokenMixer::mamba2, LayerAttention::none, LayerMlp::none},
    {'G', TokenMixer::gated_delta_net, LayerAttention::none, LayerMlp::none},
    {'*', TokenMixer::attention, LayerAttention::full, LayerMlp::none},
    {'-', TokenMixer::attention, LayerAttention::none, LayerMlp::dense},
    {'E', TokenMixer::attention, LayerAttention::none, LayerMlp::experts},
}};

void read_letters(const std::string& letters, Model& model, const Path& path, Scope& scope) {
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto known = std::ranges::find(kLetters, letters[i], &Letter::letter);
    if (known == kLetters.end()) {
      scope.findings.add(path,
                         fmt::format("found '{}' as letter {}, allowed are M (mamba2), G (gated-delta-net), "
                                     "* (attention), - (MLP), E (experts)",
                                     letters[i], i + 1));
      return;
    }
    LayerRun& run = model.layer_pattern.emplace_back();
    run.mixer = known->mixer;
    run.attention = known->attention;
    run.mlp = known->mlp;
    complete(run, model);
    const std::size_t before = scope.findings.list().size();
    check_run(run, model, path, scope.findings);
    if (scope.findings.list().size() > before) return;  // once is enough
  }
}

/// A name alone is a layer of that kind.
Json as_object(const Json& entry) { return entry.is_string() ? Json{{"kind", entry}} : entry; }

}  // namespace

void check_kinds_of_layers(const Model& model, const Path& path, Findings& findings) {
  for (const TokenMixer mixer : {TokenMixer::mamba2, TokenMixer::gated_delta_net}) {
    const bool used =
        std::ranges::any_of(model.layer_pattern, [&](const LayerRun& run) { return run.mixer == mixer; });
    if (has_widths(model, mixer) && !used)
      findings.add(Path(path, widths_of(mixer)),
                   fmt::format("found widths of layers that there are none of, allowed with a layer_pattern "
                               "that has kind \"{}\"",
                               kTokenMixerNames[static_cast<std::size_t>(mixer)]));
  }
}

void read_layer_pattern(const Json& value, Model& model, const Path& path, Scope& scope) {
  const auto found = value.find("layer_pattern");
  if (found == value.end() || found->is_null()) return;
  const Path here(path, "layer_pattern");
  const std::size_t before = scope.findings.list().size();
  const bool is_letters = found->is_string() && !found->get_ref<const std::string&>().empty();
  if (is_letters) {
    read_letters(found->get_ref<const std::string&>(), model, here, scope);
    check_beside(model, path, scope.findings);
    if (scope.findings.list().size() == before) check_pattern(model, path, scope.findings);
    return;
  }
  if (!found->is_array() || found->empty()) {
    scope.findings.add(here, fmt::format("found {}, allowed {}", described(*found),
                                         field_named(model_fields(), "layer_pattern").help));
    return;
  }
  for (std::size_t i = 0; i < found->size(); ++i) {
    LayerRun& run = model.layer_pattern.emplace_back();
    const Path place(here, i);
    read_fields(as_object((*found)[i]), layer_run_fields(), run, place, scope);
    if (run.mixer != TokenMixer::attention && (*found)[i].is_object() && (*found)[i].contains("attention"))
      scope.findings.add(Path(place, "attention"),
                         "found a value beside a kind that is not attention, allowed one of them");
    complete(run, model);
    check_run(run, model, place, scope.findings);
  }
  check_beside(model, path, scope.findings);
  if (scope.findings.list().size() == before) check_pattern(model, path, scope.findings);
}

}  // namespace orrery
