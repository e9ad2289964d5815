// Imports a text as a file of a model.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "config/experiment/read_experiment.hpp"
#include "importers/import.hpp"
#include "workloads/models/blocks.hpp"

namespace orrery::importers {

inline Imported imported_model(const std::string& text, const std::vector<std::string>& settings = {},
                               bool approximate = false) {
  const auto folder = std::filesystem::temp_directory_path() / "orrery-importers";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "model.json").string();
  std::ofstream(path) << text;
  return import_files({{path}, settings, "", approximate}, Catalog::embedded(), menus());
}

/// The keys of the model of an imported experiment.
inline nlohmann::json model_of(const Imported& imported) {
  return nlohmann::json::parse(imported.experiment_json).at("model");
}

/// Counts all parameters of an imported model.
inline std::int64_t parameters_of(const Imported& imported) {
  return transformer_parameters(
      read_experiment_text(imported.experiment_json, "imported", {}, Catalog::embedded(), menus())
          .experiment.model);
}

inline const ImportItem* item_of(const Imported& imported, const std::string& key) {
  for (const ImportItem& item : imported.items)
    if (item.key == key || item.ours == key) return &item;
  return nullptr;
}

}  // namespace orrery::importers
