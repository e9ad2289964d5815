// Findings to problems: which source, line and column is to blame. Internal to config/.
#pragma once

#include <string>
#include <vector>

#include "config/catalog/catalog_data.hpp"
#include "config/catalog/resolve.hpp"
#include "config/schema/findings.hpp"
#include "config/text/document.hpp"
#include "orrery/error.hpp"

namespace orrery {

/// Where the values of one experiment came from.
struct Origins {
  const Document& document;  ///< its value may have been moved away
  std::string source;
  const Json& given;  ///< the document's value with overrides applied
  const std::vector<std::string>& overridden;
  const std::vector<CatalogUse>& uses;
  const CatalogData& catalog;
};

std::vector<Problem> located(const Findings& findings, const Origins& origins);

}  // namespace orrery
