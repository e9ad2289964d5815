// Strategy files of SimuMax: the plan.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "importers/common/import_rows.hpp"
#include "importers/simulators/simumax.hpp"

namespace orrery::importers::simulators {
namespace {

bool is_strategy(const SourceFile& file) {
  const auto has = [&file](std::string_view key) { return file.text().find(key) != std::string_view::npos; };
  return has("\"tp_size\"") && has("\"pp_size\"") && has("\"world_size\"");
}

void map_chunks(const SourceKey& key, const SourceKeys&, Draft& draft) {
  const bool interleaved = key.value.is_number_integer() && key.value > 1;
  draft.map(key, "plan.pipeline_schedule", interleaved ? "interleaved-1f1b" : "1f1b");
  if (interleaved) draft.map(key, "plan.virtual_stages");
}

void map_dispatcher(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value == "all2all") return draft.map(key, "plan.dispatcher", "all-to-all");
  draft.lack(key, "plan.dispatcher", "allowed all2all: --set plan.dispatcher=NAME");
}

void map_flash(const SourceKey& key, const SourceKeys&, Draft& draft) {
  draft.map(key, "model.attention", key.value == true ? "flash" : "core");
}

void map_first_true(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value == true) return draft.map(key, "plan.precision", "fp8");
  draft.ignore(key, "off");
}

void refuse_unless_zero(const SourceKey& key, const SourceKeys&, Draft& draft) {
  if (key.value.is_null() || key.value == 0 || key.value == false) return draft.ignore(key, "off");
  draft.lack(key, "no experiment says this");
}

/// Parts of a layer that a selective strategy computes again, as plan.recompute.modules names them.
struct Module {
  std::string_view theirs;
  std::string_view ours;
};
constexpr std::array kModules{
    Module{"attn_recompute", "attention"}, Module{"sdp_recompute", "core-attention"},
    Module{"mlp_recompute", "mlp"},        Module{"mla_rms_recompute", "norm"},
    Module{"mlp_rms_recompute", "norm"},   Module{"attn_rms_recompute", "norm"},
};

Json modules_of(const SourceKeys& all) {
  Json modules = Json::array();
  for (const Module& module : kModules)
    if (all.value(module.theirs) == true && std::ranges::find(modules, Json(module.ours)) == modules.end())
      modules.push_back(module.ours);
  return modules;
}

void map_layers(const SourceKeys& all, Draft& draft) {
  const SourceKey* layers = all.find("recompute_layer_num");
  if (layers == nullptr || !layers->value.is_number_integer() || layers->value < 0) return;
  draft.map(*layers, "plan.recompute.layers");
  draft.default_to("plan.recompute.method", "block", "the first layers of a stage");
}

/// Nothing is computed again unless a granularity is given, whatever enable_recompute says.
bool recomputes(const SourceKeys& all) {
  const Json& kind = all.value("recompute_granularity");
  return !kind.is_null() && all.value("enable_recompute") != false && all.value("recompute_layer_num") != 0;
}

void map_granularity(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (draft.settled("plan.recompute")) return draft.ignore(key, "--set gives plan.recompute");
  if (!recomputes(all)) return draft.map(key, "plan.recompute", "none");
  const Json modules = modules_of(all);
  const bool whole = key.value == "full_block" || key.value == "full";
  if (!whole && modules.empty())
    return draft.lack(key, "plan.recompute",
                      "no part of a layer is true beside it: --set plan.recompute=NAME");
  draft.map(key, "plan.recompute.modules", whole ? Json::array({"layer"}) : modules,
            whole ? "whole layers" : fmt::format("the parts that are true: {}", modules.dump()));
  map_layers(all, draft);
}

void map_enabled(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (all.contains("recompute_granularity"))
    return draft.ignore(key, "decides whether recompute_granularity counts");
  draft.map(key, "plan.recompute", "none", "nothing is computed again without recompute_granularity");
}

void count_layers(const SourceKey& key, const SourceKeys& all, Draft& draft) {
  if (!recomputes(all)) draft.ignore(key, "nothing is computed again");
}

constexpr std::string_view kOfRecompute = "counted with recompute_granularity";

constexpr std::array kStrategyRows{
    ImportRow{"seq_len", "model.seq_length"},
    ImportRow{"micro_batch_size", "plan.micro_batch_size"},
    ImportRow{"micro_batch_num", launch::kAccumulation},
    ImportRow{"dtype", "plan.precision"},
    ImportRow{"fp8", "", map_first_true},
    ImportRow{"world_size", launch::kGpus},
    ImportRow{"tp_size", "plan.tensor_parallel"},
    ImportRow{"pp_size", "plan.pipeline_parallel"},
    ImportRow{"dp_size", "plan.data_parallel"},
    ImportRow{"cp_size", "plan.context_parallel"},
    ImportRow{"ep_size", "plan.expert_parallel"},
    ImportRow{"etp_size", "plan.expert_tensor_parallel"},
    ImportRow{"moe_dispatcher_policy", "", map_dispatcher},
    ImportRow{"moe_capacity_factor", "plan.capacity_factor"},
    ImportRow{"enable_sequence_parallel", "plan.sequence_parallel"},
    ImportRow{"interleaving_size", "", map_chunks},
    ImportRow{"zero_state", "plan.zero_stage"},
    ImportRow{"enable_dropout", "model.dropout"},
    ImportRow{"use_flash_sdp", "", map_flash},
    ImportRow{"use_math_sdp", "", nullptr, "use_flash_sdp says how attention is computed"},
    ImportRow{"use_fused_norm", "", nullptr, "how far kernels are fused comes with the stack"},
    ImportRow{"use_fp32_accum_grad", "", nullptr, "Orrery keeps gradients as the stack does"},
    ImportRow{"no_sync", "", nullptr, "gradients are reduced as the ZeRO stage says"},
    ImportRow{"attention_sparse_ratio", "", refuse_unless_zero},
    ImportRow{"skip_ckpt_micro_batch_num", "", refuse_unless_zero},
    ImportRow{"mem_factor", "", nullptr, "Orrery counts the memory that a process can allocate by the GPU"},
    ImportRow{"enable_recompute", "", map_enabled},
    ImportRow{"recompute_granularity", "", map_granularity},
    ImportRow{"recompute_layer_num", "", count_layers},
    ImportRow{"attn_recompute", "", nullptr, kOfRecompute},
    ImportRow{"sdp_recompute", "", nullptr, kOfRecompute},
    ImportRow{"mlp_recompute", "", nullptr, kOfRecompute},
    ImportRow{"mla_rms_recompute", "", nullptr, kOfRecompute},
    ImportRow{"attn_rms_recompute", "", nullptr, kOfRecompute},
    ImportRow{"mlp_rms_recompute", "", nullptr, kOfRecompute},
    ImportRow{"num_layers_in_first_pipeline_stage", "", refuse_unless_zero},
    ImportRow{"num_layers_in_last_pipeline_stage", "", refuse_unless_zero},
    ImportRow{"order_of_paralielism", "plan.rank_order"},
};

void read_strategy(const ImportContext& context, Draft& draft) {
  const SourceKeys keys(context.file);
  read_rows(keys, kStrategyRows, draft);
}

}  // namespace

const Importer kSimumaxStrategy{
    {"simumax-strategy", "Plan of SimuMax (strategy)"}, is_strategy, read_strategy};

}  // namespace orrery::importers::simulators
