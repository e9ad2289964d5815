#include "importers/simulators/calculon.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "config/text/wording.hpp"
#include "importers/common/import_rows.hpp"

namespace orrery::importers::simulators {
namespace {

constexpr std::int64_t kVocabulary = 51200;

bool says(const SourceFile& file, std::string_view key) {
  return file.text().find(fmt::format("\"{}\"", key)) != std::string_view::npos;
}

bool is_application(const SourceFile& file) { return says(file, "attn_heads") && says(file, "num_blocks"); }
bool is_execution(const SourceFile& file) { return says(file, "tensor_par") && says(file, "num_procs"); }

void map_datatype(const SourceKey& key, const SourceKeys&, Draft& draft) {
  constexpr std::array<std::array<const char*, 2>, 4> kTypes{
      {{"float32", "fp32"}, {"float16", "fp16"}, {"bfloat16", "bf16"}, {"float8", "fp8"}}};
  for (const auto& [theirs, ours] : kTypes)
    if (key.value == theirs) return draft.map(key, "plan.precision", ours);
  draft.lack(key, "plan.precision", "no precision of Orrery: --set plan.precision=NAME");
}

void map_attention(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value == "multiquery") return draft.map(key, "model.kv_heads", 1);
  if (key.value == "multihead") return draft.ignore(key, "as many key and value heads as heads, the default");
  draft.lack(key, "model.kv_heads", "unknown kind of attention: --set model.kv_heads=N");
}

void map_recompute(const SourceKey& key, const SourceKeys&, Draft& draft) {
  constexpr std::array<std::array<const char*, 2>, 3> kKinds{
      {{"none", "none"}, {"full", "full"}, {"attn_only", "selective"}}};
  for (const auto& [theirs, ours] : kKinds)
    if (key.value == theirs) return draft.map(key, "plan.recompute", ours);
  draft.lack(key, "plan.recompute", "allowed none, attn_only, full: --set plan.recompute=NAME");
}

void map_interleaving(const SourceKey& key, const SourceKeys&, Draft& draft) {
  const bool interleaved = key.value.is_number_integer() && key.value > 1;
  draft.map(key, "plan.pipeline_schedule", interleaved ? "interleaved-1f1b" : "1f1b");
  if (interleaved) draft.map(key, "plan.virtual_stages");
}

void map_sharding(const SourceKey& key, const SourceKeys&, Draft& draft) {
  draft.map(key, "plan.zero_stage", key.value == true ? 1 : 0);
}

/// ar: tensor ranks add up whole activations; rs_ag: they split them along the sequence; p2p_rs_ag: only what
/// goes to the next stage is split.
void map_communication(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value != "ar" && key.value != "rs_ag" && key.value != "p2p_rs_ag")
    return draft.lack(key, "plan.sequence_parallel",
                      "allowed ar, rs_ag, p2p_rs_ag: --set plan.sequence_parallel=FLAG");
  draft.map(key, "plan.sequence_parallel", key.value == "rs_ag");
  if (key.value != "rs_ag") draft.map(key, "plan.scatter_gather", key.value == "p2p_rs_ag");
}

void map_tensor_overlap(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value == "none" || key.value == false) {
    draft.map(key, "plan.overlap_tensor_parallel", false);
    return draft.map(key, "plan.overlap_tensor_chunks", false);
  }
  draft.map(key, "plan.overlap_tensor_chunks", true,
            "products hide their gathers and scatters chunk by chunk; how far is software.tensor_overlap");
}

void map_data_overlap(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  draft.map(key, "plan.overlap_gradient_reduce");
  if (all.value("optimizer_sharding") == true) draft.map(key, "plan.overlap_parameter_gather");
}

void refuse_if_true(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value == false) return draft.ignore(key, "off");
  draft.lack(key, "Orrery keeps weights on the GPU: no experiment says this");
}

void map_offload(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value == false) return draft.ignore(key, "off");
  draft.map(key, "plan.offload", key.key == "optimizer_offload" ? "optimizer" : "activations");
}

void map_training(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value == true) return draft.ignore(key, "Orrery trains unless an experiment has inference");
  draft.lack(key, "Calculon's inference is one forward pass, which no experiment says");
}

constexpr std::string_view kNetworkOf = "which network carries a dimension follows from the order of ranks";

constexpr std::array kApplicationRows{
    ImportRow{"name", "model.name"},
    ImportRow{"hidden", "model.hidden"},
    ImportRow{"feedforward", "model.ffn_hidden"},
    ImportRow{"seq_size", "model.seq_length"},
    ImportRow{"attn_heads", "model.heads"},
    ImportRow{"attn_size", "model.head_dim"},
    ImportRow{"num_blocks", "model.layers"},
};

constexpr std::array kExecutionRows{
    ImportRow{"num_procs", launch::kGpus},
    ImportRow{"tensor_par", "plan.tensor_parallel"},
    ImportRow{"pipeline_par", "plan.pipeline_parallel"},
    ImportRow{"data_par", "plan.data_parallel"},
    ImportRow{"tensor_par_net", "", nullptr, kNetworkOf},
    ImportRow{"pipeline_par_net", "", nullptr, kNetworkOf},
    ImportRow{"data_par_net", "", nullptr, kNetworkOf},
    ImportRow{"batch_size", "plan.global_batch_size"},
    ImportRow{"microbatch_size", "plan.micro_batch_size"},
    ImportRow{"datatype", "", map_datatype},
    ImportRow{"fused_activation", "", nullptr, "how far kernels are fused comes with the stack"},
    ImportRow{"attention_type", "", map_attention},
    ImportRow{"activation_recompute", "", map_recompute},
    ImportRow{"pipeline_interleaving", "", map_interleaving},
    ImportRow{"optimizer_sharding", "", map_sharding},
    ImportRow{"tensor_par_comm_type", "", map_communication},
    ImportRow{"tensor_par_overlap", "", map_tensor_overlap},
    ImportRow{"seq_par_ag_redo", "", nullptr,
              "Orrery gathers activations again in the backward pass, as Megatron-LM does"},
    ImportRow{"data_par_overlap", "", map_data_overlap},
    ImportRow{"weight_offload", "", refuse_if_true},
    ImportRow{"activations_offload", "", map_offload},
    ImportRow{"optimizer_offload", "", map_offload},
    ImportRow{"training", "", map_training},
};

void read_application(const ImportContext& context, Draft& draft) {
  read_rows(SourceKeys(context.file), kApplicationRows, draft);
  draft.default_to("model.vocab", kVocabulary,
                   "Calculon counts no embedding: the vocabulary of GPT-2, padded as Megatron-LM pads it");
}

void read_execution(const ImportContext& context, Draft& draft) {
  read_rows(SourceKeys(context.file), kExecutionRows, draft);
  draft.default_to("stack", "ideal",
                   "Calculon counts no costs of the host; --set stack=NAME adds those of one");
}

}  // namespace

const Importer kCalculonApplication{
    {"calculon-application", "Model of Calculon (application)"}, is_application, read_application};
const Importer kCalculonExecution{
    {"calculon-execution", "Plan of Calculon (execution)"}, is_execution, read_execution};

}  // namespace orrery::importers::simulators
