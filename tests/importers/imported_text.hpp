// Imports texts of tests as files.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "importers/import.hpp"

namespace orrery::importers {

/// A file of this text in the folder for temporary files.
inline std::string text_file(const std::string& name, const std::string& text) {
  const auto folder = std::filesystem::temp_directory_path() / "orrery-importers";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << text;
  return (folder / name).string();
}

inline Imported import_texts(const std::vector<std::string>& texts,
                             const std::vector<std::string>& settings = {}, bool approximate = false) {
  std::vector<std::string> files;
  for (const std::string& text : texts)
    files.push_back(text_file("text" + std::to_string(files.size()), text));
  return import_files({files, settings, "", approximate}, Catalog::embedded(), menus());
}

/// The experiment; null where it was stopped.
inline nlohmann::json experiment_of(const Imported& imported) {
  return imported.stopped() ? nlohmann::json() : nlohmann::json::parse(imported.experiment_json);
}

/// The items of a fate, "ours: note" each, for messages of failed tests.
inline std::string items_of(const Imported& imported, Fate fate) {
  std::string text;
  for (const ImportItem& item : imported.items)
    if (item.fate == fate) text += item.key + " -> " + item.ours + " (" + item.note + ")\n";
  return text;
}

/// Why it was stopped.
inline std::string problems_of(const Imported& imported) {
  return items_of(imported, Fate::contradictory) + items_of(imported, Fate::missing);
}

}  // namespace orrery::importers
