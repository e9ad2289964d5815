// Settings as text: arguments of a shell, TOML, YAML and JSON.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/printable.hpp"
#include "planner/emit/export_report.hpp"

namespace orrery {
namespace {

bool is_argument(const Setting& setting) { return setting.path.starts_with("--"); }

std::string section_of(const Setting& setting) {
  const std::size_t dot = setting.path.rfind('.');
  return dot == std::string::npos ? "" : setting.path.substr(0, dot);
}

std::string name_of(const Setting& setting) { return setting.path.substr(setting.path.rfind('.') + 1); }

/// A value in JSON that TOML and YAML read alike: all control characters escaped, an exponent behind a point.
std::string literal(const EmitJson& value) {
  std::string text = value.dump(-1, ' ', false, EmitJson::error_handler_t::replace);
  if (value.is_number_float() && text.find('.') == std::string::npos)
    text.insert(std::min(text.find('e'), text.size()), ".0");
  if (!value.is_string()) return text;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const Character next = first_character(rest);
    const bool hidden = is_control(next.code_point);
    if (hidden) {
      const std::string digits = escaped(next.code_point);
      out += digits.starts_with("\\x") ? "\\u00" + digits.substr(2) : digits;
    } else {
      out += rest.substr(0, next.bytes);
    }
    rest.remove_prefix(next.bytes);
  }
  return out;
}

/// The words of an argument's value.
std::vector<std::string> words_of(const EmitJson& value) {
  if (value.is_boolean()) return {};
  if (value.is_string()) return {value.get<std::string>()};
  if (!value.is_array()) return {literal(value)};
  std::vector<std::string> words;
  for (const EmitJson& item : value) words.push_back(words_of(item).front());
  return words;
}

/// Behind the setting, or above it where there is something to say.
std::string origin(const Entry& entry) { return "  # " + entry.key + " = " + entry.value; }

std::string remark_above(const Entry& entry, std::string_view indent) {
  return entry.remark.empty() ? "" : std::string(indent) + "# " + entry.remark + "\n";
}

/// A setting with the entry that it comes from.
struct Line {
  const Entry* entry;
  const Setting* setting;
};

std::vector<Line> lines_of(const ExportReport& sheet, bool arguments) {
  std::vector<Line> lines;
  for (const Entry& entry : sheet.entries())
    for (const Setting& setting : entry.settings)
      if (is_argument(setting) == arguments) lines.push_back({&entry, &setting});
  return lines;
}

std::vector<std::string> sections_of(const std::vector<Line>& lines) {
  std::vector<std::string> sections;
  for (const Line& line : lines)
    if (std::ranges::find(sections, section_of(*line.setting)) == sections.end())
      sections.push_back(section_of(*line.setting));
  std::ranges::stable_sort(sections, {}, [](const std::string& section) { return !section.empty(); });
  return sections;
}

/// Every section with its lines: `open` begins one, `assign` stands between a name and its value.
std::string by_section(const ExportReport& sheet, std::string (*open)(const std::string&),
                       std::string_view indent, std::string_view assign) {
  const std::vector<Line> lines = lines_of(sheet, false);
  std::string text;
  for (const std::string& section : sections_of(lines)) {
    const std::string_view in = section.empty() ? "" : indent;
    if (!section.empty()) text += open(section);
    for (const Line& line : lines) {
      if (section_of(*line.setting) != section) continue;
      const bool first = line.setting == &line.entry->settings.front();
      if (first) text += remark_above(*line.entry, in);
      text += std::string(in) + name_of(*line.setting) + std::string(assign) + literal(line.setting->value) +
              origin(*line.entry) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string shell_arguments(std::string_view name, const ExportReport& sheet) {
  std::string text = std::string(name) + "=(\n";
  for (const Line& line : lines_of(sheet, true)) {
    if (line.setting->value == false) continue;
    if (line.setting == &line.entry->settings.front()) text += remark_above(*line.entry, "  ");
    text += "  " + line.setting->path;
    for (const std::string& word : words_of(line.setting->value)) text += " " + shell_quoted(word);
    text += origin(*line.entry) + "\n";
  }
  return text + ")\n";
}

std::string settings_as_json(const ExportReport& sheet) {
  EmitJson all = EmitJson::object();
  for (const Line& line : lines_of(sheet, false)) {
    std::string pointer = "/" + line.setting->path;
    std::ranges::replace(pointer, '.', '/');
    all[EmitJson::json_pointer(pointer)] = line.setting->value;
  }
  return all.dump(2, ' ', false, EmitJson::error_handler_t::replace) + "\n";
}

std::string settings_as_comments(const ExportReport& sheet) {
  std::string text;
  for (const Line& line : lines_of(sheet, false)) {
    text += "#   " + line.setting->path + ": " + line.entry->key + " = " + line.entry->value;
    text += (line.entry->remark.empty() ? "" : " (" + line.entry->remark + ")") + "\n";
  }
  return text;
}

std::string settings_as_toml(const ExportReport& sheet) {
  return by_section(
      sheet, [](const std::string& section) { return "\n[" + section + "]\n"; }, "", " = ");
}

std::string settings_as_yaml(const ExportReport& sheet) {
  return by_section(
      sheet, [](const std::string& section) { return section + ":\n"; }, "  ", ": ");
}

}  // namespace orrery
