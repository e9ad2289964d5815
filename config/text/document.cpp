#include "config/text/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "config/text/json_text.hpp"
#include "config/text/wording.hpp"
#include "config/text/yaml_text.hpp"

namespace orrery {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void fail(const DocumentError& error, std::string_view text, Syntax syntax,
                       const std::string& source) {
  Diagnostic diagnostic{source, 0, 0, error.pointer, error.message};
  std::size_t offset = error.offset;
  if (offset == kNoOffset && syntax == Syntax::json) {
    PositionTable table;
    table.want(error.pointer);
    find_json_positions(text, table);
    const TokenOffsets found = table.at(error.pointer);
    offset = found.key != kNoOffset ? found.key : found.value;
  }
  if (offset != kNoOffset) set_position(diagnostic, text, offset);
  throw InputError({diagnostic});
}

Document parse_as(Syntax syntax, std::string_view text, const std::string& source) {
  try {
    return {text, syntax, syntax == Syntax::json ? parse_json(text) : parse_yaml(text)};
  } catch (const DocumentError& error) {
    fail(error, text, syntax, source);
  }
}

[[noreturn]] void fail_to_read(const std::string& path, const std::string& reason) {
  throw InputError({Diagnostic{path, 0, 0, "", "cannot be read: " + reason}});
}

std::string read_stream(std::FILE* stream, const std::string& path, std::size_t most_bytes) {
  std::string text;
  char block[65536];
  while (const std::size_t count = std::fread(block, 1, sizeof block, stream)) {
    text.append(block, count);
    if (text.size() > most_bytes)
      fail_to_read(path, fmt::format("longer than {} MB", most_bytes / 1'000'000));
  }
  if (std::ferror(stream) != 0) fail_to_read(path, std::strerror(errno));
  return text;
}

}  // namespace

Document parse_document(std::string_view text, const std::string& source) {
  if (text.size() > kMaxTextBytes) fail_to_read(source, "longer than 16 MB");
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const bool yaml_name = source.ends_with(".yaml") || source.ends_with(".yml");
  if (looks_like_json(text)) {
    if (!yaml_name) return parse_as(Syntax::json, text, source);
    try {
      return parse_as(Syntax::json, text, source);
    } catch (const InputError&) {  // a YAML flow mapping, perhaps
    }
  }
  if (const std::size_t bad = first_invalid_utf8(text); bad != std::string_view::npos) {
    fail({bad, "", "the text is not UTF-8"}, text, Syntax::yaml, source);
  }
  return parse_as(Syntax::yaml, text, source);
}

void find_positions(const Document& document, PositionTable& table) {
  if (document.syntax == Syntax::json) {
    find_json_positions(document.text, table);
  } else {
    parse_yaml(document.text, &table);
  }
}

void set_position(Diagnostic& diagnostic, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  diagnostic.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  diagnostic.column = 1;
  for (const char c : before.substr(line_start)) {
    const bool continuation = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    diagnostic.column += continuation ? 0 : 1;
  }
}

std::string read_text(const std::string& path, std::size_t most_bytes) {
  if (path == "-") return read_stream(stdin, path, most_bytes);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) fail_to_read(path, std::strerror(errno));
  return read_stream(file.get(), path, most_bytes);
}

}  // namespace orrery
