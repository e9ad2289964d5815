// Declares options of commands that draw charts: --svg, --png and --pdf, with the size and the font.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "apps/outputs.hpp"
#include "reports/chart/scene.hpp"
#include "reports/chart/scene_style.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace orrery {

struct ChartArguments {
  std::string svg, png, pdf;  ///< files; empty: none
  std::string width, height;  ///< lengths on paper; empty: the usual ones
  std::string font = "sans";
  bool no_title = false;
  bool no_caption = false;

  [[nodiscard]] bool any() const { return !svg.empty() || !png.empty() || !pdf.empty(); }
};

/// Adds the options. `contents`: the picture's, such as "the lines of the chart".
/// @param with_width  false where the command has a --width of its own, which fills ChartArguments::width
/// @return --svg, --png and --pdf
std::vector<CLI::Option*> add_chart_options(CLI::App& app, ChartArguments& arguments,
                                            const std::string& contents, bool with_width = true);

/// Refuses names of pictures that end as another format does, such as --svg x.pdf. `png_as_svg`: --svg takes
/// names in .png, too.
/// @throws InputError with the option that writes such a file
void require_matching_endings(const ChartArguments& arguments, bool png_as_svg);

/// The files of one chart: opened and checked before the work, drawn after it.
class ChartFiles {
 public:
  /// @throws InputError for names that end as another format does, and sizes that no picture has; RunError
  /// where PNG or PDF cannot be written
  ChartFiles(const ChartArguments& arguments, Outputs& outputs);

  [[nodiscard]] bool any() const { return svg_ != nullptr || png_ != nullptr || pdf_ != nullptr; }
  void write(const ChartScene& scene) const;

 private:
  SceneFormat format_;
  OutputFile* svg_;
  OutputFile* png_;
  OutputFile* pdf_;
};

}  // namespace orrery
