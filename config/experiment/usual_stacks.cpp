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

/// Returns the memory of the smallest GPU, in 1e9 bytes.
double least_memory_gb(const Cluster& cluster) {
  double least = cluster.gpu_of_class(0).memory_gb;
  for (std::size_t c = 1; c < cluster.gpu_classes(); ++c)
    least = std::min(least, cluster.gpu_of_class(c).memory_gb);
  return least;
}

/// 8,192 in vLLM's server where all GPUs have 70 GiB and none is an A100, else 2,048
/// (vllm/engine/arg_utils.py, 2025).
std::int64_t vllm_tokens(const Cluster& cluster) {
  constexpr double kLargeGb = 75.16;  // 70 GiB
  for (std::size_t c = 0; c < cluster.gpu_classes(); ++c)
    if (cluster.gpu_of_class(c).name.starts_with("a100")) return 2048;
  return least_memory_gb(cluster) < kLargeGb ? 2048 : 8192;
}

/// Gives chunked_prefill_size by the memory of GPUs (sglang/srt/server_args.py, 0.5.6).
std::int64_t sglang_tokens(const Cluster& cluster) {
  constexpr double kGib = 1.073741824;
  const double gib = least_memory_gb(cluster) / kGib;
  if (gib < 35) return 2048;
  if (gib < 60) return 4096;
  return gib < 160 ? 8192 : 16384;
}

/// Gives max_num_tokens (tensorrt_llm/llmapi/llm_args.py, 1.0).
std::int64_t tensorrt_tokens(const Cluster& /*cluster*/) { return 8192; }

constexpr std::array<ServingEngine, 5> kServingEngines{{
    {"vllm-2025", true, false, vllm_tokens},
    {"vllm-2026", true, false, vllm_tokens},
    {"sglang-2025", false, false, sglang_tokens},
    {"tensorrt-llm-2025", true, true, tensorrt_tokens},
    {"tensorrt-llm-2026", true, true, tensorrt_tokens},
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

const ServingEngine* serving_engine(std::string_view stack) {
  const auto found = std::ranges::find(kServingEngines, stack, &ServingEngine::stack);
  return found == kServingEngines.end() ? nullptr : &*found;
}

std::string reason_of(const UsualStack& usual) {
  return "none is named, and this is the usual one of " + std::string(usual.models);
}

}  // namespace orrery
