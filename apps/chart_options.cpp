#include "apps/chart_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/option_checks.hpp"
#include "apps/paper_length.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "orrery/file_ending.hpp"
#include "reports/chart/write_scene.hpp"
#include "reports/picture/rendering.hpp"

namespace orrery {
namespace {

constexpr const char* kSans = "sans";
constexpr const char* kSerif = "serif";

struct FormatEnding {
  std::string_view ending;
  std::string_view option;
};
constexpr std::array<FormatEnding, 7> kEndings{{{".svg", "--svg"},
                                                {".svgz", "--svg"},
                                                {".png", "--png"},
                                                {".pdf", "--pdf"},
                                                {".html", "--html"},
                                                {".json", "--json"},
                                                {".csv", "--csv"}}};

[[noreturn]] void refuse_picture(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

void require_matching_ending(std::string_view option, const std::string& file, bool png_as_svg) {
  for (const FormatEnding& known : kEndings) {
    if (!has_ending(file, known.ending) || known.option == option) continue;
    if (png_as_svg && option == "--svg" && known.ending == ".png") continue;
    refuse_picture(std::string(option) + ": found " + quote(file) + ", which ends as another format does; " +
                   std::string(known.option) + " writes " + std::string(known.ending));
  }
}

SceneFormat format_of(const ChartArguments& arguments) {
  SceneFormat format;
  if (!arguments.width.empty())
    format.width =
        parse_paper_length(arguments.width, "--width", SceneFormat::kLeastWidth, SceneFormat::kMostWidth);
  if (!arguments.height.empty())
    format.height =
        parse_paper_length(arguments.height, "--height", SceneFormat::kLeastHeight, SceneFormat::kMostHeight);
  format.serif = arguments.font == kSerif;
  format.title = !arguments.no_title;
  format.caption = !arguments.no_caption;
  return format;
}

/// Options that shape a picture are mistakes without one.
void require_picture(const ChartArguments& arguments) {
  if (arguments.any()) return;
  const auto require = [](const char* option, bool given) {
    if (given) refuse_picture(std::string(option) + " does nothing without --svg, --png or --pdf");
  };
  require("--width", !arguments.width.empty());
  require("--height", !arguments.height.empty());
  require("--font", arguments.font != kSans);
  require("--no-title", arguments.no_title);
  require("--no-caption", arguments.no_caption);
}

}  // namespace

std::vector<CLI::Option*> add_chart_options(CLI::App& app, ChartArguments& arguments,
                                            const std::string& contents, bool with_width) {
  CLI::Option* svg = add_output(app, "--svg", arguments.svg, "Draw " + contents + " as SVG");
  CLI::Option* png = add_output(app, "--png", arguments.png, "The same as PNG");
  CLI::Option* pdf = add_output(app, "--pdf", arguments.pdf, "The same as PDF");
  if (with_width) {
    app.add_option(
           "--width", arguments.width,
           "Of the picture: pixels, or a length such as 3.33in, 85mm, 240pt, column or page (7in, the "
           "default)")
        ->type_name("LENGTH");
    app.add_option("--height", arguments.height, "Of the picture; by default one that suits it")
        ->type_name("LENGTH");
  }
  app.add_option("--font", arguments.font, "Of the picture")
      ->check(one_of({kSans, kSerif}))
      ->capture_default_str();
  app.add_flag("--no-title", arguments.no_title, "A picture without its title, which a paper sets below");
  app.add_flag("--no-caption", arguments.no_caption, "A picture without the line of units and conditions");
  return {svg, png, pdf};
}

void require_matching_endings(const ChartArguments& arguments, bool png_as_svg) {
  require_matching_ending("--svg", arguments.svg, png_as_svg);
  require_matching_ending("--png", arguments.png, png_as_svg);
  require_matching_ending("--pdf", arguments.pdf, png_as_svg);
}

ChartFiles::ChartFiles(const ChartArguments& arguments, Outputs& outputs) {
  require_picture(arguments);
  require_matching_endings(arguments, false);
  format_ = format_of(arguments);
  if (!arguments.png.empty()) require_renderer(RenderedFormat::png);
  if (!arguments.pdf.empty()) require_renderer(RenderedFormat::pdf);
  svg_ = outputs.open(arguments.svg);
  png_ = outputs.open(arguments.png);
  pdf_ = outputs.open(arguments.pdf);
}

void ChartFiles::write(const ChartScene& scene) const {
  if (!any()) return;
  std::string svg;
  write_scene(scene, format_, [&svg](std::string_view text) { svg += text; });
  if (svg_ != nullptr) svg_->write(svg);
  if (png_ != nullptr) write_rendered(RenderedFormat::png, svg, to(*png_));
  if (pdf_ != nullptr) write_rendered(RenderedFormat::pdf, svg, to(*pdf_));
}

}  // namespace orrery
