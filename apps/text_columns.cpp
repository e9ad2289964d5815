#include "apps/text_columns.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace orrery {
namespace {

constexpr int kLeastColumns = 80;

/// Returns the column at which the text of the last column begins; its further lines are indented to it.
std::size_t hanging_indent(std::string_view line, std::size_t columns) {
  std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", indent);
  if (gap != std::string_view::npos && gap < columns / 2)
    indent = std::min(line.find_first_not_of(' ', gap), line.size());
  return indent;
}

void wrap_line(std::string_view line, std::size_t columns, std::string& out) {
  const std::size_t indent = hanging_indent(line, columns);
  std::size_t room = columns;
  std::size_t least = indent;  // the text before it is not broken
  while (line.size() > room) {
    std::size_t end = line.rfind(' ', room);
    if (end == std::string_view::npos || end <= least) end = line.find(' ', room);
    if (end == std::string_view::npos) break;
    out.append(line.substr(0, end)).append("\n").append(indent, ' ');
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    room = columns - indent;
    least = 0;
  }
  out += line;
}

}  // namespace

int text_columns() {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known ? std::max<int>(size.ws_col, kLeastColumns) : kLeastColumns;
}

std::string wrapped_lines(std::string_view text, int columns) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    wrap_line(text.substr(0, end), static_cast<std::size_t>(columns), out);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace orrery
