// Holds the scripts and styles that pages carry, compiled in: those of assets/ and of third_party/uplot/.
#pragma once

#include <span>
#include <string_view>

namespace orrery {

struct PageAsset {
  std::string_view name;    ///< of the file, such as "chart.js"
  std::string_view text;    ///< as it stands in the page
  std::string_view sha256;  ///< of the text, in hexadecimal digits
};

/// Returns all assets, in no particular order.
[[nodiscard]] std::span<const PageAsset> page_assets();

}  // namespace orrery
