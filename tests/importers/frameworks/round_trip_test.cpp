// Reads back what plans are exported to: the experiment is the same, key by key, but for keys that the
// framework cannot say, which stand in comments of the export.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/experiment/read_experiment.hpp"
#include "config/experiment/resolved.hpp"
#include "config/schema/menus.hpp"
#include "importers/import.hpp"
#include "planner/emit/emit.hpp"
#include "planner/emit/export_report.hpp"
#include "tests/source_dir.hpp"

namespace orrery::importers {
namespace {

using Keys = nlohmann::ordered_json;

std::string text_of_file(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Experiment read(const std::string& text, const std::string& source) {
  return read_experiment_text(text, source, {}, Catalog::embedded(), menus()).experiment;
}

struct RoundTrip {
  std::string framework;
  std::span<const KeyRow> rows;
};

std::vector<RoundTrip> round_trips() {
  return {{"megatron", megatron_rows()},
          {"torchtitan", torchtitan_rows()},
          {"deepspeed", deepspeed_rows()},
          {"nemo", nemo_rows()}};
}

/// Returns settings for keys that a framework is never told: of the machine, of the software, and with
/// torchtitan the sizes of the model.
std::vector<std::string> untold(const Experiment& e, const std::string& cluster,
                                const std::string& framework) {
  std::vector<std::string> settings{
      "cluster.base=" + cluster, "cluster.nodes=" + std::to_string(e.cluster.nodes),
      "cluster.gpus_per_node=" + std::to_string(e.cluster.gpus_per_node), "stack=" + e.stack};
  if (framework == "nemo")  // it is set in Python
    settings.push_back("software.gradient_bytes=" + std::to_string(e.software.gradient_bytes));
  if (framework != "torchtitan") return settings;
  const Keys model = resolved_keys(e, menus()).at("model");
  for (const auto& [name, value] : model.items())
    if (name != "seq_length" && name != "name") settings.push_back("model." + name + "=" + value.dump());
  return settings;
}

/// A key that does not come back, and when.
struct Unsaid {
  std::string_view framework;
  std::string_view key;
  std::string_view reason;
  bool (*applies)(const Experiment&) = [](const Experiment&) { return true; };
};

bool waits_for_gradients(const Experiment& e) { return !e.plan.overlap_gradient_reduce; }
bool overlaps_no_products(const Experiment& e) { return !e.plan.overlap_tensor_parallel; }
bool is_zero_bubble(const Experiment& e) { return e.plan.pipeline_schedule.starts_with("zb"); }
bool has_lora(const Experiment& e) { return e.model.lora_rank > 0; }
bool is_hybrid(const Experiment& e) { return !e.model.layer_pattern.empty(); }
bool shards_in_part(const Experiment& e) { return e.plan.zero_stage == 1 || e.plan.zero_stage == 2; }
bool has_wire(const Experiment& e) { return e.plan.wire_precision.data.has_value(); }
bool is_fp8(const Experiment& e) { return e.plan.precision == Precision::fp8; }
bool is_fp16(const Experiment& e) { return e.plan.precision == Precision::fp16; }
bool has_virtual_stages(const Experiment& e) { return e.plan.virtual_stages > 1; }
bool shares_sequences(const Experiment& e) { return e.plan.context_parallel > 1; }

constexpr std::string_view kFsdp = "FSDP always shards all three, gathers ahead and overlaps, a unit a layer";
constexpr std::string_view kNoFlag = "no argument for it";

constexpr Unsaid kUnsaid[] = {
    {"", "model.name", "a name stands in a comment"},
    {"", "training.tokens", "lengths are told in samples",
     [](const Experiment& e) { return e.training.tokens > 0; }},
    {"", "training.samples", "of tokens, rounded up",
     [](const Experiment& e) { return e.training.tokens > 0; }},
    // Megatron-LM and NeMo, which is told alike
    {"megatron", "plan.overlap_tensor_parallel", "always on", overlaps_no_products},
    {"nemo", "plan.overlap_tensor_parallel", "always on", overlaps_no_products},
    {"megatron", "plan.overlap_parameter_gather", "only beside reductions", waits_for_gradients},
    {"nemo", "plan.overlap_parameter_gather", "only beside reductions", waits_for_gradients},
    {"megatron", "plan.bucket_mb", "idle without reductions that overlap, or of gradients in 16 bits",
     [](const Experiment& e) { return waits_for_gradients(e) || has_wire(e); }},
    {"nemo", "plan.bucket_mb", "idle without reductions that overlap", waits_for_gradients},
    {"megatron", "plan.pipeline_schedule", "1F1B, interleaved or not", is_zero_bubble},
    {"nemo", "plan.pipeline_schedule", "1F1B, interleaved or not", is_zero_bubble},
    {"megatron", "plan.reshard_after_forward", "FSDP drops parameters after each use",
     [](const Experiment& e) { return !e.plan.reshard_after_forward; }},
    {"nemo", "plan.reshard_after_forward", "FSDP drops parameters after each use",
     [](const Experiment& e) { return !e.plan.reshard_after_forward; }},
    {"megatron", "plan.prefetch", kNoFlag, [](const Experiment& e) { return e.plan.prefetch != 1; }},
    {"nemo", "plan.prefetch", kNoFlag, [](const Experiment& e) { return e.plan.prefetch != 1; }},
    {"megatron", "plan.wire_precision", "gradients are kept as they are reduced", has_wire},
    {"megatron", "software.gradient_bytes", "gradients are kept as they are reduced", has_wire},
    {"nemo", "plan.wire_precision", kNoFlag, has_wire},
    {"nemo", "plan.moment_precision", "types of PyTorch are set in Python"},
    {"megatron", "model.vocab", "padded for tensor ranks",
     [](const Experiment& e) { return e.model.vocab % e.plan.tensor_parallel != 0; }},
    {"megatron", "model.lora_rank", "no adapters", has_lora},
    {"megatron", "model.lora_targets", "no adapters", has_lora},
    {"megatron", "model.gated_delta_net", kNoFlag, is_hybrid},
    {"megatron", "model.layer_pattern", kNoFlag, is_hybrid},
    {"nemo", "model.gated_delta_net", kNoFlag, is_hybrid},
    {"nemo", "model.layer_pattern", kNoFlag, is_hybrid},
    // torchtitan
    {"torchtitan", "plan.zero_stage", kFsdp, shards_in_part},
    {"torchtitan", "plan.gradient_reduction", kFsdp, shards_in_part},
    {"torchtitan", "plan.reshard_after_forward", kFsdp, shards_in_part},
    {"torchtitan", "plan.prefetch", kFsdp},
    {"torchtitan", "plan.overlap_gradient_reduce", kFsdp, waits_for_gradients},
    {"torchtitan", "plan.overlap_parameter_gather", kFsdp},
    {"torchtitan", "plan.bucket_mb", "a unit of FSDP is a bucket"},
    {"torchtitan", "plan.precision", "bf16, fp8 or mxfp8", is_fp16},
    {"torchtitan", "plan.sequence_parallel", "always with tensor parallelism",
     [](const Experiment& e) { return !e.plan.sequence_parallel; }},
    {"torchtitan", "plan.overlap_tensor_parallel", "products are cut into chunks, or nothing overlaps"},
    {"torchtitan", "plan.cuda_graphs", kNoFlag,
     [](const Experiment& e) { return e.plan.cuda_graphs != CudaGraphs::none; }},
    {"torchtitan", "plan.optimizer", "Adam",
     [](const Experiment& e) { return e.plan.optimizer != Optimizer::adam; }},
    {"torchtitan", "plan.capacity_factor", "no token is dropped",
     [](const Experiment& e) { return e.plan.capacity_factor > 0; }},
    {"torchtitan", "plan.dispatcher", kNoFlag,
     [](const Experiment& e) { return e.plan.dispatcher != Dispatcher::all_to_all; }},
    {"torchtitan", "plan.overlap_expert_parallel", kNoFlag,
     [](const Experiment& e) { return e.plan.overlap_expert_parallel; }},
    {"torchtitan", "plan.expert_tensor_parallel", "1, or as tensor_parallel",
     [](const Experiment& e) { return e.plan.expert_tensor_parallel != e.plan.tensor_parallel; }},
    {"torchtitan", "plan.recompute", "whole layers, or operators that it chooses"},
    {"torchtitan", "plan.moment_precision", kNoFlag},
    {"torchtitan", "plan.offload_fraction", "all or nothing"},
    {"torchtitan", "plan.rank_order", kNoFlag,
     [](const Experiment& e) { return e.plan.rank_order != "tp-cp-ep-dp-pp"; }},
    {"torchtitan", "plan.context_parallel_type", "keys and values are gathered", shares_sequences},
    {"torchtitan", "plan.wire_precision", kNoFlag, has_wire},
    // DeepSpeed
    {"deepspeed", "plan.virtual_stages", "its pipeline engine has one chunk a rank", has_virtual_stages},
    {"deepspeed", "plan.pipeline_schedule", "its pipeline engine is 1F1B",
     [](const Experiment& e) { return has_virtual_stages(e) || is_zero_bubble(e); }},
    {"deepspeed", "plan.stage_layers", "its pipeline engine deals layers out by itself"},
    {"deepspeed", "model.vocab", "padded for tensor ranks",
     [](const Experiment& e) { return e.model.vocab % e.plan.tensor_parallel != 0; }},
    {"deepspeed", "plan.overlap_tensor_chunks", kNoFlag},
    {"deepspeed", "plan.context_parallel", "Ulysses alone",
     [](const Experiment& e) { return e.plan.context_parallel_type != ContextParallelType::all_to_all; }},
    {"deepspeed", "plan.data_parallel", "Ulysses alone", shares_sequences},
    {"deepspeed", "model.lora_rank", "no adapters", has_lora},
    {"deepspeed", "model.lora_targets", "no adapters", has_lora},
    {"deepspeed", "plan.cuda_graphs", kNoFlag,
     [](const Experiment& e) { return e.plan.cuda_graphs != CudaGraphs::none; }},
    {"deepspeed", "plan.optimizer", "Adam and SGD"},
    {"deepspeed", "model.attention_output_gate", kNoFlag, is_hybrid},
    {"deepspeed", "model.gated_delta_net", kNoFlag, is_hybrid},
    {"deepspeed", "model.layer_pattern", kNoFlag, is_hybrid},
    {"deepspeed", "model.multi_token_prediction", kNoFlag, is_hybrid},
    {"deepspeed", "model.qk_norm", kNoFlag, is_hybrid},
    {"deepspeed", "model.shared_expert_gate", kNoFlag, is_hybrid},
    {"deepspeed", "model.shared_experts", kNoFlag, is_hybrid},
    {"deepspeed", "plan.bucket_mb", "idle without reductions that overlap, or without ZeRO, or in fp8",
     [](const Experiment& e) { return waits_for_gradients(e) || e.plan.zero_stage == 0 || is_fp8(e); }},
    {"deepspeed", "plan.overlap_gradient_reduce", "with ZeRO alone",
     [](const Experiment& e) { return e.plan.zero_stage == 0; }},
    {"deepspeed", "plan.overlap_parameter_gather", "with ZeRO-3 alone",
     [](const Experiment& e) { return e.plan.zero_stage < 3 && e.plan.overlap_parameter_gather; }},
    {"deepspeed", "plan.reshard_after_forward", "ZeRO-3 drops parameters after each use",
     [](const Experiment& e) { return !e.plan.reshard_after_forward; }},
    {"deepspeed", "plan.prefetch", "in parameters, not in layers"},
    {"deepspeed", "plan.dispatcher", kNoFlag,
     [](const Experiment& e) { return e.plan.dispatcher != Dispatcher::all_to_all; }},
    {"deepspeed", "plan.overlap_expert_parallel", kNoFlag,
     [](const Experiment& e) { return e.plan.overlap_expert_parallel; }},
    {"deepspeed", "plan.expert_tensor_parallel", "1, or as tensor_parallel",
     [](const Experiment& e) { return e.plan.expert_tensor_parallel != e.plan.tensor_parallel; }},
    {"deepspeed", "plan.recompute", "whole layers"},
    {"deepspeed", "plan.precision", "16 bits at least", is_fp8},
    {"deepspeed", "plan.moment_precision", kNoFlag},
    {"deepspeed", "plan.rank_order", kNoFlag,
     [](const Experiment& e) { return e.plan.rank_order != "tp-cp-ep-dp-pp"; }},
    {"deepspeed", "plan.zero_group_size", "of ZeRO-3 alone", shards_in_part},
};

/// The row for a key that did not come back; null where it should have.
const Unsaid* unsaid(const std::string& framework, const std::string& key, const Experiment& e) {
  const auto row = std::ranges::find_if(kUnsaid, [&](const Unsaid& r) {
    return (r.framework.empty() || r.framework == framework) && r.key == key && r.applies(e);
  });
  return row == std::end(kUnsaid) ? nullptr : &*row;
}

std::string file_name(const std::string& framework) {
  return framework == "torchtitan" ? "train.toml" : framework == "nemo" ? "overrides.yaml" : "launch.sh";
}

/// Returns true if the export gives a reason why a key does not come back, or says that it has no effect.
bool is_said(const ExportReport& report, const std::string& key) {
  const auto entry = std::ranges::find(report.entries(), key, &Entry::key);
  if (entry == report.entries().end()) return true;  // of the machine, or of another part
  return entry->fate == Entry::ExportOutcome::lacking || entry->fate == Entry::ExportOutcome::idle ||
         !entry->remark.empty() || entry->key.starts_with("training.") || entry->key == "model.name";
}

/// All keys, and the width of gradients, which frameworks are told too.
Keys keys_of(const Experiment& e) {
  Keys keys = resolved_keys(e, menus());
  keys["software"]["gradient_bytes"] = e.software.gradient_bytes;
  return keys;
}

/// Emits, imports and compares all keys; puts the rows of kUnsaid that it needed into `used`.
void check_round_trip(const Experiment& e, const std::string& cluster, const RoundTrip& trip,
                      std::set<const Unsaid*>& used) {
  const auto folder = std::filesystem::temp_directory_path() / "orrery-round-trip";
  std::filesystem::create_directories(folder);
  const auto file = folder / file_name(trip.framework);
  std::ofstream(file) << emit(trip.framework, e);
  const Imported back = import_files({{file.string()}, untold(e, cluster, trip.framework), "", false},
                                     Catalog::embedded(), menus());
  for (const ImportItem& item : back.items)
    if (item.stops()) FAIL_CHECK(item.key << " " << item.found << " " << item.ours << " " << item.note);
  REQUIRE_FALSE(back.stopped());
  const Keys before = keys_of(e), after = keys_of(read(back.experiment_json, "back"));
  const ExportReport report(e, trip.rows);
  for (const char* part : {"plan", "model", "training", "software", "data_parallel_sync"}) {
    Keys names = before.value(part, Keys::object());
    names.update(after.value(part, Keys::object()));
    for (const auto& [name, value] : names.items()) {
      const Keys was = before.value(part, Keys::object()).value(name, Keys()),
                 is = after.value(part, Keys::object()).value(name, Keys());
      if (was == is) continue;
      const std::string key = std::string(part) + "." + name;
      const Unsaid* row = unsaid(trip.framework, key, e);
      if (row != nullptr) used.insert(row);
      CAPTURE(key);
      CAPTURE(was.dump());
      CAPTURE(is.dump());
      CHECK(row != nullptr);
      CHECK(is_said(report, key));
    }
  }
}

/// An example with keys set otherwise.
struct Variation {
  const char* example;
  std::vector<std::string> overrides{};
};

std::vector<Variation> variations() {
  std::vector<Variation> all;
  for (const char* example : {"gpt3-175b.json", "llama-65b.json", "llama3.1-70b.json", "experts.json",
                              "hsdp.json", "llama-13b-fsdp.json", "long-context.json", "megatron-145b.json",
                              "offload.json", "pipeline-1f1b.json", "zero-bubble.json", "lora.json",
                              "qwen3-next.json", "pipeline-non-uniform.json"})
    all.push_back({example});
  const std::vector<Variation> further{
      {"llama-65b.json", {"plan.overlap_gradient_reduce=true", "plan.bucket_mb=100"}},
      {"llama3.1-70b.json", {"plan.overlap_gradient_reduce=false", "plan.overlap_parameter_gather=false"}},
      {"llama3.1-70b.json", {"plan.bucket_mb=64", "plan.overlap_tensor_chunks=false"}},
      {"llama3.1-70b.json", {"plan.zero_group_size=2"}},
      {"hsdp.json", {"plan.reshard_after_forward=false"}},
      {"llama-13b-fsdp.json", {"plan.zero_stage=2"}},
      {"llama-13b-fsdp.json",
       {"plan.zero_stage=0", "plan.overlap_gradient_reduce=true", "plan.bucket_mb=30"}},
      {"llama-13b-fsdp.json", {"plan.prefetch=2"}},
      {"experts.json",
       {"plan.dispatcher=deduplicated", "plan.capacity_factor=1.25", "plan.overlap_expert_parallel=true"}},
      {"experts.json", {"plan.expert_tensor_parallel=2", "plan.expert_parallel=4"}},
      {"pipeline-1f1b.json", {R"(plan.recompute={"modules":["mlp","norm"]})", "model.attention=flash"}},
      {"pipeline-1f1b.json", {R"(plan.recompute={"modules":["layer"],"layers":2,"method":"block"})"}},
      {"pipeline-1f1b.json", {"plan.cuda_graphs=layers"}},
      {"llama-65b.json", {"plan.precision=fp8", "cluster.base=dgx-h100"}},
      {"llama-65b.json", {"plan.moment_precision=bf16"}},
      {"llama-65b.json", {"plan.rank_order=tp-cp-ep-pp-dp"}},
      {"llama-65b.json", {"plan.optimizer=sgd"}},
      {"llama-65b.json", {"plan.sequence_parallel=false", "plan.overlap_tensor_chunks=false"}},
      {"llama-65b.json", {"plan.wire_precision.data=bf16"}},
      {"offload.json", {"plan.offload_fraction=0.5"}},
      {"long-context.json", {"plan.context_parallel_type=all-to-all"}}};
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

/// The cluster of the catalog that an example runs on.
std::string base_of(const std::string& text, const std::vector<std::string>& overrides) {
  for (const std::string& override : overrides)
    if (override.starts_with("cluster.base=")) return override.substr(override.find('=') + 1);
  const Keys cluster = Keys::parse(text, nullptr, true, true).at("cluster");
  return cluster.is_string() ? cluster.get<std::string>() : cluster.at("base").get<std::string>();
}

}  // namespace

TEST_CASE(
    "what a plan is exported to reads back as the same experiment, but for what a framework cannot say") {
  std::set<const Unsaid*> used;
  for (const Variation& variation : variations()) {
    const std::string text = text_of_file(orrery::test::source_dir() / "examples" / variation.example);
    const Experiment e =
        read_experiment_text(text, variation.example, variation.overrides, Catalog::embedded(), menus())
            .experiment;
    for (const RoundTrip& trip : round_trips()) {
      CAPTURE(variation.example);
      CAPTURE(variation.overrides.empty() ? std::string() : variation.overrides.front());
      CAPTURE(trip.framework);
      check_round_trip(e, base_of(text, variation.overrides), trip, used);
    }
  }
  // A row that no export needs is out of date.
  for (const Unsaid& row : kUnsaid) {
    CAPTURE(row.framework);
    CAPTURE(row.key);
    CHECK(used.contains(&row));
  }
}

}  // namespace orrery::importers
