// A kind of file that orrery import reads: how it is told, and what reads it.
#pragma once

#include <map>
#include <string>

#include "config/catalog/catalog.hpp"
#include "importers/common/draft.hpp"
#include "importers/common/source_file.hpp"
#include "orrery/menu.hpp"

namespace orrery::importers {

struct ImportOptions {
  std::map<std::string, std::string> variables;  ///< values for variables of scripts and templates
  bool approximate = false;  ///< takes the nearest where an experiment cannot say a thing, with a note how
};

/// A file, and what reading it may ask for.
struct ImportContext {
  const SourceFile& file;
  const ImportOptions& options;
  const Catalog& catalog;
};

/// A row of importers(), the menu.
struct Importer : MenuEntry {
  /// Tells the kind by the content, never by the name. Cheap: most files are asked by every row.
  bool (*recognises)(const SourceFile&);
  /// Puts what the file says into the draft. @throws InputError where it cannot be read at all
  void (*read)(const ImportContext&, Draft&);
};

}  // namespace orrery::importers
