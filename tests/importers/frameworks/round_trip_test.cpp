// Reads back what plans are exported to: the experiment is the same, key by key, but for keys that the
// framework cannot say, which stand in comments of the export.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
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

/// Returns true for a key that the framework is told, or does so without being told, and can say as it is.
bool is_told(const Entry& entry, const Experiment& e, const std::string& framework) {
  if (entry.fate != Entry::ExportOutcome::set && entry.fate != Entry::ExportOutcome::usual) return false;
  // FSDP of torchtitan has no ZeRO-1 and ZeRO-2: the export says that it takes the nearest.
  if (framework == "torchtitan" && entry.key == "plan.zero_stage")
    return e.plan.zero_stage == 0 || e.plan.zero_stage == 3;
  // DeepSpeed shares sequences by all-to-all alone: without it there are more replicas.
  if (framework == "deepspeed" && entry.key == "plan.data_parallel") return e.plan.context_parallel == 1;
  // Megatron pads what tensor ranks cannot share evenly; the export says so.
  if (entry.key == "model.vocab") return e.model.vocab % e.plan.tensor_parallel == 0;
  return entry.key != "model.name" && !entry.key.starts_with("training.");
}

void check_round_trip(const Experiment& e, const std::string& cluster, const RoundTrip& trip) {
  const auto folder = std::filesystem::temp_directory_path() / "orrery-round-trip";
  std::filesystem::create_directories(folder);
  const auto file = folder / (trip.framework == "torchtitan" ? "train.toml"
                              : trip.framework == "nemo"     ? "overrides.yaml"
                                                             : "launch.sh");
  std::ofstream(file) << emit(trip.framework, e);
  const Imported back = import_files({{file.string()}, untold(e, cluster, trip.framework), "", false},
                                     Catalog::embedded(), menus());
  for (const ImportItem& item : back.items)
    if (item.stops()) FAIL_CHECK(item.key << " " << item.found << " " << item.ours << " " << item.note);
  REQUIRE_FALSE(back.stopped());
  const Keys before = resolved_keys(e, menus()),
             after = resolved_keys(read(back.experiment_json, "back"), menus());
  const ExportReport report(e, trip.rows);
  for (const Entry& entry : report.entries()) {
    const std::string part = entry.key.substr(0, entry.key.find('.')),
                      name = entry.key.substr(part.size() + 1);
    if (!is_told(entry, e, trip.framework)) continue;
    CAPTURE(entry.key);
    CHECK(after.at(part).value(name, Keys()) == before.at(part).value(name, Keys()));
  }
}

constexpr const char* kExamples[] = {
    "gpt3-175b.json",  "llama-65b.json",           "llama3.1-70b.json", "experts.json",
    "hsdp.json",       "llama-13b-fsdp.json",      "long-context.json", "megatron-145b.json",
    "offload.json",    "pipeline-1f1b.json",       "zero-bubble.json",  "lora.json",
    "qwen3-next.json", "pipeline-non-uniform.json"};

}  // namespace

TEST_CASE("what a plan is exported to reads back as the same experiment") {
  for (const char* example : kExamples) {
    const std::string text = text_of_file(orrery::test::source_dir() / "examples" / example);
    const Experiment e = read(text, example);
    const auto document = nlohmann::json::parse(text, nullptr, true, true);
    const auto& cluster = document.at("cluster");
    const std::string base =
        cluster.is_string() ? cluster.get<std::string>() : cluster.at("base").get<std::string>();
    for (const RoundTrip& trip : round_trips()) {
      CAPTURE(example);
      CAPTURE(trip.framework);
      check_round_trip(e, base, trip);
    }
  }
}

}  // namespace orrery::importers
