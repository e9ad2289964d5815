#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"

namespace orrery {
namespace {

std::string_view name_of(ModelKind kind) { return kModelKindNames[static_cast<std::size_t>(kind)]; }

void refuse_keys_of_other_kinds(const Json& value, ModelKind kind, const Path& path, Scope& scope) {
  const std::string_view name = name_of(kind);
  for (const Field<Model>& field : model_fields()) {
    if (field.belongs_to(name) || !value.contains(field.name)) continue;
    scope.findings.add(Path(path, field.name),
                       fmt::format("found key \"{}\", allowed only for kind {}", field.name, field.only_for),
                       Anchor::key);
  }
}

void check_adapters(const Model& model, const Json& value, const Path& path, Findings& findings) {
  const std::int64_t widest = std::min(model.hidden, model.ffn_hidden);
  if (model.lora_rank > widest)
    findings.add(Path(path, "lora_rank"),
                 fmt::format("found {}, allowed at most {}, the width of a matrix", model.lora_rank, widest));
  if (!value.contains("lora_targets")) return;
  if (model.lora_rank == 0)
    findings.add(Path(path, "lora_targets"), "found a list, allowed only with lora_rank");
  if (std::ranges::none_of(model.lora_targets, std::identity{}))
    findings.add(Path(path, "lora_targets"), "found an empty list, allowed at least one matrix");
}

void check_packing(const Model& model, const Path& path, Findings& findings) {
  const std::int64_t packed = model.packed_sample_length;
  if (packed > model.seq_length)
    findings.add(Path(path, "packed_sample_length"),
                 fmt::format("found {}, allowed at most seq_length {}", packed, model.seq_length));
  if (packed > 0 && model.attention != Attention::flash)
    findings.add(
        Path(path, "packed_sample_length"),
        fmt::format("found {}, allowed only with attention flash: unfused attention computes all scores",
                    packed));
}

void read_latent_attention(const Json& value, Model& model, const Path& path, Scope& scope) {
  const auto found = value.find("latent_attention");
  if (found == value.end() || found->is_null()) return;
  const Path here(path, "latent_attention");
  read_fields(*found, latent_attention_fields(), model.latent_attention, here, scope);
  if (!found->is_object()) return;
  for (const std::string_view key : {"kv_rank", "nope_dim"})
    require(*found, latent_attention_fields(), key, "latent_attention", here, scope);
  if (!found->contains("value_dim")) model.latent_attention.value_dim = model.latent_attention.nope_dim;
}

/// An object of widths, of which some have to be given.
template <class Widths>
void read_widths(const Json& value, std::string_view key, const std::vector<Field<Widths>>& fields,
                 std::initializer_list<std::string_view> needed, Widths& widths, const Path& path,
                 Scope& scope) {
  const auto found = value.find(key);
  if (found == value.end() || found->is_null()) return;
  const Path here(path, key);
  read_fields(*found, fields, widths, here, scope);
  if (!found->is_object()) return;
  for (const std::string_view one : needed) require(*found, fields, one, key, here, scope);
}

void read_layer_widths(const Json& value, Model& model, const Path& path, Scope& scope) {
  read_widths(value, "indexer", indexer_fields(), {"heads", "top_k"}, model.indexer, path, scope);
  read_widths(value, "mamba2", mamba2_fields(), {"heads"}, model.mamba2, path, scope);
  GatedDeltaNet& net = model.gated_delta_net;
  read_widths(value, "gated_delta_net", gated_delta_net_fields(), {"key_heads"}, net, path, scope);
  const auto given = value.find("gated_delta_net");
  if (given == value.end() || !given->is_object()) return;
  if (!given->contains("value_heads")) net.value_heads = net.key_heads;
  if (!given->contains("value_dim")) net.value_dim = net.key_dim;
}

void check_indexer(const Model& model, const Path& path, Findings& findings) {
  if (model.indexer.top_k == 0) return;
  const auto refuse = [&](std::string_view found, std::string_view allowed) {
    findings.add(Path(path, "indexer"), fmt::format("found an indexer {}, allowed only {}", found, allowed));
  };
  if (!model.latent())
    refuse("without latent_attention", "with it: the chosen latent vectors are attended to");
  if (model.attention != Attention::flash) refuse("beside attention \"core\"", "with \"flash\"");
  if (!model.causal) refuse("beside causal false", "with true");
  if (model.packed_sample_length > 0) refuse("beside packed_sample_length", "without it");
  if (model.window > 0) refuse("beside window", "without it");
}

void check_recurrent_widths(const Model& model, const Path& path, Findings& findings) {
  const Mamba2& mamba = model.mamba2;
  if (mamba.heads > 0 && mamba.heads % mamba.groups != 0)
    findings.add(Path(Path(path, "mamba2"), "groups"),
                 fmt::format("found {}, allowed a divisor of heads {}", mamba.groups, mamba.heads));
  const GatedDeltaNet& net = model.gated_delta_net;
  if (net.key_heads > 0 && net.value_heads % net.key_heads != 0)
    findings.add(
        Path(Path(path, "gated_delta_net"), "key_heads"),
        fmt::format("found {}, allowed a divisor of value_heads {}", net.key_heads, net.value_heads));
  if (model.shared_expert_gate && model.shared_experts == 0)
    findings.add(Path(path, "shared_expert_gate"), "found true, allowed only with shared_experts");
}

void check_latent_attention(const Model& model, const Json& value, const Path& path, Findings& findings) {
  if (!model.latent()) return;
  const auto refuse = [&](std::string_view key, std::string_view allowed) {
    findings.add(Path(path, key), fmt::format("found a value beside latent_attention, allowed {}", allowed));
  };
  if (value.contains("kv_heads") && model.kv_heads != model.heads) refuse("kv_heads", "heads");
  if (value.contains("head_dim")) refuse("head_dim", "none: it is nope_dim + rope_dim");
  if (model.qk_norm != QueryKeyNorm::none) refuse("qk_norm", "none: latent vectors have norms");
  if (model.lora_rank > 0) refuse("lora_rank", "none");
  if (model.attention_output_gate) refuse("attention_output_gate", "false");
}

void check_window(const Model& model, const Path& path, Findings& findings) {
  if (model.window == 0 && model.window_pattern > 0)
    findings.add(Path(path, "window_pattern"), "found a value that does nothing, allowed only with window");
  if (model.window > model.seq_length)
    findings.add(Path(path, "window"),
                 fmt::format("found {}, allowed at most seq_length {}", model.window, model.seq_length));
  if (model.window > 0 && model.attention != Attention::flash)
    findings.add(
        Path(path, "window"),
        fmt::format("found {}, allowed only with attention flash: unfused attention computes all scores",
                    model.window));
  if (model.window > 0 && model.packed_sample_length > 0)
    findings.add(Path(path, "window"), "found a value beside packed_sample_length, allowed one of them");
}

void check_multi_token_prediction(const Model& model, const Path& path, Findings& findings) {
  if (model.multi_token_prediction > 0 && model.lora_rank > 0)
    findings.add(Path(path, "multi_token_prediction"),
                 fmt::format("found {} beside lora_rank, allowed 0", model.multi_token_prediction));
  if (model.multi_token_prediction >= model.seq_length)
    findings.add(Path(path, "multi_token_prediction"),
                 fmt::format("found {}, allowed less than seq_length {}", model.multi_token_prediction,
                             model.seq_length));
}

void complete_convnet(Model& model, const Json& value, const Path& path, Findings& findings) {
  if (!value.contains("seq_length")) model.seq_length = 1;
  if (!value.contains("convolutions")) model.convolutions = model.layers;
  if (model.convolutions % model.layers != 0)
    findings.add(Path(path, "convolutions"),
                 fmt::format("found {}, allowed a multiple of layers {}", model.convolutions, model.layers));
  if (model.head_parameters > model.parameters)
    findings.add(Path(path, "head_parameters"), fmt::format("found {}, allowed at most parameters {}",
                                                            model.head_parameters, model.parameters));
}

void complete_encoder(Model& model, const Json& value, const Path& path, Findings& findings) {
  if (model.encoder_layers == 0) {
    if (value.contains("encoder_seq_length"))
      findings.add(Path(path, "encoder_seq_length"),
                   "found a value that does nothing, allowed only with encoder_layers");
    return;
  }
  if (!value.contains("encoder_seq_length")) model.encoder_seq_length = model.seq_length;
  const auto refuse = [&](std::string_view key, bool given) {
    if (given) findings.add(Path(path, key), "found a value beside encoder_layers, allowed one of them");
  };
  refuse("experts", model.experts > 0);
  refuse("latent_attention", model.latent());
  refuse("layer_pattern", value.contains("layer_pattern"));
  refuse("lora_rank", model.lora_rank > 0);
  refuse("multi_token_prediction", model.multi_token_prediction > 0);
  refuse("packed_sample_length", model.packed_sample_length > 0);
  refuse("parallel_block", model.parallel_block);
  refuse("qk_norm", model.qk_norm != QueryKeyNorm::none);
  refuse("window", model.window > 0);
}

/// A model that makes one token after the other needs a causal mask, and so do windows, which look back.
void check_mask(const Model& model, const Path& path, Findings& findings) {
  if (model.causal) return;
  const auto refuse = [&](std::string_view key, bool given) {
    if (given) findings.add(Path(path, key), "found a value beside causal false, allowed with true");
  };
  refuse("encoder_layers", model.encoder_layers > 0);
  refuse("multi_token_prediction", model.multi_token_prediction > 0);
  refuse("window", model.window > 0);
}

void complete_transformer(Model& model, const Json& value, const Path& path, Findings& findings) {
  if (!value.contains("kv_heads")) model.kv_heads = model.heads;
  if (!value.contains("ffn_hidden")) model.ffn_hidden = 4 * model.hidden;
  if (!value.contains("max_positions")) model.max_positions = model.seq_length;
  if (model.kv_heads > model.heads || model.heads % model.kv_heads != 0) {
    findings.add(Path(path, "kv_heads"),
                 fmt::format("found {}, allowed a divisor of heads {}", model.kv_heads, model.heads));
  }
  check_adapters(model, value, path, findings);
  check_packing(model, path, findings);
  check_latent_attention(model, value, path, findings);
  check_indexer(model, path, findings);
  check_recurrent_widths(model, path, findings);
  check_window(model, path, findings);
  check_multi_token_prediction(model, path, findings);
  complete_encoder(model, value, path, findings);
  check_mask(model, path, findings);
  if (!value.contains("qkv_biases")) model.qkv_biases = model.biases;
  if (model.latent()) {
    model.head_dim = model.query_dim();
    return;
  }
  if (value.contains("head_dim")) return;
  model.head_dim = model.hidden / model.heads;
  if (model.hidden % model.heads != 0) {
    findings.add(
        Path(path, "heads"),
        fmt::format("found {}, allowed a divisor of hidden {}, or give head_dim", model.heads, model.hidden));
  }
}

void check_at_most(const Model& model, std::string_view key, std::int64_t Model::*value, std::string_view of,
                   std::int64_t most, const Path& path, Findings& findings) {
  if (model.*value > most)
    findings.add(Path(path, key), fmt::format("found {}, allowed at most {} {}", model.*value, of, most));
}

void check_divides(std::string_view key, std::int64_t value, std::string_view of, std::int64_t whole,
                   const Path& path, Findings& findings) {
  if (whole % value != 0)
    findings.add(Path(path, key), fmt::format("found {}, allowed a divisor of {} {}", value, of, whole));
}

void complete_experts(Model& model, const Json& value, const Path& path, Findings& findings) {
  if (!value.contains("expert_ffn_hidden")) model.expert_ffn_hidden = model.ffn_hidden;
  if (!value.contains("groups_per_token")) model.groups_per_token = model.expert_groups;
  check_at_most(model, "experts_per_token", &Model::experts_per_token, "experts", model.experts, path,
                findings);
  check_at_most(model, "dense_layers", &Model::dense_layers, "layers", model.layers, path, findings);
  check_at_most(model, "groups_per_token", &Model::groups_per_token, "expert_groups", model.expert_groups,
                path, findings);
  check_divides("expert_groups", model.expert_groups, "experts", model.experts, path, findings);
  check_divides("groups_per_token", model.groups_per_token, "experts_per_token", model.experts_per_token,
                path, findings);
  if (model.lora_rank > 0)
    findings.add(Path(path, "lora_rank"), "found adapters beside experts, allowed only for kind transformer");
  if (model.parallel_block)
    findings.add(Path(path, "parallel_block"), "found true, allowed false for kind moe-transformer");
}

void complete_mlp(Model& model, const Json& value, const Path& path, Findings& findings) {
  if (model.widths.empty()) {
    model.widths.assign(static_cast<std::size_t>(model.layers) + 1, model.hidden);
    return;
  }
  const auto matrices = static_cast<std::int64_t>(model.widths.size()) - 1;
  if (!value.contains("hidden")) model.hidden = model.widths.front();
  if (!value.contains("layers")) model.layers = matrices;
  if (matrices != model.layers || matrices < 1) {
    findings.add(Path(path, "widths"),
                 fmt::format("found {} widths, allowed layers + 1 = {}", matrices + 1, model.layers + 1));
  }
}

}  // namespace

Model read_model(const Json& value, const Path& path, Scope& scope) {
  Model model;
  const std::size_t before = scope.findings.list().size();
  if (const auto kind = value.find("kind"); kind != value.end()) {
    read_field(*kind, field_named(model_fields(), "kind"), model, Path(path, "kind"), scope);
    if (scope.findings.list().size() != before) return model;  // the other keys depend on the kind
  }
  const bool mlp = model.kind == ModelKind::mlp;
  const bool convnet = model.kind == ModelKind::convnet;
  read_fields(value, model_fields(), model, path, scope);
  refuse_keys_of_other_kinds(value, model.kind, path, scope);
  if (model.attends()) {
    read_latent_attention(value, model, path, scope);
    read_layer_widths(value, model, path, scope);
  }
  const auto need = [&](std::string_view key) {
    require(value, model_fields(), key, "kind " + std::string(name_of(model.kind)), path, scope);
  };
  if (convnet) {
    for (const std::string_view key : {"layers", "parameters", "forward_gflops_per_sample"}) need(key);
  } else if (!mlp || !value.contains("widths")) {
    need("layers");
    need("hidden");
  }
  if (model.attends()) {
    need("heads");
    need("vocab");
  }
  if (model.kind == ModelKind::moe_transformer) {
    need("experts");
    need("experts_per_token");
  }
  if (!convnet) need("seq_length");
  if (scope.findings.list().size() != before) return model;
  if (mlp) {
    complete_mlp(model, value, path, scope.findings);
  } else if (convnet) {
    complete_convnet(model, value, path, scope.findings);
  } else {
    complete_transformer(model, value, path, scope.findings);
  }
  if (model.kind == ModelKind::moe_transformer) complete_experts(model, value, path, scope.findings);
  if (model.attends() && scope.findings.list().size() == before)
    read_layer_pattern(value, model, path, scope);
  if (model.attends() && scope.findings.list().size() == before)
    check_kinds_of_layers(model, path, scope.findings);
  return model;
}

}  // namespace orrery
