// The parsed entries behind a Catalog. Internal to sim/io/.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>

#include "sim/io/catalog.hpp"
#include "sim/io/json.hpp"

namespace orrery {

struct CatalogEntry {
  std::string text;
  Json value;  ///< without `summary` and `source`; of a calibration, its constants
  std::string summary;
  std::string part;      ///< of a calibration: what it is of, gpu, node, fabric or software
  std::string inherits;  ///< of a calibration: the one that has what it lacks; may be empty
};

struct CatalogData {
  std::array<std::map<std::string, CatalogEntry, std::less<>>, kCatalogKindCount> entries;

  [[nodiscard]] const CatalogEntry* find(CatalogKind kind, std::string_view name) const {
    const auto& table = entries[static_cast<std::size_t>(kind)];
    const auto found = table.find(name);
    return found == table.end() ? nullptr : &found->second;
  }
};

}  // namespace orrery
