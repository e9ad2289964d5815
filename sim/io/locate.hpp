// Findings to problems: which source, line and column is to blame. Internal to sim/io/.
#pragma once

#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "sim/io/catalog_data.hpp"
#include "sim/io/document.hpp"
#include "sim/io/findings.hpp"
#include "sim/io/resolve.hpp"

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
