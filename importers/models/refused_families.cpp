// Families that an experiment cannot say, with what it is that cannot be said.
#include <array>

#include "importers/models/families.hpp"

namespace orrery::importers::models {
namespace {

constexpr const char* kImages = "it encodes images, and makes no text";
constexpr const char* kSound = "it encodes or makes sound, with convolutions";
constexpr const char* kBart = "its encoder and decoder have tables of learned positions each";

const std::array kRefused{
    RefusedFamily{
        "deepseek_v4", "DeepseekV4ForCausalLM",
        "attention to compressed tokens, in a ratio of its own for each layer, and streams that are mixed"},
    RefusedFamily{"kimi_linear kimi_k3", "KimiLinearForCausalLM KimiK3ForConditionalGeneration",
                  "Kimi delta attention, whose decay is a vector, and experts on a narrower stream"},
    RefusedFamily{"gemma4 gemma4_text gemma4_unified", "Gemma4ForCausalLM Gemma4ForConditionalGeneration",
                  "layers with heads of two widths, and an MLP beside experts in one layer"},
    RefusedFamily{"gemma3n gemma3n_text", "Gemma3nForCausalLM Gemma3nForConditionalGeneration",
                  "embeddings for each layer and predicted streams (AltUp, LAuReL)"},
    RefusedFamily{"mllama mllama_text_model", "MllamaForConditionalGeneration MllamaForCausalLM",
                  "layers that attend to images between those that attend to text"},
    RefusedFamily{"mamba falcon_mamba", "MambaForCausalLM FalconMambaForCausalLM",
                  "Mamba of the first kind (mamba2 is Mamba-2)"},
    RefusedFamily{"zamba zamba2", "ZambaForCausalLM Zamba2ForCausalLM",
                  "attention whose weights layers share"},
    RefusedFamily{"falcon_h1", "FalconH1ForCausalLM", "attention and Mamba-2 side by side in one layer"},
    RefusedFamily{"lfm2 lfm2_moe lfm2_vl", "Lfm2ForCausalLM Lfm2MoeForCausalLM",
                  "layers of short convolutions"},
    RefusedFamily{"recurrent_gemma", "RecurrentGemmaForCausalLM", "recurrent layers (RG-LRU)"},
    RefusedFamily{"rwkv rwkv5 rwkv6 rwkv7",
                  "RwkvForCausalLM Rwkv5ForCausalLM Rwkv6ForCausalLM RWKV7ForCausalLM",
                  "recurrent layers (RWKV)"},
    RefusedFamily{"minimax_text_01 minimax_m1",
                  "MiniMaxText01ForCausalLM MiniMaxM1ForCausalLM MiniMaxForCausalLM",
                  "linear attention without a delta rule (lightning attention)"},
    RefusedFamily{"bailing_moe_linear bailing_hybrid",
                  "BailingMoeLinearForCausalLM BailingMoeV2_5ForCausalLM",
                  "linear attention without a delta rule"},
    RefusedFamily{"yuan", "YuanForCausalLM", "convolutions in front of attention (localized filtering)"},
    RefusedFamily{"arctic", "ArcticForCausalLM", "an MLP beside experts in one layer"},
    RefusedFamily{"jetmoe", "JetMoeForCausalLM", "experts in attention"},
    RefusedFamily{"longcat_flash", "LongcatFlashForCausalLM",
                  "experts that do nothing, and two attentions in a layer"},
    RefusedFamily{"step3_text step3 step3_vl", "Step3TextForCausalLM Step3VLForConditionalGeneration",
                  "queries made from a vector that heads share (multi-matrix factorization attention)"},
    RefusedFamily{"phi3small", "Phi3SmallForCausalLM", "attention to blocks of tokens (blocksparse)"},
    RefusedFamily{"phi4flash", "Phi4FlashForCausalLM",
                  "layers that share keys and values, and Mamba (SambaY)"},
    RefusedFamily{"plamo2", "Plamo2ForCausalLM", "Mamba of the first kind beside attention"},
    RefusedFamily{"bitnet", "BitnetForCausalLM BitNetForCausalLM", "norms inside products of 1.58 bits"},
    RefusedFamily{"albert", "AlbertForMaskedLM AlbertModel", "layers that share their weights"},
    RefusedFamily{"deberta deberta-v2", "DebertaForMaskedLM DebertaV2ForMaskedLM",
                  "attention by content and by position apart"},
    RefusedFamily{"electra", "ElectraForPreTraining ElectraModel",
                  "embeddings narrower than the residual stream"},
    RefusedFamily{"xlnet transfo-xl", "XLNetLMHeadModel TransfoXLLMHeadModel",
                  "attention to earlier segments"},
    RefusedFamily{"bart mbart marian pegasus m2m_100 blenderbot led",
                  "BartForConditionalGeneration MBartForConditionalGeneration MarianMTModel "
                  "PegasusForConditionalGeneration M2M100ForConditionalGeneration",
                  kBart},
    RefusedFamily{"umt5 longt5 switch_transformers t5gemma",
                  "UMT5ForConditionalGeneration LongT5ForConditionalGeneration "
                  "SwitchTransformersForConditionalGeneration T5GemmaForConditionalGeneration",
                  "an encoder and decoder that are not those of T5"},
    RefusedFamily{"whisper wav2vec2 hubert speecht5 musicgen seamless_m4t bark encodec",
                  "WhisperForConditionalGeneration WhisperForAudioClassification Wav2Vec2ForCTC HubertForCTC",
                  kSound},
    RefusedFamily{"clip vit siglip siglip2 dinov2 swin deit beit convnext sam detr clip_vision_model",
                  "CLIPModel ViTForImageClassification SiglipModel SwinForImageClassification", kImages},
    RefusedFamily{"blip blip-2 instructblip", "BlipForConditionalGeneration Blip2ForConditionalGeneration",
                  "an encoder of images whose tokens another model takes"},
    RefusedFamily{"openai-gpt ctrl", "OpenAIGPTLMHeadModel CTRLLMHeadModel",
                  "norms behind layers and none at the end"},
    RefusedFamily{"gptj_moe nllb-moe", "NllbMoeForConditionalGeneration",
                  "an encoder and decoder with experts"},
};

}  // namespace

std::span<const RefusedFamily> refused_families() { return kRefused; }

bool is_among(std::string_view list, std::string_view name) {
  if (name.empty()) return false;
  while (!list.empty()) {
    const std::size_t end = list.find(' ');
    if (list.substr(0, end) == name) return true;
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return false;
}

}  // namespace orrery::importers::models
