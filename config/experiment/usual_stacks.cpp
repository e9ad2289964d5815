#include "config/experiment/usual_stacks.hpp"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

bool is_convnet(const Model& model) { return model.kind == ModelKind::convnet; }
bool is_encoder(const Model& model) { return model.attends() && !model.causal; }
bool is_mlp(const Model& model) { return model.kind == ModelKind::mlp; }
bool any(const Model&) { return true; }

constexpr std::array<UsualStack, 4> kUsualStacks{{
    // DistributedDataParallel with SGD: torchvision's references, NVIDIA's DeepLearningExamples, the gossip
    // papers.
    {"convolutional networks", is_convnet, "pytorch-ddp", Optimizer::sgd_momentum},
    // BERT: DistributedDataParallel under the Trainer of Hugging Face, with AdamW.
    {"encoders", is_encoder, "huggingface-ddp", Optimizer::adam},
    // Studied as parts of language models.
    {"matrices alone", is_mlp, "nemo-2024", Optimizer::adam},
    // T5 too: NeMo and Megatron-Core train it with Adam. Its authors' Adafactor is not modelled.
    {"language models", any, "nemo-2024", Optimizer::adam},
}};

}  // namespace

std::span<const UsualStack> usual_stacks() { return kUsualStacks; }

const UsualStack& usual_stack(const Model& model) {
  return *std::ranges::find_if(kUsualStacks, [&](const UsualStack& row) { return row.has(model); });
}

Optimizer usual_optimizer(const Model& model, std::string_view stack) {
  const UsualStack& usual = usual_stack(model);
  return stack == usual.stack ? usual.optimizer : Optimizer::adam;
}

bool chunks_prefills(std::string_view stack) { return stack == "vllm-2025"; }

std::int64_t usual_iteration_tokens(const Cluster& cluster) {
  constexpr double kLargeGb = 75.16;  // 70 GiB
  for (std::size_t c = 0; c < cluster.gpu_classes(); ++c) {
    const Gpu& gpu = cluster.gpu_of_class(c);
    if (gpu.memory_gb < kLargeGb || gpu.name.starts_with("a100")) return 2048;
  }
  return 8192;
}

std::string reason_of(const UsualStack& usual) {
  return "none is named, and this is the usual one of " + std::string(usual.models);
}

}  // namespace orrery
