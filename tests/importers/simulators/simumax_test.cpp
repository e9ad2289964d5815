// Files of SimuMax: model, strategy and system together.
#include <doctest/doctest.h>

#include <string>

#include "tests/importers/imported_text.hpp"

namespace orrery::importers {
namespace {

std::string model(const std::string& changes) {
  return R"({"hidden_size": 2048, "head_num": 16, "kv_head_num": 8, "head_size": 128, "intermediate_size": 8192,
             "layer_num": 8, "vocab_size": 32000, "use_swiglu": true)" +
         changes + "}";
}

std::string strategy(const std::string& changes) {
  return R"({"seq_len": 4096, "micro_batch_size": 1, "micro_batch_num": 8, "dtype": "bf16", "world_size": 16,
             "tp_size": 2, "pp_size": 2, "interleaving_size": 1, "zero_state": 1, "enable_recompute": true)" +
         changes + "}";
}

}  // namespace

TEST_CASE("SimuMax counts replicas itself: 16 GPUs by 2 x 2 are 4, times 8 micro-batches are 32 samples") {
  const Imported imported = import_texts({model(""), strategy("")});
  REQUIRE_MESSAGE(!imported.stopped(), problems_of(imported));
  const auto experiment = experiment_of(imported);
  CHECK(experiment.at("plan").at("global_batch_size") == 32);
  CHECK(experiment.at("plan").at("recompute") == "none");
  CHECK(experiment.at("cluster").at("nodes") == 2);
  CHECK(experiment.at("model").at("gated_mlp") == true);
  CHECK(experiment.at("model").at("tied_embeddings") == false);
}

TEST_CASE("experts, shared experts of their width, and latent attention") {
  const Imported imported =
      import_texts({model(R"(, "expert_num": 64, "topk": 6, "moe_ffn_hidden_size": 1024, "dense_layers": 1,
                 "moe_shared_expert_intermediate_size": 2048, "attention_type": "mla", "kv_lora_rank": 512,
                 "qk_head_dim": 128, "qk_pos_emb_head_dim": 64, "v_head_dim": 128)"),
                    strategy(R"(, "ep_size": 4, "moe_dispatcher_policy": "all2all")")});
  REQUIRE_MESSAGE(!imported.stopped(), problems_of(imported));
  const auto model_keys = experiment_of(imported).at("model");
  CHECK(model_keys.at("kind") == "moe-transformer");
  CHECK(model_keys.at("shared_experts") == 2);  // 2048 of 1024 each
  CHECK(model_keys.at("latent_attention").at("nope_dim") == 128);
  CHECK_FALSE(model_keys.contains("head_dim"));
}

TEST_CASE("parts of the first layers of a stage are computed again") {
  const Imported imported =
      import_texts({model(""), strategy(R"(, "recompute_granularity": "selective_recompute",
    "recompute_layer_num": 2, "attn_recompute": true, "mlp_recompute": true, "sdp_recompute": false)")});
  REQUIRE_MESSAGE(!imported.stopped(), problems_of(imported));
  const auto recompute = experiment_of(imported).at("plan").at("recompute");
  CHECK(recompute.at("modules") == nlohmann::json{"attention", "mlp"});
  CHECK(recompute.at("layers") == 2);
  CHECK(recompute.at("method") == "block");
}

TEST_CASE("a strategy without a model asks for one") {
  const Imported imported = import_texts({strategy("")});
  CHECK(imported.stopped());
  CHECK(items_of(imported, Fate::missing).find("--set model=NAME") != std::string::npos);
}

}  // namespace orrery::importers
