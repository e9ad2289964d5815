#include <array>

#include "workloads/models/blocks.hpp"

namespace orrery {

const ModelFamily& model_family(ModelKind kind) {
  static constexpr std::array<ModelFamily, 4> kFamilies{{
      {{"transformer", "Dense transformer: GPT, LLaMA, BERT."},
       ModelKind::transformer,
       describe_transformer,
       write_transformer_steps,
       transformer_parameters},
      {{"moe-transformer", "Transformer with a mixture of experts: Mixtral, DeepSeek, Qwen3."},
       ModelKind::moe_transformer,
       describe_transformer,
       write_transformer_steps,
       transformer_parameters},
      {{"mlp", "A plain chain of matrices, cut by columns or rows."},
       ModelKind::mlp,
       describe_mlp,
       write_mlp_steps,
       mlp_parameters},
      {{"convnet", "Convolutions of which only the size is known: ResNet."},
       ModelKind::convnet,
       describe_convnet,
       write_convnet_steps,
       convnet_parameters},
  }};
  return kFamilies[static_cast<std::size_t>(kind)];
}

}  // namespace orrery
