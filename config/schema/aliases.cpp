#include "config/schema/aliases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace orrery {
namespace {

/// An accepted name stands for the key in an experiment; a hinted one only leads to it in an error.
enum class Use : std::uint8_t { hinted, accepted };

struct Alias {
  std::string_view name;
  std::string_view key;
  Use use = Use::hinted;
};

constexpr std::array<Alias, 58> kAliases{{
    // Summaries, and Megatron-LM's --tensor-model-parallel-size and its kind
    {"tp", "plan.tensor_parallel", Use::accepted},
    {"pp", "plan.pipeline_parallel", Use::accepted},
    {"dp", "plan.data_parallel", Use::accepted},
    {"cp", "plan.context_parallel", Use::accepted},
    {"ep", "plan.expert_parallel", Use::accepted},
    {"etp", "plan.expert_tensor_parallel", Use::accepted},
    {"vpp", "plan.virtual_stages", Use::accepted},
    {"vp", "plan.virtual_stages"},
    {"sp", "plan.sequence_parallel", Use::accepted},
    {"mbs", "plan.micro_batch_size", Use::accepted},
    {"gbs", "plan.global_batch_size", Use::accepted},
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
    {"hidden_size", "model.hidden", Use::accepted},
    {"num_hidden_layers", "model.layers", Use::accepted},
    {"num_layers", "model.layers"},
    {"num_attention_heads", "model.heads", Use::accepted},
    {"num_key_value_heads", "model.kv_heads", Use::accepted},
    {"num_query_groups", "model.kv_heads"},
    {"intermediate_size", "model.ffn_hidden", Use::accepted},
    {"ffn_hidden_size", "model.ffn_hidden"},
    {"moe_intermediate_size", "model.expert_ffn_hidden", Use::accepted},
    {"vocab_size", "model.vocab", Use::accepted},
    {"max_position_embeddings", "model.seq_length"},
    {"sequence_length", "model.seq_length"},
    {"seq_len", "model.seq_length"},
    {"num_experts", "model.experts", Use::accepted},
    {"num_local_experts", "model.experts", Use::accepted},
    {"n_routed_experts", "model.experts", Use::accepted},
    {"num_experts_per_tok", "model.experts_per_token", Use::accepted},
    {"n_shared_experts", "model.shared_experts", Use::accepted},
    {"sliding_window", "model.window", Use::accepted},
    {"gated-delta-net", "model.gated_delta_net", Use::accepted},
    {"tie_word_embeddings", "model.tied_embeddings", Use::accepted},
}};

}  // namespace

std::string_view key_called(std::string_view name) {
  const auto found = std::ranges::find(kAliases, name, &Alias::name);
  return found == kAliases.end() ? std::string_view() : found->key;
}

std::string full_key(std::string_view key) {
  const std::string_view name = key.substr(key.rfind('.') + 1);
  const auto found = std::ranges::find(kAliases, name, &Alias::name);
  if (found == kAliases.end() || found->use == Use::hinted) return std::string(key);
  const std::string_view part = found->key.substr(0, found->key.find('.'));
  const bool stands_for_it = name.size() == key.size() || key.substr(0, key.size() - name.size() - 1) == part;
  return std::string(stands_for_it ? found->key : key);
}

std::vector<std::string> other_pointers(std::string_view pointer) {
  std::vector<std::string> pointers;
  for (const Alias& alias : kAliases) {
    const std::size_t dot = alias.key.find('.');
    const std::string part = fmt::format("/{}/", alias.key.substr(0, dot));
    if (alias.use == Use::accepted && pointer == part + std::string(alias.key.substr(dot + 1)))
      pointers.push_back(part + std::string(alias.name));
  }
  return pointers;
}

void use_full_names(Json& experiment, const std::string& source, std::vector<Diagnostic>& diagnostics) {
  if (!experiment.is_object()) return;
  for (const Alias& alias : kAliases) {
    const std::size_t dot = alias.key.find('.');
    const auto part = experiment.find(alias.key.substr(0, dot));
    if (alias.use == Use::hinted || part == experiment.end() || !part->is_object()) continue;
    const auto written = part->find(alias.name);
    if (written == part->end()) continue;
    Json value = std::move(*written);
    part->erase(written);
    const std::string name(alias.key.substr(dot + 1));
    if (part->contains(name))
      diagnostics.push_back({source, 0, 0, fmt::format("/{}/{}", alias.key.substr(0, dot), alias.name),
                             fmt::format("found it beside {}, allowed one of them", name)});
    else
      (*part)[name] = std::move(value);
  }
}

}  // namespace orrery
