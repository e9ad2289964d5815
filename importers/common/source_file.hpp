// A file of a user, read whole, and the places in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::importers {

/// Says where a key stands. Line 0: it stands in no line, as a name of a file or an option does.
struct FilePlace {
  std::string file;
  int line = 0;

  /// Returns "file:line", or the file alone.
  [[nodiscard]] std::string text() const;
  /// Returns "line 12" for a reader who has `file` before him, else text().
  [[nodiscard]] std::string text_within(const std::string& file) const;
};

class SourceFile {
 public:
  /// Reads the file at `path`, at most kMaxTextBytes. @throws InputError that names the path
  explicit SourceFile(const std::string& path);
  SourceFile(std::string path, std::string text);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  /// Returns the line, from 1, of the byte at `offset`.
  [[nodiscard]] int line_at(std::size_t offset) const;
  [[nodiscard]] FilePlace place_at(std::size_t offset) const { return {path_, line_at(offset)}; }

 private:
  std::string path_;
  std::string text_;
  std::vector<std::size_t> line_ends_;
};

}  // namespace orrery::importers
