// torchtitan, DeepSpeed with a trainer, accelerate, GPT-NeoX, llm-foundry and NeMo.
#include <doctest/doctest.h>

#include <string>

#include "importers/frameworks/imported.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr const char* kTitan =
    "# NOTE: this toml config is a preset for 64 A100 GPUs.\n[model]\nname = \"llama3\"\nflavor = \"70B\"\n"
    "[training]\nlocal_batch_size = 8\nseq_len = 8192\nsteps = 1_000\n"
    "[parallelism]\ndata_parallel_shard_degree = -1\ntensor_parallel_degree = 8\n"
    "[activation_checkpoint]\nmode = \"full\"\n";

constexpr const char* kTrainer =
    "model_name_or_path: meta-llama/Llama-3.1-8B\nstage: sft\nfinetuning_type: full\ncutoff_len: 4096\n"
    "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\nbf16: true\ndeepspeed: ds.json\n";

constexpr const char* kDeepSpeedAuto =
    "{\"train_batch_size\": \"auto\", \"train_micro_batch_size_per_gpu\": \"auto\",\n"
    " \"gradient_accumulation_steps\": \"auto\", \"bf16\": {\"enabled\": \"auto\"},\n"
    " \"zero_optimization\": {\"stage\": 3, \"overlap_comm\": true, \"reduce_bucket_size\": 5e8}}";

constexpr const char* kAccelerate =
    "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n"
    "  fsdp_reshard_after_forward: false\n  fsdp_activation_checkpointing: true\nmixed_precision: bf16\n"
    "num_machines: 2\nnum_processes: 16\n";

}  // namespace

TEST_CASE("torchtitan takes the sizes of a flavor from the catalog and the GPUs from a comment") {
  const Imported result = imported({{"train.toml", kTitan}});
  const auto e = experiment_of(result);
  REQUIRE_FALSE(result.stopped());
  CHECK(e.at("model").at("base") == "llama3.1-70b");
  CHECK(e.at("cluster").at("base") == "dgx-a100-80gb");
  CHECK(e.at("cluster").at("nodes") == 8);
  CHECK(e.at("plan").at("zero_stage") == 3);
  CHECK(e.at("plan").at("sequence_parallel") == true);
  CHECK(e.at("plan").at("global_batch_size") == 64);  // 8 samples x 64 GPUs / 8 tensor ranks
}

TEST_CASE("a flavor that the catalog lacks is missing, and a broken file has its place") {
  std::string text = kTitan;
  text.replace(text.find("70B"), 3, "13B");
  CHECK(is_missing(imported({{"train.toml", text}}), "llama3 13B"));
  CHECK_FALSE(imported({{"train.toml", text}}, {"model=llama-13b"}).stopped());
  CHECK_THROWS_WITH_AS(
      imported({{"train.toml", "[parallelism]\ntensor_parallel_degree = = 2\nseq_len = 1\n"}}),
      doctest::Contains("train.toml:2"), InputError);
}

TEST_CASE("stages of torchtitan weigh embedding and head as a layer each") {
  std::string text = kTitan;
  text.replace(text.find("tensor_parallel_degree = 8"), 26,
               "tensor_parallel_degree = 4\npipeline_parallel_degree = 4");
  // 80 + 2 layers in 4 stages: 21, 21, 20, 20; the first and the last have one less of the model's.
  const auto plan = experiment_of(imported({{"train.toml", text}})).at("plan");
  CHECK(plan.at("stage_layers") == nlohmann::json({20, 21, 20, 19}));
  CHECK(plan.at("micro_batch_size") == 1);
  CHECK(plan.at("reshard_after_forward") == false);
}

TEST_CASE("\"auto\" of DeepSpeed is filled in by the trainer's file, before it or behind it") {
  for (const bool first : {true, false}) {
    const NamedText trainer{"train.yaml", kTrainer}, deepspeed{"ds.json", kDeepSpeedAuto};
    const std::vector<NamedText> files =
        first ? std::vector{trainer, deepspeed} : std::vector{deepspeed, trainer};
    const auto e = experiment_of(imported(files, {"launch.gpus=16"}));
    CAPTURE(first);
    REQUIRE(e.contains("plan"));
    CHECK(e.at("plan").at("micro_batch_size") == 2);
    CHECK(e.at("plan").at("global_batch_size") == 128);  // 2 x 4 x 16
    CHECK(e.at("plan").at("zero_stage") == 3);
    CHECK(e.at("plan").at("precision") == "bf16");
    CHECK(e.at("plan").at("bucket_mb") == 1000);  // 5e8 gradients of 2 bytes
    CHECK(e.at("plan").at("recompute") == "full");
  }
  const Imported alone = imported({{"ds.json", kDeepSpeedAuto}});
  CHECK(is_missing(alone, "per_device_train_batch_size"));
  CHECK_FALSE(imported({{"ds.json", kDeepSpeedAuto}}, {"model=llama3.1-8b", "plan.micro_batch_size=1",
                                                       "launch.accumulation_steps=1", "plan.precision=bf16"})
                  .stopped());
}

TEST_CASE("accelerate's file gives GPUs and FSDP to a trainer") {
  const auto e = experiment_of(imported({{"train.yaml", kTrainer}, {"fsdp.yaml", kAccelerate}}));
  CHECK(e.at("cluster").at("nodes") == 2);
  CHECK(e.at("plan").at("zero_stage") == 3);
  CHECK(e.at("plan").at("reshard_after_forward") == false);
  CHECK(e.at("plan").at("recompute") == "full");
  CHECK(imported({{"fsdp.yaml", kAccelerate}}).stopped());
}

TEST_CASE("GPT-NeoX counts gate, input and output in the width of a gated MLP") {
  const std::string model =
      "{\n  \"pipe_parallel_size\": 0,\n  \"model_parallel_size\": 8,\n  \"num_layers\": 80,\n  "
      "\"hidden_size\": 8192,\n"
      "  \"intermediate_size\": 86016,\n  \"num_attention_heads\": 64,\n  \"num_kv_heads\": 8,\n  "
      "\"seq_length\": 4096,\n"
      "  \"activation\": \"swiglu\",\n  \"norm\": \"rmsnorm\",\n  \"pos_emb\": \"rotary\",\n  "
      "\"no_weight_tying\": true,\n"
      "  \"attention_config\": [[[\"flash\"], 80]],\n  \"train_micro_batch_size_per_gpu\": 4,\n"
      "  \"zero_optimization\": { \"stage\": 1, \"overlap_comm\": True, },\n  \"fp16\": { \"enabled\": true, "
      "},\n}\n";
  const Imported result = imported({{"70B.yml", model}});
  const auto e = experiment_of(result);
  REQUIRE_FALSE(result.stopped());
  CHECK(e.at("model").at("ffn_hidden") == 28672);  // 86016 x 2 / 3 / 2, a multiple of 256
  CHECK(e.at("model").at("gated_mlp") == true);
  CHECK(e.at("plan").at("tensor_parallel") == 8);
  CHECK_FALSE(e.at("plan").contains("pipeline_parallel"));
  CHECK(e.at("plan").at("zero_stage") == 1);
  std::string other = model;
  other.replace(other.find("flash"), 5, "mamba");
  CHECK(is_missing(imported({{"m.yml", other}}), "mamba"));
}

TEST_CASE("llm-foundry fills in its variables, and \"auto\" micro-batches are missing") {
  const std::string text =
      "variables:\n  max_seq_len: 2048\nmax_seq_len: ${variables.max_seq_len}\nmodel:\n  name: "
      "mpt_causal_lm\n  d_model: 2048\n"
      "  n_heads: 16\n  n_layers: 24\n  expansion_ratio: 4\n  vocab_size: 50368\n  attn_config:\n    "
      "attn_impl: flash\n"
      "global_train_batch_size: 512\ndevice_train_microbatch_size: 8\nprecision: amp_bf16\nfsdp_config:\n"
      "  sharding_strategy: SHARD_GRAD_OP\n  mixed_precision: PURE\n  activation_checkpointing: true\n";
  const auto e = experiment_of(imported({{"mpt.yaml", text}}));
  CHECK(e.at("model").at("seq_length") == 2048);
  CHECK(e.at("model").at("ffn_hidden") == 8192);
  CHECK(e.at("plan").at("reshard_after_forward") == false);
  CHECK(e.at("software").at("gradient_bytes") == 2);
  std::string open = text;
  open.replace(open.find("microbatch_size: 8"), 18, "microbatch_size: auto");
  CHECK(is_missing(imported({{"mpt.yaml", open}}), "device_train_microbatch_size"));
}

TEST_CASE("files of NeMo's launcher resolve Hydra's interpolations") {
  const std::string text =
      "trainer:\n  num_nodes: 4\n  devices: 8\n  precision: bf16\nexp_manager:\n"
      "  parallel: ${multiply:${training.model.tensor_model_parallel_size}, 2}\nmodel:\n  micro_batch_size: "
      "1\n"
      "  global_batch_size: 128\n  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: "
      "${divide_ceil:7, 4}\n"
      "  virtual_pipeline_model_parallel_size: null\n  encoder_seq_length: 4096\n  max_position_embeddings: "
      "${.encoder_seq_length}\n"
      "  num_layers: 32\n  hidden_size: 4096\n  ffn_hidden_size: 14336\n  num_attention_heads: 32\n  "
      "num_query_groups: 8\n"
      "  bias: false\n  activation: fast-swiglu\n  normalization: rmsnorm\n  position_embedding_type: rope\n"
      "  share_embeddings_and_output_weights: false\n  override_vocab_size: 128256\n  hidden_dropout: 0.0\n  "
      "attention_dropout: 0.0\n"
      "  sequence_parallel: true\n  transformer_engine: true\n  fp8: false\n  fp8_hybrid: true\n"
      "  activations_checkpoint_granularity: selective\n  optim:\n    name: distributed_fused_adam\n    "
      "overlap_grad_sync: true\n";
  const auto e = experiment_of(imported({{"llama.yaml", text}}));
  REQUIRE(e.contains("plan"));
  CHECK(e.at("cluster").at("nodes") == 4);
  CHECK(e.at("plan").at("pipeline_parallel") == 2);
  CHECK(e.at("plan").at("precision") == "bf16");  // fp8 itself is off
  CHECK(e.at("plan").at("zero_stage") == 1);
  CHECK(e.at("plan").at("overlap_gradient_reduce") == true);
  CHECK(e.at("model").at("kv_heads") == 8);
  CHECK(e.at("model").at("gated_mlp") == true);
  CHECK(e.at("model").at("vocab") == 128512);  // 251 x 512
  CHECK(imported({{"vit.yaml", "trainer:\n  devices: 8\nmodel:\n  micro_batch_size: 1\n  patch_dim: 16\n"}})
            .stopped());
}

TEST_CASE("a ConfigContainer of Megatron-Bridge keeps the vocabulary that it says") {
  const std::string text =
      "model:\n  num_layers: 16\n  hidden_size: 2048\n  num_attention_heads: 32\n  num_query_groups: 8\n  "
      "ffn_hidden_size: 8192\n"
      "  gated_linear_unit: true\n  vocab_size: 128256\n  should_pad_vocab: false\n  seq_length: 8192\n"
      "  tensor_model_parallel_size: 4\n  num_moe_experts: null\n  add_bias_linear: false\n"
      "train:\n  micro_batch_size: 1\n  global_batch_size: 32\nddp:\n  use_distributed_optimizer: true\n"
      "  overlap_grad_reduce: true\ncomm_overlap:\n  overlap_grad_reduce: null\nmixed_precision: "
      "bf16_with_fp8_current_scaling_mixed\n";
  const auto e = experiment_of(imported({{"bridge.yaml", text}}));
  REQUIRE(e.contains("model"));
  CHECK(e.at("model").at("vocab") == 128256);
  CHECK(e.at("model").at("kv_heads") == 8);
  CHECK(e.at("plan").at("precision") == "fp8");
  CHECK(e.at("plan").at("overlap_gradient_reduce") == true);
}

}  // namespace orrery::importers::frameworks
