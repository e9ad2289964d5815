// Files that tests write, and what importing them gives.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "importers/import.hpp"

namespace orrery::importers::frameworks {

/// A file by its name and text.
using NamedText = std::pair<std::string, std::string>;

inline Imported imported(const std::vector<NamedText>& files, const std::vector<std::string>& settings = {},
                         bool approximate = false) {
  const auto folder = std::filesystem::temp_directory_path() / "orrery-frameworks";
  std::filesystem::create_directories(folder);
  ImportRequest request{{}, settings, "", approximate};
  for (const auto& [name, text] : files) {
    std::ofstream(folder / name) << text;
    request.files.push_back((folder / name).string());
  }
  return import_files(request, Catalog::embedded(), menus());
}

/// The experiment; an empty object where the import stopped.
inline nlohmann::json experiment_of(const Imported& result) {
  return result.stopped() ? nlohmann::json::object() : nlohmann::json::parse(result.experiment_json);
}

/// The item of a key of the file, or of a key of the experiment; null where there is none.
inline const ImportItem* item_of(const Imported& result, const std::string& key) {
  for (const ImportItem& item : result.items)
    if (item.key == key || item.ours == key) return &item;
  return nullptr;
}

/// The last item for a key of the experiment, which is the one that counts.
inline const ImportItem* origin_of(const Imported& result, const std::string& ours) {
  const ImportItem* last = nullptr;
  for (const ImportItem& item : result.items)
    if (item.ours == ours) last = &item;
  return last;
}

inline bool is_missing(const Imported& result, const std::string& word) {
  for (const ImportItem& item : result.items)
    if (item.fate == Fate::missing &&
        (item.note.find(word) != std::string::npos || item.key.find(word) != std::string::npos))
      return true;
  return false;
}

}  // namespace orrery::importers::frameworks
