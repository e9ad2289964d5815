// One experiment out of files: what agrees, what contradicts, what nobody says.
#include "importers/import.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace orrery::importers {
namespace {

/// A file of this text in the folder for temporary files.
std::string written(const std::string& name, const std::string& text) {
  const auto folder = std::filesystem::temp_directory_path() / "orrery-importers";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name) << text;
  return (folder / name).string();
}

constexpr const char* kLlama = R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
  "max_position_embeddings": 131072, "bos_token_id": 128000})";

Imported imported(const std::vector<std::string>& files, const std::vector<std::string>& settings = {}) {
  return import_files({files, settings, "", false}, Catalog::embedded(), menus());
}

const ImportItem* item_of(const Imported& result, const std::string& key) {
  for (const ImportItem& item : result.items)
    if (item.key == key || item.ours == key) return &item;
  return nullptr;
}

}  // namespace

TEST_CASE("a model alone is an experiment on the usual cluster, and the report says so") {
  const Imported result = imported({written("llama.json", kLlama)});
  REQUIRE_FALSE(result.stopped());
  const auto experiment = nlohmann::json::parse(result.experiment_json);
  CHECK(experiment.at("model").at("hidden") == 4096);
  CHECK(experiment.at("cluster").at("base") == "dgx-h100");
  CHECK(experiment.at("model").at("seq_length") == 4096);
  CHECK(item_of(result, "hidden_size")->place.line == 1);
  CHECK(item_of(result, "num_key_value_heads")->place.line == 2);
  CHECK(item_of(result, "bos_token_id")->fate == Fate::ignored);
  CHECK(item_of(result, "model.seq_length")->fate == Fate::defaulted);
}

TEST_CASE("two files that differ contradict each other until --set decides") {
  const std::string small = R"({"model_type": "llama", "hidden_size": 2048})";
  const std::vector<std::string> files{written("llama.json", kLlama), written("small.json", small)};
  const Imported result = imported(files);
  CHECK(result.stopped());
  CHECK(item_of(result, "model_type") != nullptr);
  const Imported decided = imported(files, {"model.hidden=2048", "model.seq_length=2048"});
  REQUIRE_FALSE(decided.stopped());
  CHECK(nlohmann::json::parse(decided.experiment_json).at("model").at("hidden") == 2048);
}

TEST_CASE("the report names a file once, and its lines below it") {
  const std::string model = written("llama.json", kLlama);
  std::string text;
  write_import_text(imported({model}, {"cluster=dgx-h200"}),
                    [&text](std::string_view part) { text += part; });
  // Settings of the user stand before the file, which is named in the heading of each section alone.
  CHECK(text.find("\nMapped ") != std::string::npos);
  CHECK(text.find("  --set  cluster.base \"dgx-h200\"  -> cluster.base\n") != std::string::npos);
  CHECK(text.find("\n  " + model + "\n    line 1:  ") != std::string::npos);
  CHECK(text.find("\n    line 1:  hidden_size 4096  -> model.hidden\n") != std::string::npos);
  CHECK(text.find(model + ":1") == std::string::npos);
  // A default has no place.
  CHECK(text.find("\n  model.seq_length 4096  (") != std::string::npos);
}

TEST_CASE("the report names each of two files, and the other file where it matters") {
  const std::string model = written("llama.json", kLlama),
                    small = written("small.json", R"({"model_type": "llama", "hidden_size": 2048})");
  std::string text;
  write_import_text(imported({model, small}), [&text](std::string_view part) { text += part; });
  CHECK(text.find("\n  " + small + "\n    line 1:  hidden_size 2048") != std::string::npos);
  CHECK(text.find(model + ":1 gives 4096") != std::string::npos);
}

}  // namespace orrery::importers
