// Styles of series in charts: colours that people who see no red, no green or no blue can tell apart, and
// beside them marks, dashes and textures that a grey printer leaves.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

/// Formatting of text and paper.
struct SceneFormat {
  /// Widths in pixels of 1/96 inch.
  static constexpr int kColumnWidth = 320;  ///< a column of a paper in two columns: 3.33 inches
  static constexpr int kPageWidth = 672;    ///< the text of a paper in one column: 7 inches
  static constexpr int kLeastWidth = 160, kMostWidth = 20'000;
  static constexpr int kLeastHeight = 100, kMostHeight = 20'000;

  int width = kPageWidth;
  int height = 0;  ///< 0: one that suits the chart
  bool serif = false;
  bool title = true;
  bool caption = true;
};

/// Sizes of text in pixels: 9, 8 and 7 points.
inline constexpr double kTitleSize = 12, kLabelSize = 10.67, kSmallSize = 9.33;

/// Number of styles; further series repeat them.
inline constexpr std::size_t kSceneStyles = 8;

/// Rules of CSS, on light and on dark pages.
[[nodiscard]] std::string scene_css(const SceneFormat& format);
/// Definitions of the textures of bars, `styles` of them.
[[nodiscard]] std::string scene_textures(std::size_t styles);
/// Returns true if bars of the style have a texture, whose id is "t" and the style's number.
[[nodiscard]] bool has_texture(std::size_t style);
/// Returns the dashes of a line: an attribute, or "".
[[nodiscard]] std::string_view dashes_of(std::size_t style);
/// Returns the path of a mark around the point where the path is.
[[nodiscard]] std::string_view mark_of(std::size_t style);

}  // namespace orrery
