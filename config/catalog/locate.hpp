// Findings to problems: which source, line and column is to blame. Internal to config/.
#pragma once

#include <string>
#include <vector>

#include "config/catalog/catalog_data.hpp"
#include "config/catalog/resolve.hpp"
#include "config/text/document.hpp"
#include "config/text/findings.hpp"
#include "orrery/error.hpp"

namespace orrery {

/// Records the sources of one experiment's values.
struct Origins {
  const Document& document;  ///< its value may have been moved away
  std::string source;
  const Json& given;  ///< the document's value with overrides applied
  const std::vector<std::string>& overridden;
  const std::vector<CatalogUse>& uses;
  const CatalogData& catalog;
};

/// Returns the source of the value at `pointer`, in words: a line of the text, the command line or an entry
/// of the catalog; "" for a default. `table` has the positions of `pointer`.
std::string origin_of(const std::string& pointer, const PositionTable& table, const Origins& origins);

std::vector<Diagnostic> located(const Findings& findings, const Origins& origins);

}  // namespace orrery
