#include "config/schema/aliases.hpp"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

struct Alias {
  std::string_view name;
  std::string_view key;
};

constexpr std::array<Alias, 57> kAliases{{
    // Summaries, and Megatron-LM's --tensor-model-parallel-size and its kind
    {"tp", "plan.tensor_parallel"},
    {"pp", "plan.pipeline_parallel"},
    {"dp", "plan.data_parallel"},
    {"cp", "plan.context_parallel"},
    {"ep", "plan.expert_parallel"},
    {"etp", "plan.expert_tensor_parallel"},
    {"vpp", "plan.virtual_stages"},
    {"vp", "plan.virtual_stages"},
    {"sp", "plan.sequence_parallel"},
    {"mbs", "plan.micro_batch_size"},
    {"gbs", "plan.global_batch_size"},
    {"zero", "plan.zero_stage"},
    {"schedule", "plan.pipeline_schedule"},
    {"tensor_model_parallel_size", "plan.tensor_parallel"},
    {"tensor_parallel_size", "plan.tensor_parallel"},
    {"tensor_parallel_degree", "plan.tensor_parallel"},
    {"pipeline_model_parallel_size", "plan.pipeline_parallel"},
    {"pipeline_parallel_size", "plan.pipeline_parallel"},
    {"pipeline_parallel_degree", "plan.pipeline_parallel"},
    {"data_parallel_size", "plan.data_parallel"},
    {"data_parallel_replicate_degree", "plan.data_parallel"},
    {"context_parallel_size", "plan.context_parallel"},
    {"context_parallel_degree", "plan.context_parallel"},
    {"expert_model_parallel_size", "plan.expert_parallel"},
    {"expert_parallel_degree", "plan.expert_parallel"},
    {"batch_size", "plan.global_batch_size"},
    {"train_batch_size", "plan.global_batch_size"},
    {"local_batch_size", "plan.micro_batch_size"},
    {"train_micro_batch_size_per_gpu", "plan.micro_batch_size"},
    {"per_device_train_batch_size", "plan.micro_batch_size"},
    {"num_layers_per_virtual_pipeline_stage", "plan.virtual_stages"},
    {"num_virtual_stages_per_pipeline_rank", "plan.virtual_stages"},
    {"recompute_granularity", "plan.recompute"},
    {"activation_checkpointing", "plan.recompute"},
    {"gradient_checkpointing", "plan.recompute"},
    {"overlap_grad_reduce", "plan.overlap_gradient_reduce"},
    {"overlap_param_gather", "plan.overlap_parameter_gather"},
    // config.json of Hugging Face, and Megatron-LM's words
    {"hidden_size", "model.hidden"},
    {"num_hidden_layers", "model.layers"},
    {"num_layers", "model.layers"},
    {"num_attention_heads", "model.heads"},
    {"num_key_value_heads", "model.kv_heads"},
    {"num_query_groups", "model.kv_heads"},
    {"intermediate_size", "model.ffn_hidden"},
    {"ffn_hidden_size", "model.ffn_hidden"},
    {"moe_intermediate_size", "model.expert_ffn_hidden"},
    {"vocab_size", "model.vocab"},
    {"max_position_embeddings", "model.seq_length"},
    {"sequence_length", "model.seq_length"},
    {"seq_len", "model.seq_length"},
    {"num_experts", "model.experts"},
    {"num_local_experts", "model.experts"},
    {"n_routed_experts", "model.experts"},
    {"num_experts_per_tok", "model.experts_per_token"},
    {"n_shared_experts", "model.shared_experts"},
    {"sliding_window", "model.window"},
    {"tie_word_embeddings", "model.tied_embeddings"},
}};

}  // namespace

std::string_view key_called(std::string_view name) {
  const auto found = std::ranges::find(kAliases, name, &Alias::name);
  return found == kAliases.end() ? std::string_view() : found->key;
}

}  // namespace orrery
