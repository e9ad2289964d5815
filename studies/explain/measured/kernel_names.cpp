#include "studies/explain/measured/kernel_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace orrery {
namespace {

struct Rule {
  std::string_view part;  ///< in lower case
  KernelUse use;
};

constexpr KernelUse use(KernelClass kernel_class) { return use_of(kernel_class); }

/// The first that a name contains holds, so that "cast_transpose_dbias_dgelu" is a cast and a "moe_gemm" is
/// no dense product.
constexpr std::array kRules{
    Rule{"nccl", KernelUse::communication},
    Rule{"rccl", KernelUse::communication},
    Rule{"deep_ep", KernelUse::communication},
    Rule{"nvshmem", KernelUse::communication},
    Rule{"all_reduce", KernelUse::communication},
    Rule{"allreduce", KernelUse::communication},
    Rule{"memcpy", KernelUse::copy},
    Rule{"memset", KernelUse::copy},
    Rule{"adam", KernelUse::optimizer},
    Rule{"optimizer", KernelUse::optimizer},
    Rule{"multi_tensor", KernelUse::optimizer},
    Rule{"multi_tensor_apply", KernelUse::optimizer},
    Rule{"lamb", KernelUse::optimizer},
    Rule{"newtonschulz", KernelUse::optimizer},
    Rule{"cross_entropy", use(KernelClass::loss)},
    Rule{"nll_loss", use(KernelClass::loss)},
    Rule{"log_softmax", use(KernelClass::loss)},
    Rule{"logsoftmax", use(KernelClass::loss)},
    Rule{"rotary", KernelUse::rotary},
    Rule{"rope", KernelUse::rotary},
    Rule{"flash", use(KernelClass::attention)},
    Rule{"fmha", use(KernelClass::attention)},
    Rule{"attention", use(KernelClass::attention)},
    Rule{"attn", use(KernelClass::attention)},
    Rule{"softmax", use(KernelClass::attention)},
    Rule{"permut", use(KernelClass::permutation)},
    Rule{"sort_chunks", use(KernelClass::permutation)},
    Rule{"moe_align", use(KernelClass::permutation)},
    Rule{"topk", use(KernelClass::routing)},
    Rule{"router", use(KernelClass::routing)},
    Rule{"gating", use(KernelClass::routing)},
    Rule{"group_gemm", use(KernelClass::expert_products)},
    Rule{"grouped", use(KernelClass::expert_products)},
    Rule{"moe", use(KernelClass::expert_products)},
    Rule{"ssd_", use(KernelClass::recurrence)},
    Rule{"_chunk_scan", use(KernelClass::recurrence)},
    Rule{"_chunk_state", use(KernelClass::recurrence)},
    Rule{"selective_scan", use(KernelClass::recurrence)},
    Rule{"delta_rule", use(KernelClass::recurrence)},
    Rule{"layer_norm", use(KernelClass::norm)},
    Rule{"layernorm", use(KernelClass::norm)},
    Rule{"rmsnorm", use(KernelClass::norm)},
    Rule{"rms_norm", use(KernelClass::norm)},
    Rule{"batch_norm", use(KernelClass::norm)},
    Rule{"ln_fwd", use(KernelClass::norm)},
    Rule{"ln_bwd", use(KernelClass::norm)},
    Rule{"cast_transpose", use(KernelClass::casts)},
    Rule{"transpose_cast", use(KernelClass::casts)},
    Rule{"quantize", use(KernelClass::casts)},
    Rule{"swiglu", use(KernelClass::activation)},
    Rule{"geglu", use(KernelClass::activation)},
    Rule{"gelu", use(KernelClass::activation)},
    Rule{"silu", use(KernelClass::activation)},
    Rule{"relu", use(KernelClass::activation)},
    Rule{"embedding", use(KernelClass::embedding)},
    Rule{"indexselect", use(KernelClass::embedding)},
    Rule{"winograd", use(KernelClass::convolution)},
    Rule{"conv", use(KernelClass::convolution)},
    Rule{"wgrad_alg", use(KernelClass::convolution)},
    Rule{"gemm", use(KernelClass::dense_products)},
    Rule{"gemv", use(KernelClass::dense_products)},
    Rule{"cutlass", use(KernelClass::dense_products)},
    Rule{"cublas", use(KernelClass::dense_products)},
    Rule{"nvjet", use(KernelClass::dense_products)},
    Rule{"xmma", use(KernelClass::dense_products)},
    Rule{"splitk", use(KernelClass::dense_products)},
    Rule{"cijk_", use(KernelClass::dense_products)},  // rocBLAS
    Rule{"dropout", use(KernelClass::residual)},
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

template <class Table>
auto first_in(const Table& table, std::string_view text) -> std::optional<decltype(table[0].second)> {
  const std::string name = lower(text);
  for (const auto& [part, value] : table)
    if (name.find(part) != std::string::npos) return value;
  return std::nullopt;
}

}  // namespace

std::string_view name_of_use(KernelUse use) {
  if (use == KernelUse::optimizer) return "optimizer";
  if (use == KernelUse::rotary) return "rotary";
  return computes(use) ? kKernelClassNames[static_cast<std::size_t>(use)] : "";
}

KernelUse use_by_name(std::string_view kernel) {
  const std::string name = lower(kernel);
  for (const Rule& rule : kRules)
    if (name.find(rule.part) != std::string::npos) return rule.use;
  return use_of(KernelClass::other);
}

std::optional<Collective> collective_by_name(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Collective>, 14> kNames{{
      {"reducescatter", Collective::reduce_scatter},
      {"reduce_scatter", Collective::reduce_scatter},
      {"allgather", Collective::all_gather},
      {"all_gather", Collective::all_gather},
      {"allreduce", Collective::all_reduce},
      {"all_reduce", Collective::all_reduce},
      {"alltoall", Collective::all_to_all},
      {"all_to_all", Collective::all_to_all},
      {"broadcast", Collective::broadcast},
      {"sendrecv", Collective::send_recv},
      {"send_recv", Collective::send_recv},
      {"send", Collective::send_recv},
      {"recv", Collective::send_recv},
      {"bcast", Collective::broadcast},
  }};
  return first_in(kNames, name);
}

/// Names of Megatron-Core (parallel_state.py), PyTorch's device meshes, DeepSpeed, and our own.
std::optional<Dimension> dimension_by_name(std::string_view group) {
  constexpr std::array<std::pair<std::string_view, Dimension>, 15> kNames{{
      {"expert_data", Dimension::data},
      {"expert", Dimension::expert},
      {"mesh_ep", Dimension::expert},
      {"context_parallel", Dimension::context},
      {"context", Dimension::context},
      {"mesh_cp", Dimension::context},
      {"tensor", Dimension::tensor},
      {"mesh_tp", Dimension::tensor},
      {"pipeline", Dimension::pipeline},
      {"embedding", Dimension::data},
      {"mesh_pp", Dimension::pipeline},
      {"model_parallel", Dimension::tensor},
      {"data", Dimension::data},
      {"mesh_dp", Dimension::data},
      {"fsdp", Dimension::data},
  }};
  return first_in(kNames, group);
}

}  // namespace orrery
