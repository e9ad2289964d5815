#include "apps/page_origin.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "apps/version.hpp"
#include "orrery/printable.hpp"
#include "planner/emit/export_report.hpp"
#include "reports/picture/svg_text.hpp"

namespace orrery {
namespace {

constexpr std::string_view kCharset = "<meta charset=\"utf-8\">\n";
struct LeftOut {
  std::string_view option;
  bool has_value;  ///< the next argument, unless it stands behind a "="
};
constexpr std::array<LeftOut, 3> kLeftOut{{{"--quiet", false}, {"--threads", true}, {"--html", true}}};

/// Null for what is not left out.
const LeftOut* left_out_as(std::string_view argument) {
  const auto found = std::ranges::find(kLeftOut, argument.substr(0, argument.find('=')), &LeftOut::option);
  return found == kLeftOut.end() ? nullptr : &*found;
}

std::string without_folders(const std::string& word) {
  return word.starts_with('/') ? word.substr(word.rfind('/') + 1) : word;
}

std::string meta(std::string_view name, std::string_view content) {
  return "<meta name=\"" + std::string(name) + "\" content=\"" + xml_text(one_line(content)) + "\">\n";
}

}  // namespace

std::string command_line_of(const std::vector<std::string>& arguments) {
  std::string line = "orrery";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const LeftOut* left_out = left_out_as(arguments[i]);
    if (left_out == nullptr) {
      line += " " + shell_quoted(without_folders(arguments[i]));
    } else if (left_out->has_value && arguments[i] == left_out->option) {
      ++i;
    }
  }
  return line;
}

Sink page_to(OutputFile& file, const CommonOptions& common) {
  const std::string origin =
      meta("generator", std::string("Orrery ") + kVersionText) + meta("orrery-command", common.command_line);
  const auto written = std::make_shared<bool>(false);
  return [&file, origin, written](std::string_view text) {
    const std::size_t at = *written ? text.npos : text.find(kCharset);
    if (at == text.npos) return file.write(text);
    *written = true;
    file.write(text.substr(0, at + kCharset.size()));
    file.write(origin);
    file.write(text.substr(at + kCharset.size()));
  };
}

}  // namespace orrery
