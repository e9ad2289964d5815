#include "reports/chart/write_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/printable.hpp"
#include "reports/chart/picture_text.hpp"
#include "reports/chart/scene_layout.hpp"
#include "reports/chart/scene_marks.hpp"
#include "reports/picture/svg_text.hpp"

namespace orrery {
namespace {

void require_size(const SceneFormat& format) {
  const auto within = [](int size, int least, int most) { return size >= least && size <= most; };
  if (!within(format.width, SceneFormat::kLeastWidth, SceneFormat::kMostWidth))
    throw InputError("", fmt::format("picture: found a width of {} pixels, allowed are {} to {}",
                                     format.width, SceneFormat::kLeastWidth, SceneFormat::kMostWidth));
  if (format.height != 0 && !within(format.height, SceneFormat::kLeastHeight, SceneFormat::kMostHeight))
    throw InputError("", fmt::format("picture: found a height of {} pixels, allowed are {} to {}",
                                     format.height, SceneFormat::kLeastHeight, SceneFormat::kMostHeight));
}

class SceneWriter {
 public:
  SceneWriter(const ChartScene& scene, const SceneFormat& format)
      : scene_(scene), format_(format), layout_(layout_of(scene, format)), styles_(styles_of(scene)) {}

  std::string text() {
    draw_head();
    draw_grid();
    draw_contents();
    draw_axes();
    draw_labels();
    draw_legend();
    draw_caption();
    return std::move(body_) + "</svg>\n";
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
  }

  void write(std::string_view style, std::string_view anchor, double x, double y, std::string_view text) {
    if (text.empty()) return;
    add("<text class=\"{}\"{} x=\"{}\" y=\"{}\">{}</text>\n", style, anchor, pixels(x), pixels(y),
        xml_text(one_line(text)));
  }

  static bool is_filled(const SceneSeries& series) {
    return series.mark == SeriesMark::bars || series.mark == SeriesMark::areas;
  }
  [[nodiscard]] std::size_t textures() const {
    return std::ranges::any_of(scene_.series, is_filled) ? scene_.series.size() : 0;
  }

  void draw_head() {
    const int width = static_cast<int>(layout_.width);
    const int height = static_cast<int>(std::ceil(layout_.height));
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n<style>{4}</style>\n",
        width, height, xml_text(one_line(scene_.title)), xml_text(one_line(description())),
        scene_css(format_));
    body_ += scene_textures(textures());
    add("<rect class=\"b\" width=\"{}\" height=\"{}\"/>\n", width, height);
    write("t", "", 8, 8 + kTitleSize - 2, layout_.title);
  }

  /// Says for readers who cannot see it which chart this is.
  [[nodiscard]] std::string description() const {
    std::string text = scene_.map ? scene_.map->label + " by " : "";
    text += fmt::format("{} over {}.", scene_.y.label.empty() ? "rows" : scene_.y.label, scene_.x.label);
    for (const SceneSeries& one : scene_.series)
      if (!one.name.empty()) text += fmt::format(" {}: {} points.", one.name, one.points.size());
    return scene_.caption.empty() ? text : text + " " + scene_.caption;
  }

  void draw_grid() {
    std::string lines;
    if (scene_.x.scale != AxisScale::names)
      for (const SceneTick& tick : layout_.x_ticks)
        lines += fmt::format("M{} {}V{}", pixels(tick.at), pixels(layout_.top), pixels(layout_.bottom));
    if (scene_.y.scale != AxisScale::names)
      for (const SceneTick& tick : layout_.y_ticks)
        lines += fmt::format("M{} {}H{}", pixels(layout_.left), pixels(tick.at), pixels(layout_.right));
    if (!lines.empty()) add("<path class=\"g\" d=\"{}\"/>\n", lines);
  }

  void draw_contents() {
    if (scene_.map) body_ += drawn_map(scene_, layout_);
    body_ += drawn_bars(scene_, layout_) + drawn_areas(scene_, layout_);
    for (const SceneRule& rule : scene_.rules)
      if (is_on_paper(rule, layout_)) draw_rule(rule);
    for (std::size_t i = 0; i < scene_.series.size(); ++i)
      if (!is_filled(scene_.series[i])) body_ += drawn_series(scene_.series[i], styles_[i], layout_);
  }

  void draw_rule(const SceneRule& rule) {
    add("<path class=\"r\"{} d=\"", rule.is_main ? "" : " stroke-dasharray=\"4 3\"");
    if (rule.kind == RuleKind::horizontal) {
      add("M{} {}H{}", pixels(layout_.left), pixels(layout_.y.at(rule.at)), pixels(layout_.right));
    } else if (rule.kind == RuleKind::vertical) {
      add("M{} {}V{}", pixels(layout_.x.at(rule.at)), pixels(layout_.top), pixels(layout_.bottom));
    } else {
      const double low = std::max(layout_.x.low(), layout_.y.low() / rule.at);
      const double high = std::min(layout_.x.high(), layout_.y.high() / rule.at);
      if (low < high)
        add("M{} {}L{} {}", pixels(layout_.x.at(low)), pixels(layout_.y.at(low * rule.at)),
            pixels(layout_.x.at(high)), pixels(layout_.y.at(high * rule.at)));
    }
    body_ += "\"/>\n";
  }

  void draw_axes() {
    std::string lines = fmt::format("M{} {}V{}H{}", pixels(layout_.left), pixels(layout_.top),
                                    pixels(layout_.bottom), pixels(layout_.right));
    for (const SceneTick& tick : layout_.x_ticks) {
      if (scene_.x.scale != AxisScale::names)
        lines += fmt::format("M{} {}v4", pixels(tick.at), pixels(layout_.bottom));
      write("m", " text-anchor=\"middle\"", tick.at, layout_.bottom + 14, tick.text);
    }
    for (const SceneTick& tick : layout_.y_ticks) {
      if (scene_.y.scale != AxisScale::names)
        lines += fmt::format("M{} {}h-4", pixels(layout_.left), pixels(tick.at));
      write("m", " text-anchor=\"end\"", layout_.left - 6, tick.at + 3.3, tick.text);
    }
    add("<path class=\"a\" d=\"{}\"/>\n", lines);
    write("l", " text-anchor=\"middle\"", (layout_.left + layout_.right) / 2, layout_.bottom + 29,
          fitting_picture_text(scene_.x.label, layout_.width - 16, kLabelSize));
    if (scene_.y.label.empty()) return;
    const double middle = (layout_.top + layout_.bottom) / 2;
    const std::string label = fitting_picture_text(scene_.y.label, layout_.height - 8, kLabelSize);
    const double half = picture_text_width(label, kLabelSize) / 2;
    const double at =
        std::clamp(middle, std::min(half + 4, middle), std::max(layout_.height - half - 4, middle));
    add("<text class=\"l\" text-anchor=\"middle\" transform=\"translate(17,{}) rotate(-90)\">{}</text>\n",
        pixels(at), xml_text(one_line(label)));
  }

  /// Beside their points, on the side that has more room.
  void draw_labels() {
    for (const SceneLabel& label : scene_.labels) {
      if (!layout_.x.takes(label.x) || !layout_.y.takes(label.y)) continue;
      const double x = layout_.x.at(label.x);
      const bool right = x < layout_.width / 2;
      const double room = (right ? layout_.width - 4 - x : x - layout_.left) - 8;
      write("m h", right ? "" : " text-anchor=\"end\"", right ? x + 6 : x - 6, layout_.y.at(label.y) - 4,
            fitting_picture_text(label.text, room, kSmallSize));
    }
  }

  void draw_legend() {
    for (const LegendEntry& entry : layout_.legend) {
      const std::string place = fmt::format("M{} {}", pixels(entry.x), pixels(entry.y - 3));
      if (entry.kind == LegendEntry::Kind::rule) {
        add("<path class=\"r\"{} d=\"{}h16\"/>\n",
            scene_.rules[entry.index].is_main ? "" : " stroke-dasharray=\"4 3\"", place);
      } else {
        draw_sample(scene_.series[entry.index], styles_[entry.index], place);
      }
      write("m", "", entry.x + 21, entry.y, entry.text);
    }
  }

  void draw_sample(const SceneSeries& series, std::size_t style, const std::string& place) {
    const auto mark = [&](std::string_view move) {
      add("<path class=\"p f{}\" d=\"{}{}{}\"/>\n", style, place, move, mark_of(style));
    };
    if (series.mark == SeriesMark::cloud) {
      add("<path class=\"c1\" d=\"{0}m4 1h0m4-2h0m4 2h0\"/>\n", place);
    } else if (series.mark == SeriesMark::points) {
      mark("m8 0");
    } else if (is_filled(series)) {
      add("<path class=\"f{}\" d=\"{}m2-4h12v8h-12z\"/>\n", style, place);
      if (has_texture(style)) add("<path fill=\"url(#t{})\" d=\"{}m2-4h12v8h-12z\"/>\n", style, place);
    } else {
      add("<path class=\"d s{}\"{} d=\"{}h17\"/>\n", style, dashes_of(style), place);
      if (series.mark == SeriesMark::line_with_points) mark("m8 0");
    }
  }

  void draw_caption() {
    double y = layout_.bottom + (scene_.x.label.empty() ? 28 : 44);
    for (const std::string& line : layout_.caption) {
      write("m", "", 8, y, line);
      y += 12;
    }
  }

  const ChartScene& scene_;
  const SceneFormat& format_;
  SceneLayout layout_;
  std::vector<std::size_t> styles_;
  std::string body_;
};

}  // namespace

void write_scene(const ChartScene& scene, const SceneFormat& format, const Sink& sink) {
  require_size(format);
  sink(SceneWriter(scene, format).text());
}

}  // namespace orrery
