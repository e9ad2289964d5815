// Llama and its kin: gated MLPs, RMSNorm, rotary positions, no biases unless a key says so.
#include <array>

#include "importers/models/families.hpp"
#include "importers/models/model_reading.hpp"

namespace orrery::importers::models {
namespace {

/// The one key `bias` of InternLM means attention alone.
void read_internlm_biases(ModelReading& r) {
  const bool has = r.keys.flag({"bias"}, true);
  r.block.biases = {has, has, false};
  r.block.keyed_biases = false;
}

/// The MLP of Qwen (the first) splits its width over both matrices that its gate multiplies.
void halve_qwen_width(ModelReading& r) {
  if (const auto width = r.count("ffn_hidden"))
    r.set("ffn_hidden", *width / 2, "half of it: the file counts both matrices before the gate");
}

/// Gemma 2 slides in every other layer, from the first on.
void place_gemma2_windows(ModelReading& r) {
  if (r.keys.has({"layer_types"})) return;
  r.each_layer([](std::int64_t at, LayerRun& layer) {
    if (at % 2 == 0) layer.attention = LayerAttention::window;
  });
}

/// All but the last of so many layers slide, where no key says which.
template <int kPeriod>
void place_windows_by_default(ModelReading& r) {
  if (r.keys.has({"layer_types", "sliding_window_pattern", "_sliding_window_pattern"})) return;
  r.each_layer([](std::int64_t at, LayerRun& layer) {
    if ((at + 1) % kPeriod != 0) layer.attention = LayerAttention::window;
  });
}

/// ChatGLM2 and its kin name their numbers of keys and values only where queries share them. The first
/// ChatGLM has other layers.
void read_chatglm(ModelReading& r) {
  if (r.keys.has({"inner_hidden_size"})) {
    r.block = {.gated = false, .norm = NormKind::layer, .tied = true, .biases = {true, true, true}};
    return;
  }
  const Keys shares = r.keys.take({"multi_query_attention"});
  if (!r.keys.flag({"multi_query_attention"}, false)) r.forget("kv_heads", "every head has its own keys");
  r.ignore(shares, "model.kv_heads says it");
}

/// MiniCPM3 leaves out the width of values.
void take_minicpm3_values(ModelReading& r) {
  const auto hidden = r.count("hidden"), heads = r.count("heads");
  if (r.keys.has({"kv_lora_rank"}) && r.value("latent_attention.value_dim").is_null() && hidden && heads)
    r.set("latent_attention.value_dim", *hidden / *heads, "hidden / heads, as in its code");
}

constexpr const char* kLlama2 =
    R"({"hidden": 4096, "layers": 32, "heads": 32, "ffn_hidden": 11008, "vocab": 32000})";
constexpr const char* kMistral7b =
    R"({"hidden": 4096, "layers": 32, "heads": 32, "kv_heads": 8, "ffn_hidden": 14336, "vocab": 32000})";
constexpr const char* kQwen2 =
    R"({"hidden": 4096, "layers": 32, "heads": 32, "kv_heads": 32, "ffn_hidden": 22016, "vocab": 151936})";
constexpr const char* kGemma2 = R"({"vocab": 256000, "heads": 8, "kv_heads": 4, "head_dim": 256})";
constexpr const char* kGemma3 =
    R"({"vocab": 262208, "heads": 8, "kv_heads": 4, "head_dim": 256, "window": 4096})";

const std::array kLlamaLike{
    Family{.types = "llama llama3 aquila xverse yi granite internlm2 internlm3 baichuan smollm seed_oss "
                    "solar code_llama "
                    "LlavaLlama llava_llama llava deepseek minicpm_text",
           .classes = "LlamaForCausalLM LLaMAForCausalLM LlavaLlamaForCausalLM BaichuanForCausalLM "
                      "BaiChuanForCausalLM GraniteForCausalLM InternLM2ForCausalLM InternLM3ForCausalLM "
                      "AquilaForCausalLM XverseForCausalLM SeedOssForCausalLM",
           .nested_defaults = kLlama2},
    Family{.types = "mistral mistral3 pixtral ministral ministral3 mistral3_text pixtral_text",
           .classes = "MistralForCausalLM",
           .nested_defaults = kMistral7b},
    Family{.types = "smollm3 minicpm hunyuan_v1_dense",
           .classes = "SmolLM3ForCausalLM MiniCPMForCausalLM HunYuanDenseV1ForCausalLM",
           .block = {.tied = true, .qk_norm = "head", .qk_norm_is_keyed = true}},
    Family{.types = "minicpm3",
           .classes = "MiniCPM3ForCausalLM",
           .block = {.tied = true},
           .after = take_minicpm3_values},
    Family{.types = "internlm", .classes = "InternLMForCausalLM", .before = read_internlm_biases},
    Family{.types = "ernie4_5 ernie4_5_text",
           .classes = "Ernie4_5ForCausalLM Ernie4_5_ForCausalLM",
           .block = {.tied = true}},
    Family{.types = "qwen2 qwen2_vl_text qwen2_vl qwen2_5_vl_text qwen2_5_vl qwen2_5_omni_text",
           .classes = "Qwen2ForCausalLM Qwen2VLForConditionalGeneration "
                      "Qwen2_5_VLForConditionalGeneration",
           .block = {.biases = {.qkv = true}, .keyed_biases = false},
           .nested_defaults = kQwen2},
    Family{.types = "qwen",
           .classes = "QWenLMHeadModel",
           .block = {.biases = {.qkv = true}, .keyed_biases = false},
           .before = halve_qwen_width},
    Family{
        .types = "qwen3 qwen3_vl_text qwen3_vl", .classes = "Qwen3ForCausalLM", .block = {.qk_norm = "head"}},
    Family{.types = "mimo",
           .classes = "MiMoForCausalLM",
           .block = {.biases = {.qkv = true}, .output_is_keyed = false}},
    Family{.types = "gemma",
           .classes = "GemmaForCausalLM",
           .block = {.tied = true},
           .defaults = R"({"vocab": 256000, "head_dim": 256})",
           .nested_defaults =
               R"({"hidden": 3072, "ffn_hidden": 24576, "layers": 28, "heads": 16, "kv_heads": 16})"},
    Family{.types = "gemma2",
           .classes = "Gemma2ForCausalLM",
           .block = {.tied = true, .post_norms = true},
           .defaults = kGemma2,
           .before = place_gemma2_windows},
    Family{.types = "gemma3_text gemma3",
           .classes = "Gemma3ForCausalLM Gemma3ForConditionalGeneration",
           .block = {.tied = true, .post_norms = true, .qk_norm = "head"},
           .defaults = kGemma3,
           .nested_defaults = R"({"hidden": 2304, "ffn_hidden": 9216, "layers": 26})",
           .before = place_windows_by_default<6>},
    Family{.types = "phi3 phi4 phi3_v phi4mm phi4_multimodal",
           .classes = "Phi3ForCausalLM Phi3VForCausalLM Phi4MMForCausalLM"},
    Family{.types = "olmo2", .classes = "Olmo2ForCausalLM", .block = {.qk_norm = "whole"}},
    Family{.types = "olmo3",
           .classes = "Olmo3ForCausalLM",
           .block = {.qk_norm = "whole"},
           .before = place_windows_by_default<4>},
    Family{.types = "exaone", .classes = "ExaoneForCausalLM"},
    Family{.types = "exaone4", .classes = "Exaone4ForCausalLM", .block = {.qk_norm = "head"}},
    Family{.types = "glm",
           .classes = "GlmForCausalLM",
           .block = {.output_is_keyed = false},
           .defaults = R"({"head_dim": 128})"},
    Family{.types = "glm4 glm4v_text glm4v",
           .classes = "Glm4ForCausalLM",
           .block = {.post_norms = true, .output_is_keyed = false}},
    Family{.types = "chatglm",
           .classes = "ChatGLMModel ChatGLMForConditionalGeneration",
           .before = read_chatglm},
};

}  // namespace

std::span<const Family> llama_families() { return kLlamaLike; }

}  // namespace orrery::importers::models
