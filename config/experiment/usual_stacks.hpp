// Chooses the software of experiments that name no stack: the one people use for such a model. Used by the
// reader of experiments; docs/reference/experiment.md shows the table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "orrery/cluster.hpp"
#include "orrery/model.hpp"
#include "orrery/plan.hpp"

namespace orrery {

struct UsualStack {
  std::string_view models;  ///< the models it is the default for, in words
  bool (*has)(const Model&) = nullptr;
  std::string_view stack;
  Optimizer optimizer{};  ///< of its training scripts for such models: the default of plan.optimizer on it
};

/// Each kind of models before the kinds that would take it in; the last row takes all.
[[nodiscard]] std::span<const UsualStack> usual_stacks();
[[nodiscard]] const UsualStack& usual_stack(const Model& model);
/// The optimizer where a plan names none: that of the usual stack on it, on all others Adam.
[[nodiscard]] Optimizer usual_optimizer(const Model& model, std::string_view stack);
/// The engine of experiments that serve and name none.
constexpr std::string_view kUsualEngine = "vllm-2025";
/// vLLM since its V1 works prompts off in pieces beside decoding unless it is told otherwise.
[[nodiscard]] bool chunks_prefills(std::string_view stack);
/// Tokens of an iteration of such an engine on those GPUs unless told otherwise: 8,192 in vLLM's server where
/// all have 70 GiB and none is an A100, else 2,048 (vllm/engine/arg_utils.py, 2025).
[[nodiscard]] std::int64_t usual_iteration_tokens(const Cluster& cluster);
/// Returns why an experiment that names no stack runs on that one.
[[nodiscard]] std::string reason_of(const UsualStack& usual);

}  // namespace orrery
