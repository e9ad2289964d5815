#include "reports/page/page.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "orrery/printable.hpp"
#include "reports/activity.hpp"
#include "reports/page/assets.hpp"
#include "reports/page/packed_column.hpp"
#include "reports/text/json_text.hpp"

namespace orrery {
namespace {

/// Every page includes these styles and scripts before its own scripts.
constexpr std::array<std::string_view, 3> kStyles{"uPlot.min.css", "page.css", "studies.css"};
constexpr std::array<std::string_view, 8> kScripts{
    "uPlot.iife.min.js", "pako_inflate.min.js", "core.js", "format.js", "dom.js",
    "table.js",          "chart_series.js",     "chart.js"};

const PageAsset& asset(std::string_view name) {
  const auto found = std::ranges::find(page_assets(), name, &PageAsset::name);
  assert(found != page_assets().end());
  return *found;
}

template <class Names>
std::vector<const PageAsset*> assets(const Names& names) {
  std::vector<const PageAsset*> out;
  for (const auto& name : names) out.push_back(&asset(name));
  return out;
}

std::string bytes_of_digits(std::string_view digits) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    unsigned int byte = 0;
    std::from_chars(digits.data() + at, digits.data() + at + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

/// The sources that a directive allows: these texts, by their hashes.
std::string hashes(std::span<const PageAsset* const> list) {
  std::string out;
  for (const PageAsset* one : list) out += " 'sha256-" + base64(bytes_of_digits(one->sha256)) + "'";
  return out;
}

std::string escaped_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

/// JSON that means the same and in which neither a tag nor a comment of HTML nor a line of JavaScript can
/// end: these characters stand in strings alone.
std::string escaped_json(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else if (json.substr(at, 3) == "\xe2\x80\xa8" || json.substr(at, 3) == "\xe2\x80\xa9") {
      out += json[at + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      at += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string activities_json() {
  JsonText text(-1);
  text.begin('[');
  for (const ActivityStyle& style : kActivityStyles) {
    text.element();
    text.begin('{');
    text.key("name");
    text.value(style.name);
    text.key("colour");
    text.value(style.colour);
    text.key("dark");
    text.value(style.dark);
    text.end('}');
  }
  text.end(']');
  return text.take();
}

void write_head(const Page& page, std::span<const PageAsset* const> styles,
                std::span<const PageAsset* const> scripts, const Sink& sink) {
  sink("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
  sink("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src" +
       hashes(scripts) + "; style-src" + hashes(styles) +
       (page.asks_its_server ? "; connect-src 'self'" : "") +
       "; img-src data:; base-uri 'none'; form-action 'none'\">\n");
  sink("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  sink("<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n");
  sink("<title>" + escaped_html(one_line(page.title)) + "</title>\n");
  for (const PageAsset* style : styles) {
    sink("<style>");
    sink(style->text);
    sink("</style>\n");
  }
}

void write_data(const Page& page, const Sink& sink) {
  sink("<script type=\"application/json\" id=\"activities\">" + activities_json() + "</script>\n");
  sink("<script type=\"application/json\" id=\"data\">" + escaped_json(page.data) + "</script>\n");
  for (const PageColumn& column : page.columns) {
    const PackedColumn small = packed(column);
    sink("<script type=\"text/plain\" class=\"column\" data-name=\"" + escaped_html(column.name) +
         "\" data-type=\"" + std::string(column.type) + "\" data-bytes=\"" +
         std::to_string(column.bytes.size()) + (small.differences ? "\" data-differences>" : "\">"));
    sink(base64(small.bytes));
    sink("</script>\n");
  }
}

}  // namespace

void write_page(const Page& page, const Sink& sink) {
  const std::vector<const PageAsset*> styles = assets(kStyles);
  std::vector<const PageAsset*> scripts = assets(kScripts);
  for (const std::string& name : page.scripts) scripts.push_back(&asset(name));
  write_head(page, styles, scripts, sink);
  sink(
      "</head>\n<body>\n<noscript>This page draws its data with JavaScript, which is switched "
      "off.</noscript>\n");
  write_data(page, sink);
  for (const PageAsset* script : scripts) {
    sink("<script>");
    sink(script->text);
    sink("</script>\n");
  }
  sink("</body>\n</html>\n");
}

}  // namespace orrery
