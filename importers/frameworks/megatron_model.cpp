// The shape of a model from Megatron's arguments: dense layers, attention, vocabulary.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "importers/common/text_lines.hpp"
#include "importers/frameworks/megatron.hpp"

namespace orrery::importers::frameworks {
namespace {

/// Width of a gated MLP that has as many weights as two matrices of 4 h: a multiple of 64, as arguments.py
/// rounds it.
std::int64_t gated_width(std::int64_t hidden) {
  return static_cast<std::int64_t>(static_cast<double>(4 * hidden) * 2 / 3 / 64) * 64;
}

void read_widths(LaunchArguments& all, const std::string& framework) {
  Draft& draft = all.draft();
  all.map_count(all.contains("num_layers") ? "num_layers" : "encoder_num_layers", "model.layers");
  all.ignore("encoder_num_layers", "num_layers gives it");
  all.map_count("hidden_size", "model.hidden");
  all.map_count("num_attention_heads", "model.heads");
  all.map_flag("swiglu", "model.gated_mlp");
  if (!draft.has("model.hidden")) return all.ignore("swiglu", "no file gives the width of the model");
  draft.default_to("model.gated_mlp", false, framework + " without swiglu");
  all.map_count("ffn_hidden_size", "model.ffn_hidden");
  const auto hidden = whole_number(draft.value("model.hidden"));
  if (!hidden || *hidden < 1 || *hidden > 10'000'000) return;
  const bool gated = draft.value("model.gated_mlp") == true;
  draft.default_to("model.ffn_hidden", gated ? gated_width(*hidden) : 4 * *hidden,
                   gated ? framework + "'s default with swiglu: 8/3 hidden, in multiples of 64"
                         : framework + "'s default: 4 hidden");
}

/// Key and value heads: Megatron has as many as heads until group_query_attention is on.
void read_key_value_heads(LaunchArguments& all) {
  all.map_count("num_key_value_heads", "model.kv_heads");
  const bool grouped = all.take_flag("group_query_attention").value_or(false);
  if (grouped && all.contains("num_query_groups")) {
    all.map_count("num_query_groups", "model.kv_heads");
    return all.ignore("group_query_attention", "num_query_groups says how many");
  }
  if (grouped) return all.became("group_query_attention", "model.kv_heads", 1, "one group is the default");
  all.ignore("group_query_attention", "as many key and value heads as heads");
  all.ignore("num_query_groups", "takes group_query_attention");
}

void read_latent_attention(LaunchArguments& all) {
  if (all.take_flag("multi_latent_attention") != true) {
    all.ignore("multi_latent_attention", "attention is not latent");
    for (const char* part :
         {"q_lora_rank", "kv_lora_rank", "qk_head_dim", "qk_pos_emb_head_dim", "v_head_dim"})
      all.ignore(part, "takes multi_latent_attention");
    return all.map_count("kv_channels", "model.head_dim");
  }
  constexpr std::array<std::pair<const char*, const char*>, 5> kParts{
      {{"q_lora_rank", "model.latent_attention.q_rank"},
       {"kv_lora_rank", "model.latent_attention.kv_rank"},
       {"qk_head_dim", "model.latent_attention.nope_dim"},
       {"qk_pos_emb_head_dim", "model.latent_attention.rope_dim"},
       {"v_head_dim", "model.latent_attention.value_dim"}}};
  for (const auto& [part, ours] : kParts) all.map_count(part, ours);
  constexpr const char* kDefault = "Megatron-LM's default of latent attention";
  all.draft().default_to("model.latent_attention.kv_rank", 32, kDefault);
  all.draft().default_to("model.latent_attention.nope_dim", 128, kDefault);
  all.draft().default_to("model.latent_attention.rope_dim", 64, kDefault);
  all.draft().default_to("model.latent_attention.value_dim", 128, kDefault);
  all.ignore("multi_latent_attention", "stands with model.latent_attention");
  all.ignore("kv_channels", "latent attention has widths of its own");
}

/// Fused attention is the default of Transformer Engine, and the scores are kept without it.
void read_attention(LaunchArguments& all, const std::string& framework) {
  const std::string backend = all.take_text("attention_backend");
  if (!backend.empty() && backend.find("auto") == std::string::npos) {
    const bool core =
        backend.find("unfused") != std::string::npos || backend.find("local") != std::string::npos;
    return all.became("attention_backend", "model.attention", core ? "core" : "flash");
  }
  all.ignore("attention_backend", "Transformer Engine chooses fused attention");
  for (const char* flash :
       {"use_flash_attn", "use_flash_attn_v1", "use_flash_attn_v2", "use_flash_attn_triton"})
    if (all.take_flag(flash) == true) return all.became(flash, "model.attention", "flash");
  const bool engine = all.take_text("transformer_impl") == "transformer_engine";
  if (engine)
    return all.became("transformer_impl", "model.attention", "flash", "fused attention is its default");
  const bool old = all.contains("zero_stage") || all.contains("DDP_impl") ||
                   all.contains("transformer_impl") || all.contains("checkpoint_activations") ||
                   all.contains("deepspeed_config");
  all.ignore("transformer_impl", "layers of Megatron's own");
  all.draft().default_to(
      "model.attention", old ? "core" : "flash",
      old ? framework + " of that age keeps the scores" : framework + "'s default: Transformer Engine");
}

void read_positions(LaunchArguments& all, const std::string& framework) {
  Draft& draft = all.draft();
  const std::string type = all.take_text("position_embedding_type");
  const bool rotary = type == "rope" || type == "yarn" || type == "mrope";
  const bool turned = all.take_flag("use_rotary_position_embeddings") == true;
  if (turned) all.became("use_rotary_position_embeddings", "model.positions", "rotary");
  all.ignore("add_position_embedding", "positions stand in model.positions");
  if (type == "none")
    all.became("position_embedding_type", "model.positions", "rotary",
               "no positions: the nearest without weights");
  else if (type == "relative")
    all.became("position_embedding_type", "model.positions", "relative");
  else if (!type.empty() && !turned)
    all.became("position_embedding_type", "model.positions", rotary ? "rotary" : "learned");
  all.ignore("position_embedding_type", "rotary positions are on");
  all.ignore("use_rotary_position_embeddings", "rotary positions are off");
  draft.default_to("model.positions", "learned", framework + "'s default");
  if (draft.value("model.positions") == "learned")
    all.map_count("max_position_embeddings", "model.max_positions");
  all.ignore("max_position_embeddings", "rotary positions have no table");
}

void read_norms_and_biases(LaunchArguments& all, const std::string& framework) {
  Draft& draft = all.draft();
  const std::string norm = all.take_text("normalization");
  if (!norm.empty()) {
    const bool rms = norm.find("rms") != std::string::npos;
    all.became("normalization", "model.normalization", rms ? "rmsnorm" : "layernorm");
  }
  draft.default_to("model.normalization", "layernorm", framework + "'s default");
  all.map_flag("add_bias_linear", "model.biases");
  draft.default_to("model.biases", true, framework + "'s default");
  if (all.take_flag("add_qkv_bias") == true) all.became("add_qkv_bias", "model.qkv_biases", true);
  all.ignore("add_qkv_bias", "no biases but model.biases");
  if (all.take_flag("qk_layernorm") == true && !draft.has("model.latent_attention.kv_rank"))
    all.became("qk_layernorm", "model.qk_norm", "head");
  all.ignore("qk_layernorm", "norms of latent attention are always there");
}

void read_ties(LaunchArguments& all, const std::string& framework) {
  const auto untied = all.take_flag("untie_embeddings_and_output_weights");
  if (untied) all.became("untie_embeddings_and_output_weights", "model.tied_embeddings", !*untied);
  all.draft().default_to("model.tied_embeddings", true, framework + "'s default");
}

void read_dropout(LaunchArguments& all, const std::string& framework) {
  const auto share = [&all](const char* name) {
    const LaunchArgument* argument = all.take(name);
    return argument != nullptr && argument->value.is_number() ? argument->value.get<double>() : 0.1;
  };
  const double hidden = share("hidden_dropout"), scores = share("attention_dropout");
  const char* told = all.contains("hidden_dropout") ? "hidden_dropout" : "attention_dropout";
  all.became(told, "model.dropout", hidden > 0 || scores > 0);
  all.ignore("attention_dropout", "stands with model.dropout");
  all.draft().default_to("model.dropout", true, framework + "'s default: 0.1");
}

/// "127,0", "(127, 0)" or [127, 0]: the tokens before one that it attends to, and those behind it.
void read_window(LaunchArguments& all) {
  const LaunchArgument* window = all.take("window_size");
  if (window == nullptr) return all.ignore("window_attn_skip_freq", "no window");
  std::string text = text_of(window->value);
  std::erase_if(text, [](char c) { return c == '(' || c == '[' || c == ' ' || c == '"'; });
  const auto before = whole_number(Json(text.substr(0, text.find(','))));
  if (!before || *before < 0) return all.ignore("window_size", "attention to all tokens");
  all.became("window_size", "model.window", *before + 1);
  const LaunchArgument* skip = all.take("window_attn_skip_freq");
  if (skip == nullptr) return;
  if (const auto every = whole_number(skip->value))
    return all.became("window_attn_skip_freq", "model.window_pattern", *every);
  all.refuse("window_attn_skip_freq", "the layers without a window are not every n-th one",
             "a window in all layers");
}

/// Known vocabularies of tokenizers, before padding. Sources: the tokenizers' own files.
struct Vocabulary {
  std::string_view tokenizer;  ///< part of the name of a type or model of a tokenizer, in lower case
  std::int64_t size;
};
constexpr std::array<Vocabulary, 17> kVocabularies{{{"nemotron_2_256k", 256000},
                                                    {"20b_tokenizer", 50277},
                                                    {"bertwordpiececase", 28996},
                                                    {"bertwordpiecelowercase", 30522},
                                                    {"multimixv8", 131072},
                                                    {"nemotron", 131072},
                                                    {"deepseek-v", 129280},
                                                    {"deepseek-ai", 129280},
                                                    {"qwen3", 151936},
                                                    {"qwen2.5", 152064},
                                                    {"mixtral", 32000},
                                                    {"mistral", 32000},
                                                    {"llama-3", 128256},
                                                    {"llama3", 128256},
                                                    {"llama2tokenizer", 32000},
                                                    {"llama-2", 32000},
                                                    {"gpt2", 50257}}};

constexpr Vocabulary kUsualVocabulary{"Llama 3's", 128256};
constexpr Vocabulary kNeoxVocabulary{"that of GPT-NeoX-20B", 50277};

/// The vocabulary of a tokenizer by its name.
const Vocabulary* known_vocabulary(const std::string& tokenizer) {
  const auto found = std::ranges::find_if(
      kVocabularies, [&](const Vocabulary& v) { return tokenizer.find(v.tokenizer) != std::string::npos; });
  return found == kVocabularies.end() ? nullptr : &*found;
}

/// The value in lower case though a variable in it has none: names of tokenizers lie in paths.
std::string raw_text(const LaunchArguments& all, std::string_view name) {
  const LaunchArgument* argument = all.find(name);
  return argument == nullptr ? "" : small(text_of(argument->value));
}

void read_vocabulary(LaunchArguments& all, const std::string& framework) {
  Draft& draft = all.draft();
  const std::string type = raw_text(all, "tokenizer_type") + raw_text(all, "model.tokenizer.type");
  std::string tokenizer = type + " " + raw_text(all, "tokenizer_model") + " " + raw_text(all, "vocab_file");
  if (all.contains("merge_file") && all.contains("vocab_file")) tokenizer += " gpt2bpetokenizer";
  if (all.contains("padded_vocab_size") && !all.find("padded_vocab_size")->value.is_null()) {
    all.map_count("padded_vocab_size", "model.vocab");
    for (const char* part : {"vocab_size", "make_vocab_size_divisible_by"})
      all.ignore(part, "padded_vocab_size has it");
    return;
  }
  const auto multiple = all.take_count("make_vocab_size_divisible_by");
  const Json& tensor = draft.value("plan.tensor_parallel");
  const std::int64_t ranks = whole_number(tensor).value_or(1);
  const std::int64_t padded =
      std::min<std::int64_t>(multiple.value_or(128), 1 << 20) * std::clamp<std::int64_t>(ranks, 1, 1 << 20);
  if (multiple && !draft.has(launch::kVocabularyMultiple))
    all.became("make_vocab_size_divisible_by", launch::kVocabularyMultiple, padded, "times tensor ranks");
  draft.default_to(launch::kVocabularyMultiple, padded, "Megatron-LM pads to 128 times tensor ranks");
  if (const auto size = all.take_count("vocab_size")) {
    const bool null = type.find("nulltokenizer") != std::string::npos;
    return all.became("vocab_size", "model.vocab", *size + (null ? 1 : 0),
                      null ? "NullTokenizer adds the token that ends documents" : "");
  }
  if (!draft.has("model.hidden")) return;
  if (const Vocabulary* known = known_vocabulary(tokenizer))
    return draft.default_to("model.vocab", known->size, fmt::format("the tokenizer is {}", known->tokenizer));
  const Vocabulary& usual = framework == "GPT-NeoX" ? kNeoxVocabulary : kUsualVocabulary;
  draft.default_to("model.vocab", usual.size,
                   fmt::format("no file gives the vocabulary, which stands in the tokenizer: {}; --set "
                               "model.vocab=N changes it",
                               usual.tokenizer));
}

}  // namespace

void read_megatron_model(LaunchArguments& all, const std::string& framework) {
  const bool described = all.contains("hidden_size") || all.contains("num_attention_heads");
  read_widths(all, framework);
  if (!all.answers("seq_length"))
    all.map_count(all.contains("seq_length") ? "seq_length" : "encoder_seq_length", "model.seq_length");
  all.ignore("encoder_seq_length", "seq_length gives it");
  read_vocabulary(all, framework);
  if (!described) return;
  read_key_value_heads(all);
  read_latent_attention(all);
  read_attention(all, framework);
  read_positions(all, framework);
  read_norms_and_biases(all, framework);
  read_ties(all, framework);
  read_dropout(all, framework);
  read_window(all);
  if (!all.contains("hybrid_layer_pattern"))
    all.map_count("mtp_num_layers", "model.multi_token_prediction", 0);
  if (all.take_flag("attention_output_gate") == true)
    all.became("attention_output_gate", "model.attention_output_gate", true);
  all.ignore("attention_output_gate", "no gate");
}

}  // namespace orrery::importers::frameworks
