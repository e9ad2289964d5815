// config.json of Hugging Face: the numbers of parameters that publishers state, from files of our own with
// sizes that anyone can look up.
#include <doctest/doctest.h>

#include <string>

#include "importers/models/imported_model.hpp"

namespace orrery::importers {

TEST_CASE("GPT-2: ungated, biases, learned positions, tied though no key says so") {
  const Imported gpt2 = imported_model(R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,
    "n_positions": 1024, "vocab_size": 50257, "n_inner": null, "attn_pdrop": 0.1})");
  REQUIRE_FALSE(gpt2.stopped());
  // A layer: 4 h^2 + 4 h (attention), 8 h^2 + 5 h (MLP), 4 h (norms) = 12 h^2 + 13 h = 7,087,872 with h =
  // 768. 12 of them, 50,257 h and 1,024 h of tables, 2 h of the last norm.
  CHECK(parameters_of(gpt2) == 12 * 7'087'872LL + (50'257 + 1'024 + 2) * 768LL);
  CHECK(parameters_of(gpt2) == 124'439'808);
  CHECK(model_of(gpt2).at("dropout") == true);
}

TEST_CASE("Falcon 40B: groups of heads, and two norms before a parallel block") {
  const Imported falcon =
      imported_model(R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60,
    "num_attention_heads": 128, "num_kv_heads": 8, "vocab_size": 65024, "multi_query": true,
    "new_decoder_architecture": true, "bias": false, "alibi": false, "parallel_attn": true})");
  REQUIRE_FALSE(falcon.stopped());
  // Attention h (128 + 2 * 8) 64 + h^2, MLP 8 h^2, two norms of 2 h; tied table, last norm.
  const std::int64_t h = 8192, layer = h * 144 * 64 + 9 * h * h + 4 * h;
  CHECK(parameters_of(falcon) == 60 * layer + 65'024 * h + 2 * h);
  CHECK(parameters_of(falcon) == 41'303'293'952);
}

TEST_CASE("Falcon 7B: one head of keys where multi_query says so, whatever num_kv_heads says") {
  const Imported falcon =
      imported_model(R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
    "num_attention_heads": 71, "num_kv_heads": 71, "vocab_size": 65024, "multi_query": true,
    "new_decoder_architecture": false, "bias": false, "alibi": false, "parallel_attn": true})");
  REQUIRE_FALSE(falcon.stopped());
  CHECK(model_of(falcon).at("kv_heads") == 1);
  CHECK(parameters_of(falcon) == 6'921'720'704);
}

TEST_CASE("The width of the first Qwen counts both matrices before the gate") {
  const Imported qwen = imported_model(R"({"model_type": "qwen", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "intermediate_size": 22016, "kv_channels": 128, "vocab_size": 151936,
    "no_bias": true, "seq_length": 8192})");
  REQUIRE_FALSE(qwen.stopped());
  CHECK(model_of(qwen).at("ffn_hidden") == 11'008);
  CHECK(parameters_of(qwen) == 7'721'324'544);
}

TEST_CASE("A text_config leaves out what is the default of its class, and the vision tower is dropped") {
  const Imported llava = imported_model(R"({"model_type": "llava",
    "text_config": {"model_type": "llama", "vocab_size": 32064, "max_position_embeddings": 4096},
    "vision_config": {"hidden_size": 1024, "num_hidden_layers": 24}})");
  REQUIRE_FALSE(llava.stopped());
  CHECK(parameters_of(llava) == 6'738'939'904);  // Llama 2 7B with 64 more tokens, twice
  CHECK(item_of(llava, "vision_config")->fate == Fate::ignored);
}

TEST_CASE("Llama 4 has a shared expert that no key names, and two widths") {
  const Imported scout =
      imported_model(R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
    "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
    "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_local_experts": 16,
    "num_experts_per_tok": 1, "interleave_moe_layer_step": 1, "vocab_size": 202048, "attention_chunk_size": 8192,
    "use_qk_norm": true}})");
  REQUIRE_FALSE(scout.stopped());
  const auto model = model_of(scout);
  CHECK(model.at("shared_experts") == 1);
  CHECK(model.at("expert_ffn_hidden") == 8192);
  CHECK(model.at("ffn_hidden") == 16'384);
  CHECK(model.at("name") == "llama4-scout");
}

TEST_CASE("Latent attention has no heads of keys, and layers before the mixtures are dense") {
  const Imported lite = imported_model(R"({"model_type": "deepseek_v2", "hidden_size": 2048,
    "num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944,
    "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6,
    "first_k_dense_replace": 1, "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": null,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400})");
  REQUIRE_FALSE(lite.stopped());
  CHECK(parameters_of(lite) == 15'706'484'224);
  CHECK(model_of(lite).at("dense_layers") == 1);
  CHECK_FALSE(model_of(lite).contains("kv_heads"));
}

TEST_CASE("Windows longer than samples are no windows") {
  const char* mistral = R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000,
    "sliding_window": 4096, "max_position_embeddings": 32768})";
  CHECK(model_of(imported_model(mistral, {"model.seq_length=8192"})).at("window") == 4096);
  CHECK_FALSE(model_of(imported_model(mistral, {"model.seq_length=2048"})).contains("window"));
}

TEST_CASE("A window that is switched off is none") {
  const Imported qwen2 =
      imported_model(R"({"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064,
    "use_sliding_window": false, "sliding_window": 1024, "max_window_layers": 28})");
  CHECK_FALSE(model_of(qwen2).contains("window"));
  CHECK(parameters_of(qwen2) == 7'615'616'512);
}

TEST_CASE("Layers of NAS have heads and widths of their own, and those that do nothing vanish") {
  // Widths: int(2 * 1.3125 * 4096 / 3) = 3584, a multiple of 256. Layer 2 of 3 has neither half.
  const Imported nas = imported_model(R"({"model_type": "nemotron-nas", "hidden_size": 4096,
    "num_hidden_layers": 3, "num_attention_heads": 32, "intermediate_size": null, "vocab_size": 1000,
    "block_configs": [
      {"attention": {"n_heads_in_group": 8, "no_op": false}, "ffn": {"ffn_mult": 1.3125, "no_op": false}},
      {"attention": {"n_heads_in_group": null, "no_op": true}, "ffn": {"ffn_mult": null, "no_op": true}},
      {"attention": {"n_heads_in_group": null, "no_op": true}, "ffn": {"ffn_mult": 2.625, "no_op": false}}]})");
  REQUIRE_FALSE(nas.stopped());
  const std::int64_t h = 4096;
  const std::int64_t first = 2 * h * h + 2 * 4 * 128 * h + 3 * h * 3584 + 2 * h, last = 3 * h * 7168 + h;
  CHECK(parameters_of(nas) == first + last + 2 * 1000 * h + h);
}

TEST_CASE("Families that cannot be said are refused with the reason, and taken approximately where asked") {
  const char* mamba =
      R"({"model_type": "mamba", "hidden_size": 768, "num_hidden_layers": 24, "vocab_size": 50280})";
  const Imported refused = imported_model(mamba);
  CHECK(refused.stopped());
  CHECK(item_of(refused, "model_type")->note.find("Mamba of the first kind") != std::string::npos);
  const char* unknown = R"({"model_type": "llamma", "hidden_size": 4096, "num_hidden_layers": 2,
    "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000})";
  CHECK(item_of(imported_model(unknown), "model_type")->note.find("did you mean \"llama\"") !=
        std::string::npos);
  CHECK_FALSE(imported_model(unknown, {}, true).stopped());
  CHECK_FALSE(imported_model(unknown, {"model_type=llama"}).stopped());
}

TEST_CASE("A key twice under two names may not differ") {
  const Imported twice =
      imported_model(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 2,
    "n_layer": 3, "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000})");
  CHECK(twice.stopped());
  CHECK(item_of(twice, "n_layer")->fate == Fate::contradictory);
}

TEST_CASE("An edited file differs from the catalog, and the report says in what") {
  const Imported edited = imported_model(R"({"model_type": "mixtral", "hidden_size": 4096,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 14336,
    "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2})");
  REQUIRE_FALSE(edited.stopped());
  CHECK(item_of(edited, "model_type")->note ==
        "differs from the catalog's mixtral-8x7b: kv_heads 32 here, 8 there");
}

}  // namespace orrery::importers
