// Reads files of other tools as one experiment. Used by the command line and by Python.
#pragma once

#include <string>
#include <vector>

#include "config/catalog/catalog.hpp"
#include "config/schema/menus.hpp"
#include "importers/common/draft.hpp"
#include "orrery/write.hpp"

namespace orrery::importers {

struct ImportRequest {
  std::vector<std::string> files;
  std::vector<std::string> settings;  ///< KEY=VALUE: keys of an experiment, of launch, or names of variables
  std::string kind;                   ///< reads every file as this kind; "" recognises each by its content
  bool approximate = false;
};

struct ImportedFile {
  std::string path;
  std::string kind;  ///< name of the importer
};

/// One experiment out of all files, and the report of how it came about.
struct Imported {
  std::vector<ImportedFile> files;
  std::vector<ImportItem> items;
  std::string experiment_json;  ///< "" where items stop it
  std::string experiment_yaml;  ///< the same, with a comment behind each key that says where it comes from

  [[nodiscard]] bool stopped() const { return experiment_json.empty(); }
};

/// Merges the files from left to right. @throws InputError where a file cannot be read or is of no known kind
[[nodiscard]] Imported import_files(const ImportRequest& request, const Catalog& catalog, const Menus& menus);

/// Writes the report of an import as text: a line an item, those that stop it first.
void write_import_text(const Imported& imported, const Sink& sink);
/// Writes it as JSON: files, items, experiment.
void write_import_json(const Imported& imported, const Sink& sink);

}  // namespace orrery::importers
