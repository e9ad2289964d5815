// Writes activation recomputation as arguments of Megatron-LM; versions as in megatron.cpp.
#include <fmt/format.h>

#include <string_view>

#include "planner/emit/export_report.hpp"

namespace orrery {
namespace megatron_modules {
namespace {

/// Names of modules that Megatron recomputes one by one; nothing for others.
std::string_view module_name(Module module) {
  switch (module) {
    case Module::norm:
      return "layernorm";
    case Module::core_attention:
      return "core_attn";
    case Module::latent_projection:
      return "mla_up_proj";
    case Module::mlp:
      return "mlp";
    case Module::activation:
      return "moe_act";
    case Module::experts:
      return "moe";
    case Module::layer:
    case Module::attention:
    case Module::operations:
      break;
  }
  return "";
}

void whole_layers(const Plan& plan, Entry& out) {
  if (!plan.recompute_stage_layers.empty()) return out.lacks("all stages compute equally many layers again");
  const bool all = plan.recompute_layers == 0;
  const auto method = all ? RecomputeMethod::uniform : plan.recompute_method;
  out.set("--recompute-granularity", "full");
  out.set("--recompute-method", kRecomputeMethodNames[static_cast<std::size_t>(method)]);
  out.set("--recompute-num-layers", all ? 1 : plan.recompute_layers);
}

void modules(const Plan& plan, Entry& out) {
  if (plan.recompute_layers > 0 || !plan.recompute_stage_layers.empty())
    return out.lacks("modules are computed again in all layers");
  EmitJson known = EmitJson::array();
  for (std::size_t i = 0; i < kModuleNames.size(); ++i) {
    const auto module = static_cast<Module>(i);
    if (!plan.recompute_modules.has(module)) continue;
    const std::string_view name = module_name(module);
    if (name.empty()) return out.lacks(fmt::format("it does not recompute {} alone", kModuleNames[i]));
    known.push_back(name);
  }
  out.set("--recompute-granularity", "selective");
  out.set("--recompute-modules", known);
  out.note("since core 0.13");
}

}  // namespace
}  // namespace megatron_modules

void megatron_recompute(const Subject& s, const EmitJson&, Entry& out) {
  const Plan& plan = s.plan;
  const bool layers = plan.recompute == Recompute::full || plan.recompute_modules.has(Module::layer);
  if (plan.recompute == Recompute::none) return out.usual();
  if (plan.recompute == Recompute::selective) return out.set("--recompute-granularity", "selective");
  layers ? megatron_modules::whole_layers(plan, out) : megatron_modules::modules(plan, out);
}

}  // namespace orrery
