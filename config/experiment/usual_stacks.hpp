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

/// Describes how an engine schedules requests unless it is told otherwise. All of them decode in CUDA graphs.
struct ServingEngine {
  std::string_view stack;
  bool chunks_prefills = false;      ///< works prompts off in pieces beside decoding
  bool guaranteed_no_evict = false;  ///< begins requests where there is room for their whole length
  std::int64_t (*iteration_tokens)(const Cluster& cluster) = nullptr;
};

/// Returns the engine of a stack; nullptr where none is known to schedule in a way of its own.
[[nodiscard]] const ServingEngine* serving_engine(std::string_view stack);
/// Returns why an experiment that names no stack runs on that one.
[[nodiscard]] std::string reason_of(const UsualStack& usual);

}  // namespace orrery
