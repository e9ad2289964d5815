// Texts read one after the other with the same overrides, such as the lines of a search: most differ from the
// one before in a few numbers and names, and then only those are parsed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/io/document.hpp"
#include "sim/io/json.hpp"
#include "sim/io/json_text.hpp"
#include "sim/io/overrides.hpp"

namespace orrery {

class DocumentSeries {
 public:
  explicit DocumentSeries(const std::vector<std::string>& overrides) : overrides_(overrides) {}
  DocumentSeries(const DocumentSeries&) = delete;
  DocumentSeries& operator=(const DocumentSeries&) = delete;

  /// As parse_document() and then apply_overrides(), but the value stays here until the next text is read.
  Document read(std::string_view text, const std::string& source, std::vector<Problem>& problems);

  [[nodiscard]] const Json& value() const { return value_; }
  /// Pointers that overrides set.
  [[nodiscard]] const std::vector<std::string>& overridden() const { return overridden_; }

 private:
  [[nodiscard]] bool is_overridden(const JsonScalar& scalar) const;
  bool renew(std::string_view text);
  bool differs_in_scalars(std::string_view text);

  const std::vector<std::string>& overrides_;
  std::string text_;  ///< that the value was read from; empty where nothing is kept
  Json value_;
  std::vector<std::string> overridden_;
  std::vector<JsonScalar> scalars_;  ///< of the text, in order; without a value where overrides may have been
  std::vector<JsonScalar> found_;    ///< of the next
};

}  // namespace orrery
