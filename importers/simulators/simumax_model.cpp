// Model files of SimuMax.
#include <fmt/format.h>

#include <array>

#include "importers/common/import_rows.hpp"
#include "importers/simulators/simumax.hpp"

namespace orrery::importers::simulators {
namespace {

bool is_model(const SourceFile& file) {
  const auto has = [&file](std::string_view key) { return file.text().find(key) != std::string_view::npos; };
  return has("\"head_num\"") && has("\"layer_num\"") && has("\"hidden_size\"");
}

bool is_mixture(const SourceKeys& all) {
  const Json& experts = all.value("expert_num");
  return experts.is_number_integer() && experts > 1;
}

bool is_latent(const SourceKeys& all) { return all.value("attention_type") == "mla"; }

void map_experts(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (!is_mixture(all)) return draft.ignore(key, "one expert is an MLP");
  draft.map(key, "model.experts");
  draft.map(key, "model.kind", "moe-transformer");
}

void map_if_mixture(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (!is_mixture(all)) return draft.ignore(key, "the model has no experts");
  if (key.key == "topk") return draft.map(key, "model.experts_per_token");
  if (key.key == "dense_layers") return draft.map(key, "model.dense_layers");
  draft.map(key, "model.expert_ffn_hidden");
}

/// SimuMax gives the width of all shared experts together.
void map_shared(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  const Json& width =
      all.contains("moe_ffn_hidden_size") ? all.value("moe_ffn_hidden_size") : all.value("intermediate_size");
  const bool numbers = key.value.is_number_integer() && width.is_number_integer() && width > 0;
  if (!is_mixture(all) || key.value.is_null() || key.value == 0) return draft.ignore(key, "no shared expert");
  if (!numbers || key.value.get<std::int64_t>() % width.get<std::int64_t>() != 0)
    return draft.lack(key, "model.shared_experts",
                      "Orrery's shared experts are as wide as the others: --set model.shared_experts=N");
  draft.map(key, "model.shared_experts", key.value.get<std::int64_t>() / width.get<std::int64_t>(),
            fmt::format("of {} each", width.dump()));
}

void map_attention_kind(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value == "mla")
    return draft.ignore(key, "its widths stand in the keys of ranks and head dimensions");
  if (key.value == "mha" || key.value == "gqa") return draft.ignore(key, "follows from kv_head_num");
  draft.lack(key, "no attention of Orrery is called so");
}

void map_latent(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  constexpr std::array<std::array<std::string_view, 2>, 5> kWidths{{{"q_lora_rank", "q_rank"},
                                                                    {"kv_lora_rank", "kv_rank"},
                                                                    {"qk_pos_emb_head_dim", "rope_dim"},
                                                                    {"qk_head_dim", "nope_dim"},
                                                                    {"v_head_dim", "value_dim"}}};
  if (!is_latent(all)) return draft.ignore(key, "the model has no latent attention");
  for (const auto& [theirs, ours] : kWidths)
    if (key.key == theirs) draft.map(key, fmt::format("model.latent_attention.{}", ours));
}

void map_head_of_latent(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (is_latent(all)) return draft.ignore(key, "heads of latent attention have widths of their own");
  draft.map(key, key.key == "head_size" ? "model.head_dim" : "model.kv_heads");
}

void map_capacity(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (all.value("moe_pad_expert_input_to_capacity") != true)
    return draft.ignore(key, "experts take all tokens that choose them");
  draft.map(key, "plan.capacity_factor");
}

constexpr std::array kModelRows{
    ImportRow{"model_name", "model.name"},
    ImportRow{"model_type", "", nullptr, "expert_num says whether there are experts"},
    ImportRow{"attention_type", "", map_attention_kind},
    ImportRow{"hidden_size", "model.hidden"},
    ImportRow{"head_num", "model.heads"},
    ImportRow{"kv_head_num", "", map_head_of_latent},
    ImportRow{"head_size", "", map_head_of_latent},
    ImportRow{"intermediate_size", "model.ffn_hidden"},
    ImportRow{"layer_num", "model.layers"},
    ImportRow{"vocab_size", "model.vocab"},
    ImportRow{"use_swiglu", "model.gated_mlp"},
    ImportRow{"expert_num", "", map_experts},
    ImportRow{"topk", "", map_if_mixture},
    ImportRow{"dense_layers", "", map_if_mixture},
    ImportRow{"moe_ffn_hidden_size", "", map_if_mixture},
    ImportRow{"moe_shared_expert_intermediate_size", "", map_shared},
    ImportRow{"q_lora_rank", "", map_latent},
    ImportRow{"kv_lora_rank", "", map_latent},
    ImportRow{"qk_pos_emb_head_dim", "", map_latent},
    ImportRow{"qk_head_dim", "", map_latent},
    ImportRow{"v_head_dim", "", map_latent},
    ImportRow{"capacity", "", map_capacity},
    ImportRow{"moe_pad_expert_input_to_capacity", "", nullptr, "decides whether capacity counts"},
    ImportRow{"group_linear_mode", "", nullptr, "Orrery's experts are grouped products"},
    ImportRow{"padded_vocab_size", "", nullptr, "the vocabulary is taken as it is given"},
    ImportRow{"make_vocab_size_divisible_by", launch::kVocabularyMultiple},
};

void read_model(const ImportContext& context, Draft& draft) {
  read_rows(SourceKeys(context.file), kModelRows, draft);
  constexpr const char* kAsLlama = "models of SimuMax are of LLaMA's kind";
  draft.default_to("model.normalization", "rmsnorm", kAsLlama);
  draft.default_to("model.positions", "rotary", kAsLlama);
  draft.default_to("model.biases", false, kAsLlama);
  draft.default_to("model.tied_embeddings", false, kAsLlama);
}

}  // namespace

const Importer kSimumaxModel{{"simumax-model", "Model of SimuMax"}, is_model, read_model};

}  // namespace orrery::importers::simulators
