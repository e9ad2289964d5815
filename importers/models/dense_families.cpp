// Dense decoders that are not like Llama: GPT-2 and its kin, Falcon, MPT, Phi, Command R and others.
#include <fmt/format.h>

#include <array>

#include "importers/models/families.hpp"
#include "importers/models/model_reading.hpp"

namespace orrery::importers::models {
namespace {

/// Counts one vector of hidden values, or several, in each layer.
void add_vectors_of_layers(ModelReading& r, std::int64_t vectors, const std::string& of) {
  r.add_parameters(product_of({r.count_or("layers", 0), vectors, r.count_or("hidden", 0)}), of);
}

void add_output_bias(ModelReading& r) {
  r.add_parameters(r.count_or("vocab", 0), "biases of the output projection");
}

/// OPT leaves out two positions, and its smallest but one embeds in half the width.
void read_opt(ModelReading& r) {
  if (const auto context = r.count(launch::kContext))
    r.set("max_positions", *context + 2, "two more than its context, as in its code");
  const auto width = r.keys.integer({"word_embed_proj_dim"});
  const Keys keys = r.keys.take({"word_embed_proj_dim"});
  if (!width || width == r.count("hidden")) return r.ignore(keys, "embeddings have the hidden width");
  r.cannot(keys, "embeddings narrower than the residual stream", "embeddings of the hidden width");
}

void read_bloom(ModelReading& r) { r.add_parameters(2 * r.count_or("hidden", 0), "norm of the embedding"); }

/// Falcon has one head of keys and values where multi_query is on, whatever other keys say;
/// new_decoder_architecture has groups and two norms before a parallel block.
void read_falcon(ModelReading& r) {
  const bool groups = r.keys.flag({"new_decoder_architecture"}, false);
  const bool shares = r.keys.flag({"multi_query"}, true);
  const Keys keys = r.keys.take({"new_decoder_architecture", "multi_query"});
  if (!groups) r.set("kv_heads", shares ? Json(1) : r.value("heads"), keys, "as multi_query says");
  if (groups) r.ignore(keys, "keys and values have groups, as num_kv_heads says");
  r.block.parallel = groups || r.keys.flag({"parallel_attn"}, true);
  r.ignore(r.keys.take({"parallel_attn"}), "model.parallel_block says it");
  const std::int64_t norms = r.keys.integer({"num_ln_in_parallel_attn"}).value_or(groups ? 2 : 1);
  r.ignore(r.keys.take({"num_ln_in_parallel_attn"}), "counted among other parameters");
  if (r.block.parallel && norms == 2) add_vectors_of_layers(r, 2, "second norms of layers");
  if (r.keys.flag({"alibi"}, false)) r.block.positions = "ALiBi taken as rotary";
  r.ignore(r.keys.take({"alibi"}), "model.positions says it");
}

/// GPT-NeoX norms the input of attention and that of the MLP apart, even where both read the same.
void read_gpt_neox(ModelReading& r) {
  r.block.parallel = r.keys.flag({"use_parallel_residual"}, true);
  r.ignore(r.keys.take({"use_parallel_residual"}), "model.parallel_block says it");
  if (r.block.parallel) add_vectors_of_layers(r, 2, "second norms of layers");
}

void read_stablelm(ModelReading& r) {
  r.block.parallel = r.keys.flag({"use_parallel_residual"}, false);
  r.ignore(r.keys.take({"use_parallel_residual"}), "model.parallel_block says it");
}

void read_gpt_bigcode(ModelReading& r) {
  const Keys keys = r.keys.take({"multi_query"});
  if (r.keys.flag({"multi_query"}, true))
    r.set("kv_heads", 1, keys, "one head of keys and values");
  else
    r.ignore(keys, "every head has its own keys");
}

/// MPT: the width of MLPs is a ratio, and no_bias takes the biases of norms too.
void read_mpt(ModelReading& r) {
  if (const auto hidden = r.count("hidden"); hidden && r.value("ffn_hidden").is_null())
    r.set("ffn_hidden", product_of({r.keys.integer({"expansion_ratio"}).value_or(4), *hidden}),
          r.keys.take({"expansion_ratio"}), "so many times the hidden width");
  r.ignore(r.keys.take({"expansion_ratio"}), "the width of MLPs is given");
  if (!r.keys.flag({"no_bias"}, true)) r.block.norm = NormKind::layer;
  if (r.keys.value({"attn_config.attn_type"}) == "multiquery_attention" && r.value("kv_heads").is_null())
    r.set("kv_heads", 1, r.keys.take({"attn_config.attn_type"}), "one head of keys and values");
  const bool alibi = r.keys.flag({"attn_config.alibi"}, true);
  r.block.positions = alibi ? "ALiBi taken as rotary" : "learned";
  r.ignore(r.keys.take({"attn_config.alibi", "learned_pos_emb"}), "model.positions says it");
}

/// Returns the kinds of layers of GPT-Neo, "global" or "local", from [[["global", "local"], 12]].
std::vector<std::string> neo_kinds(const Json& types, std::size_t most) {
  std::vector<std::string> kinds;
  for (const Json& entry : types.is_array() ? types : Json::array()) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_array()) return {};
    for (std::int64_t i = integer_of(entry[1]).value_or(0); i > 0 && kinds.size() < most; --i)
      for (const Json& kind : entry[0])
        if (kind.is_string()) kinds.push_back(kind.get<std::string>());
  }
  return kinds;
}

void read_gpt_neo(ModelReading& r) {
  const std::vector<std::string> kinds = neo_kinds(r.keys.value({"attention_types"}), r.layers.size());
  if (r.value("window").is_null() && !r.keys.has({"window_size"})) return;
  r.each_layer([&kinds](std::int64_t at, LayerRun& layer) {
    const auto index = static_cast<std::size_t>(at);
    const bool local = kinds.empty() ? at % 2 == 1 : index < kinds.size() && kinds[index] == "local";
    if (local) layer.attention = LayerAttention::window;
  });
}

/// xIELU of Apertus learns two numbers a layer.
void add_xielu(ModelReading& r) { r.add_parameters(2 * r.count_or("layers", 0), "two of xIELU a layer"); }

void note_olmo_norm(ModelReading& r) {
  r.set("normalization", "rmsnorm", "its LayerNorm has no parameters at all: counted are gains of RMSNorm");
}

/// Norms of queries and keys have biases too.
void add_norm_biases(ModelReading& r) {
  const std::int64_t width = r.count_or("hidden", 0) / std::max<std::int64_t>(1, r.count_or("heads", 1));
  if (r.block.qk_norm == "head")
    r.add_parameters(product_of({2, r.count_or("layers", 0), width}), "biases of norms of queries and keys");
}

constexpr BiasesOf kAll{true, true, true};
constexpr BlockTraits kGpt2{
    .gated = false, .norm = NormKind::layer, .positions = "learned", .tied = true, .biases = kAll};
constexpr BlockTraits kGptJ{
    .gated = false, .norm = NormKind::layer, .parallel = true, .biases = {.mlp = true}};

const std::array kDense{
    Family{.types = "gpt2", .classes = "GPT2LMHeadModel", .block = kGpt2},
    Family{.types = "gpt_bigcode",
           .classes = "GPTBigCodeForCausalLM",
           .block = kGpt2,
           .before = read_gpt_bigcode},
    Family{.types = "gpt_neo",
           .classes = "GPTNeoForCausalLM",
           .block = {.gated = false,
                     .norm = NormKind::layer,
                     .positions = "learned",
                     .tied = true,
                     .biases = {.out = true, .mlp = true}},
           .before = read_gpt_neo},
    Family{.types = "opt", .classes = "OPTForCausalLM", .block = kGpt2, .before = read_opt},
    Family{.types = "bloom",
           .classes = "BloomForCausalLM BloomModel",
           .block = {.gated = false,
                     .norm = NormKind::layer,
                     .positions = "ALiBi taken as rotary",
                     .tied = true,
                     .biases = kAll},
           .before = read_bloom},
    Family{.types = "gptj codegen",
           .classes = "GPTJForCausalLM CodeGenForCausalLM",
           .block = kGptJ,
           .after = add_output_bias},
    Family{.types = "gpt_neox",
           .classes = "GPTNeoXForCausalLM",
           .block = {.gated = false, .norm = NormKind::layer, .biases = kAll},
           .before = read_gpt_neox},
    Family{.types = "falcon RefinedWeb RefinedWebModel",
           .classes = "FalconForCausalLM RWForCausalLM",
           .block = {.gated = false, .norm = NormKind::layer, .tied = true},
           .before = read_falcon},
    Family{.types = "mpt",
           .classes = "MPTForCausalLM MptForCausalLM",
           .block = {.gated = false,
                     .norm = NormKind::layer_without_biases,
                     .tied = true,
                     .qk_norm = "whole",
                     .qk_norm_is_keyed = true},
           .before = read_mpt},
    Family{.types = "phi",
           .classes = "PhiForCausalLM",
           .block = {.gated = false,
                     .norm = NormKind::layer,
                     .parallel = true,
                     .qk_norm = "head",
                     .qk_norm_is_keyed = true,
                     .biases = kAll},
           .after = add_output_bias},
    Family{.types = "stablelm stablelm_epoch",
           .classes = "StableLmForCausalLM StableLMEpochForCausalLM",
           .block = {.norm = NormKind::layer, .qk_norm = "whole", .qk_norm_is_keyed = true},
           .before = read_stablelm},
    Family{.types = "starcoder2",
           .classes = "Starcoder2ForCausalLM",
           .block = {.gated = false, .norm = NormKind::layer, .tied = true, .biases = kAll}},
    Family{.types = "cohere",
           .classes = "CohereForCausalLM",
           .block = {.norm = NormKind::layer_without_biases,
                     .tied = true,
                     .parallel = true,
                     .qk_norm = "whole",
                     .qk_norm_is_keyed = true}},
    Family{.types = "cohere2",
           .classes = "Cohere2ForCausalLM",
           .block = {.norm = NormKind::layer_without_biases, .tied = true, .parallel = true}},
    Family{.types = "nemotron",
           .classes = "NemotronForCausalLM",
           .block = {.gated = false, .norm = NormKind::layer}},
    Family{.types = "arcee", .classes = "ArceeForCausalLM", .block = {.gated = false}},
    Family{.types = "apertus",
           .classes = "ApertusForCausalLM",
           .block = {.gated = false, .qk_norm = "head"},
           .after = add_xielu},
    Family{.types = "olmo", .classes = "OlmoForCausalLM OLMoForCausalLM", .after = note_olmo_norm},
    Family{.types = "orion", .classes = "OrionForCausalLM", .block = {.norm = NormKind::layer}},
    Family{.types = "persimmon",
           .classes = "PersimmonForCausalLM",
           .block = {.gated = false, .norm = NormKind::layer, .qk_norm = "head", .biases = kAll},
           .after = add_norm_biases},
};

}  // namespace

std::span<const Family> dense_families() { return kDense; }

}  // namespace orrery::importers::models
