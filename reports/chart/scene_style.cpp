#include "reports/chart/scene_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {
namespace {

struct SeriesStyle {
  std::string_view light;    ///< on white
  std::string_view dark;     ///< on black
  std::string_view dashes;   ///< an attribute
  std::string_view mark;     ///< a path around a point
  std::string_view texture;  ///< paths on a tile of 6 by 6; "" for none
};

// The colours are those of Okabe and Ito ("Color Universal Design", 2008), in an order in which neighbours
// differ in lightness; so pages have them.
constexpr std::array<SeriesStyle, kSceneStyles> kSeriesStyles{
    {{"#0072b2", "#56a8dc", "", "m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0z", ""},
     {"#e69f00", "#f0b429", " stroke-dasharray=\"6 2.5\"", "m-2.4-2.4h4.8v4.8h-4.8z",
      "M0 6L6 0M-1 1L1-1M5 7L7 5"},
     {"#009e73", "#2fbf94", " stroke-dasharray=\"1.5 2\"", "m0-3.1l3 5.2h-6z", "M1.5 1.5h0M4.5 4.5h0"},
     {"#d55e00", "#f0793a", " stroke-dasharray=\"7 2 1.5 2\"", "m0-3.4l3.4 3.4l-3.4 3.4l-3.4-3.4z",
      "M0 0L6 6M-1 5L1 7M5-1L7 1"},
     {"#6b4c9a", "#a68bd0", " stroke-dasharray=\"3 2\"", "m0 3.1l3-5.2h-6z", "M0 3h6"},
     {"#56b4e9", "#8ec6ec", " stroke-dasharray=\"9 3\"", "m-3-1h2v-2h2v2h2v2h-2v2h-2v-2h-2z", "M3 0v6"},
     {"#a0522d", "#c98a63", " stroke-dasharray=\"5 2 1.5 2 1.5 2\"", "m-3.2 0l3.2-2l3.2 2l-3.2 2z",
      "M0 6L6 0M-1 1L1-1M5 7L7 5M0 0L6 6M-1 5L1 7M5-1L7 1"},
     {"#4d4d4d", "#cfcfcf", " stroke-dasharray=\"1.5 4\"", "m-1.3-3h2.6v6h-2.6z", "M0 3h6M3 0v6"}}};

std::string colours(bool dark) {
  std::string css = dark
                        ? ".b{fill:#16181c}.t{fill:#f2f2f2}.l{fill:#e6e6e6}.m{fill:#b0b0b0}.g{stroke:#33373d}"
                          ".a{stroke:#a0a0a0}.r{stroke:#d0d0d0}.o,.p,.h{stroke:#16181c}.c0{stroke:#54585f}"
                          ".c1{stroke:#80858d}.c2{stroke:#b4b9c1}.n{fill:#24272c}"
                        : ".b{fill:#fff}.t{fill:#111}.l{fill:#222}.m{fill:#555}.g{stroke:#e2e2e2}"
                          ".a{stroke:#555}.r{stroke:#333}.o,.p,.h{stroke:#fff}.c0{stroke:#c4c4c4}"
                          ".c1{stroke:#9a9a9a}.c2{stroke:#6e6e6e}.n{fill:#efefef}";
  for (std::size_t i = 0; i < kSeriesStyles.size(); ++i) {
    const std::string_view colour = dark ? kSeriesStyles[i].dark : kSeriesStyles[i].light;
    css += fmt::format(".f{0}{{fill:{1}}}.s{0}{{stroke:{1}}}", i, colour);
  }
  return css;
}

}  // namespace

std::string scene_css(const SceneFormat& format) {
  const std::string_view family = format.serif ? "'Times New Roman',Times,'Liberation Serif',serif"
                                               : "Helvetica,Arial,'Liberation Sans',sans-serif";
  return fmt::format(
      "text{{font-family:{}}}.t{{font-size:{}px;font-weight:bold}}.l{{font-size:{}px}}.m{{font-size:{}px}}"
      ".g,.a,.r,.o,.c0,.c1,.c2,.d{{fill:none}}.g,.a{{stroke-width:.8}}.r{{stroke-width:1.1}}"
      ".d{{stroke-width:1.6;stroke-linejoin:round}}.o{{stroke-width:1}}.p{{stroke-width:.5}}"
      ".h{{stroke-width:2.5;stroke-linejoin:round;paint-order:stroke}}"
      ".c0,.c1,.c2{{stroke-width:2.6;stroke-linecap:round}}{}@media (prefers-color-scheme:dark){{{}}}",
      family, kTitleSize, kLabelSize, kSmallSize, colours(false), colours(true));
}

bool has_texture(std::size_t style) { return !kSeriesStyles[style % kSceneStyles].texture.empty(); }

std::string scene_textures(std::size_t styles) {
  std::string text;
  for (std::size_t i = 0; i < std::min(styles, kSceneStyles); ++i) {
    if (!has_texture(i)) continue;
    const bool dots = kSeriesStyles[i].texture.find("h0") != std::string_view::npos;
    text += fmt::format(
        "<pattern id=\"t{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path class=\"o\"{} "
        "d=\"{}\"/></pattern>",
        i, dots ? " style=\"stroke-width:2;stroke-linecap:round\"" : "", kSeriesStyles[i].texture);
  }
  return text.empty() ? "" : "<defs>" + text + "</defs>\n";
}

std::string_view dashes_of(std::size_t style) { return kSeriesStyles[style % kSceneStyles].dashes; }

std::string_view mark_of(std::size_t style) { return kSeriesStyles[style % kSceneStyles].mark; }

}  // namespace orrery
