// A file of XML as a tree, with lines. Nothing in it is expanded or fetched: a DOCTYPE is refused.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/common/source_file.hpp"

namespace orrery::importers::machines {

struct XmlElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;
  int line = 0;

  /// Returns the value of the attribute, "" where it is missing.
  [[nodiscard]] std::string_view attribute(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;
};

/// Returns the root. @throws InputError with line and column where it is no XML, deeper than 100 elements,
/// or of more than 200,000
[[nodiscard]] XmlElement parse_xml(const SourceFile& file);

/// Returns the name of the first element, as far as a glance tells; "" where the file is no XML.
[[nodiscard]] std::string_view first_element(std::string_view text);

}  // namespace orrery::importers::machines
