#include "importers/common/source_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/text/document.hpp"

namespace orrery::importers {

std::string FilePlace::text() const { return line == 0 ? file : fmt::format("{}:{}", file, line); }

std::string FilePlace::text_within(const std::string& known) const {
  return line > 0 && file == known ? fmt::format("line {}", line) : text();
}

SourceFile::SourceFile(const std::string& path) : SourceFile(path, read_text(path)) {}

SourceFile::SourceFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    line_ends_.push_back(at);
}

int SourceFile::line_at(std::size_t offset) const {
  return static_cast<int>(std::ranges::lower_bound(line_ends_, offset) - line_ends_.begin()) + 1;
}

}  // namespace orrery::importers
