#include "reports/picture/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "reports/picture/blocks.hpp"
#include "reports/picture/chunk_letters.hpp"
#include "reports/picture/memory_band.hpp"
#include "reports/picture/stage_rows.hpp"
#include "reports/picture/svg_text.hpp"
#include "reports/picture/time_text.hpp"

namespace orrery {
namespace {

// Pixels.
constexpr int kLeft = 76, kRight = 20, kTop = 56;
constexpr int kPassHeight = 22, kLaneHeight = 6, kLaneGap = 1, kRowGap = 12;
constexpr int kLabelHeight = 28;    // of the stage and the rank in front of a row
constexpr int kLetterWidth = 7;     // of the texts of 12, on average
constexpr int kSeparatedWidth = 4;  // a pass at least this wide is told from that before it
constexpr int kLegendLine = 20;
constexpr int kTickRoom = 80;  // that a time and its label take

constexpr std::int64_t kDigitWidth = 500, kNumberMargin = 50;  // of numbers, in hundredths of a pixel

/// A text of 200 kB holds this many blocks and numbers.
constexpr std::size_t kMostBlocks = 12'000;
constexpr std::size_t kBlocksOfNumber = 3;

/// Holds the blocks that are drawn of a row, in pixels.
struct RowBlocks {
  std::vector<DrawnBlock> passes;
  std::array<std::vector<DrawnBlock>, kActivityCount> lanes;

  [[nodiscard]] std::size_t count() const {
    std::size_t blocks = passes.size();
    for (const auto& lane : lanes) blocks += lane.size();
    return blocks;
  }
};

/// One horizontal stroke for each block of an activity, moves between them.
std::string strokes(const std::vector<DrawnBlock>& blocks, Activity activity, int middle) {
  std::string path;
  std::int64_t at = 0;
  for (const DrawnBlock& block : blocks) {
    if (block.activity != activity) continue;
    path += path.empty() ? fmt::format("M{} {}", hundredths(block.left), middle)
                         : fmt::format("m{} 0", hundredths(block.left - at));
    path += fmt::format("h{}", hundredths(block.right - block.left));
    at = block.right;
  }
  return path;
}

class Picture {
 public:
  Picture(const DrawnRun& run, int width)
      : run_(run),
        width_(width),
        window_(run.window),
        scale_(window_, kLeft, width_ - kLeft - kRight),
        run_end_(std::min(run.makespan_ps, window_.to_ps)),
        rows_(run.rows),
        memory_(run.has_memory ? MemoryBand(rows_, run.memory_limit) : MemoryBand()) {
    for (const StageRow& row : rows_) note(row);
    make_blocks();
  }

  std::string text() {
    draw_axis();
    for (std::size_t i = 0; i < rows_.size(); ++i) draw_row(rows_[i], blocks_[i], top_of(i));
    draw_legend();
    return head() + body_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
  }
  [[nodiscard]] bool is_used(Activity activity) const { return used_[static_cast<std::size_t>(activity)]; }

  /// Which activities there are to draw and to explain.
  void note(const StageRow& row) {
    for (const DrawnPass& pass : row.passes) {
      for (const ActivitySpan& span : pass.spans) used_[static_cast<std::size_t>(span.activity)] = true;
    }
    for (std::size_t a = 0; a < kActivityCount; ++a) used_[a] = used_[a] || !row.lanes[a].empty();
    chunks_ = std::max(chunks_, row.chunks);
  }

  /// Draws blocks as finely as the limit on the text allows.
  void make_blocks() {
    std::size_t drawn = 0;
    for (std::int64_t detail = 2; detail == 2 || drawn > kMostBlocks; detail *= 2) {
      drawn = 0;
      blocks_.clear();
      for (const StageRow& row : rows_) {
        RowBlocks& blocks = blocks_.emplace_back();
        blocks.passes = blocks_of_passes(row.passes, scale_, detail);
        for (std::size_t a = 0; a < kActivityCount; ++a)
          blocks.lanes[a] = blocks_of_lane(row.lanes[a], scale_, detail);
        drawn += blocks.count() + kBlocksOfNumber * numbered_passes(row);
      }
      if (detail > width_) break;
    }
  }

  [[nodiscard]] std::size_t numbered_passes(const StageRow& row) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(row.passes, [&](const DrawnPass& pass) { return !number_of(pass).empty(); }));
  }

  [[nodiscard]] std::int64_t width_of(const DrawnPass& pass) const {
    return scale_.at(pass.spans.back().finish_ps) - scale_.at(pass.spans.front().start_ps);
  }

  /// Returns the label of a pass: its micro-batch and the letter of its chunk, or as much as there is room
  /// for.
  [[nodiscard]] std::string number_of(const DrawnPass& pass) const {
    if (pass.micro_batch < 0) return "";
    const auto fits = [&](const std::string& text) {
      return width_of(pass) >= kDigitWidth * static_cast<std::int64_t>(text.size()) + kNumberMargin;
    };
    const std::string number = std::to_string(pass.micro_batch);
    const std::string whole = chunks_ > 1 ? number + chunk_letters(pass.chunk) : number;
    return fits(whole) ? whole : fits(number) ? number : "";
  }

  [[nodiscard]] int lanes() const {
    int count = 0;
    for (auto a = Activity::tensor; a <= Activity::offload; a = next(a)) count += is_used(a) ? 1 : 0;
    return count;
  }
  static bool is_pass(Activity activity) {
    return activity <= Activity::optimizer || activity >= Activity::prefill;
  }
  static Activity next(Activity activity) {
    return static_cast<Activity>(static_cast<std::size_t>(activity) + 1);
  }
  [[nodiscard]] int lanes_height() const { return lanes() * (kLaneHeight + kLaneGap); }
  [[nodiscard]] int row_height() const {
    return std::max(kPassHeight + lanes_height(), kLabelHeight) + memory_.height() + kRowGap;
  }
  [[nodiscard]] int top_of(std::size_t row) const { return kTop + static_cast<int>(row) * row_height(); }
  [[nodiscard]] int bottom() const { return top_of(rows_.size()) - kRowGap / 2; }

  void draw_axis() {
    const std::int64_t most = std::max(1, (width_ - kLeft - kRight) / kTickRoom);
    std::string lines;
    for (const TimeTick& tick : time_ticks(window_.from_ps, window_.to_ps, most)) {
      const std::string x = hundredths(scale_.at(tick.at_ps));
      lines += fmt::format("M{} {}V{}", x, kTop - 4, bottom() + 2);
      const auto label = static_cast<std::int64_t>(tick.label.size()) * kLetterWidth;
      const bool fits = scale_.at(tick.at_ps) + 50 * label + 400 <= 100 * width_;
      add("<text class=\"l {}\" x=\"{}\" y=\"{}\">{}</text>\n", fits ? "c" : "r",
          fits ? x : std::to_string(width_ - 2), bottom() + 16, tick.label);
    }
    add("<path class=\"g\" d=\"{}\"/>\n", lines);
  }

  void draw_row(const StageRow& row, const RowBlocks& blocks, int top) {
    add("<text class=\"l\" x=\"8\" y=\"{}\">{}</text><text class=\"m\" x=\"8\" y=\"{}\">{}</text>\n",
        top + 12, row.name, top + 25, row.note);
    draw_waits(top);
    for (auto a = Activity::forward; a <= Activity::prefill_and_decode; a = next(a)) {
      if (is_pass(a)) draw_strokes(blocks.passes, a, top + kPassHeight / 2, kPassHeight);
    }
    draw_separators(row, top);
    draw_numbers(row, top);
    int lane_top = top + kPassHeight + kLaneGap;
    for (auto a = Activity::tensor; a <= Activity::offload; a = next(a)) {
      if (!is_used(a)) continue;
      draw_strokes(blocks.lanes[static_cast<std::size_t>(a)], a, lane_top + kLaneHeight / 2, kLaneHeight);
      lane_top += kLaneHeight + kLaneGap;
    }
    body_ += memory_.drawn(row, scale_, run_end_, top + row_height() - kRowGap);
  }

  /// Behind the passes, so that it shows where there are none.
  void draw_waits(int top) {
    const std::int64_t left = scale_.at(window_.from_ps);
    add("<rect class=\"w\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", hundredths(left), top,
        hundredths(scale_.at(run_end_) - left), kPassHeight);
  }

  void draw_strokes(const std::vector<DrawnBlock>& blocks, Activity activity, int middle, int height) {
    const std::string path = strokes(blocks, activity, middle);
    if (path.empty()) return;
    add("<path class=\"a{}\" stroke-width=\"{}\" d=\"{}\"/>\n", static_cast<int>(activity), height, path);
  }

  /// Between passes that follow each other at once.
  void draw_separators(const StageRow& row, int top) {
    std::string lines;
    for (std::size_t i = 1; i < row.passes.size(); ++i) {
      const std::int64_t left = scale_.at(row.passes[i].spans.front().start_ps);
      const std::int64_t before = scale_.at(row.passes[i - 1].spans.back().finish_ps);
      const auto narrower = std::min(width_of(row.passes[i - 1]), width_of(row.passes[i]));
      if (left - before >= 100 || narrower < 100 * kSeparatedWidth) continue;
      lines += fmt::format("M{} {}v{}", hundredths(left), top, kPassHeight);
    }
    if (!lines.empty()) add("<path class=\"e\" d=\"{}\"/>\n", lines);
  }

  void draw_numbers(const StageRow& row, int top) {
    std::string numbers;
    std::string on_light;
    for (const DrawnPass& pass : row.passes) {
      const std::string number = number_of(pass);
      if (number.empty()) continue;
      const std::int64_t left = scale_.at(pass.spans.front().start_ps);
      (pass.phase == Phase::weight_gradient ? on_light : numbers) +=
          fmt::format("<text x=\"{}\">{}</text>", hundredths(left + width_of(pass) / 2), number);
    }
    add_numbers("n", numbers, top);
    add_numbers("n k", on_light, top);
  }

  void add_numbers(std::string_view style, const std::string& numbers, int top) {
    if (!numbers.empty())
      add("<g class=\"{}\" transform=\"translate(0,{})\">{}</g>\n", style, top + kPassHeight / 2 + 3,
          numbers);
  }

  /// Places in the legend, from left to right and line by line.
  struct LegendPlace {
    int x = kLeft;
    int y = 0;
  };
  LegendPlace place_legend(std::size_t letters) {
    const int width = 18 + kLetterWidth * static_cast<int>(letters) + 16;
    if (legend_.x > kLeft && legend_.x + width > width_) legend_ = {kLeft, legend_.y + kLegendLine};
    const LegendPlace place = legend_;
    legend_.x += width;
    return place;
  }

  void draw_legend() {
    legend_.y = bottom() + 40;
    for (auto a = Activity::forward; a <= Activity::prefill_and_decode; a = next(a)) {
      if (is_used(a))
        explain(style_of(a).name,
                fmt::format("<path class=\"a{}\" stroke-width=\"12\" d=\"M0 -4h12\"/>", static_cast<int>(a)));
    }
    explain(run_.waiting, "<rect class=\"w\" y=\"-10\" width=\"12\" height=\"12\"/>");
    if (memory_.height() > 0) explain(memory_.legend(), memory_.sample());
    explain_numbers();
    height_ = legend_.y + 16;
  }

  void explain(std::string_view text, std::string_view sample) {
    const LegendPlace place = place_legend(text.size());
    add("<g transform=\"translate({},{})\">{}<text class=\"l\" x=\"18\">{}</text></g>\n", place.x, place.y,
        sample, text);
  }

  void explain_numbers() {
    const bool any =
        std::ranges::any_of(rows_, [&](const StageRow& row) { return numbered_passes(row) > 0; });
    if (!any) return;
    explain(chunks_ > 1 ? "micro-batch and chunk" : "micro-batch",
            fmt::format("<path class=\"a0\" stroke-width=\"12\" d=\"M-2 -4h16\"/><text class=\"n\" x=\"6\" "
                        "y=\"-1\">{}</text>",
                        chunks_ > 1 ? "0a" : "0"));
  }

  // The head is written last, since it gives the height of the picture.

  [[nodiscard]] std::string title() const {
    const bool whole = window_.from_ps == 0 && window_.to_ps == run_.makespan_ps;
    std::string text = run_.whole;
    if (!whole)
      text = fmt::format("{} to {} of {}", time_text(window_.from_ps), time_text(window_.to_ps), text);
    const std::size_t room = static_cast<std::size_t>(width_ - kLeft) / (kLetterWidth + 1);
    const std::string name = run_.name.empty() ? "unnamed experiment" : run_.name;
    const std::size_t rest = room > text.size() + 12 ? room - text.size() - 2 : 10;
    return xml_text(cut_text(name, rest) + ": " + text);
  }

  /// Writes a description for readers who cannot see the picture: how busy each GPU is.
  [[nodiscard]] std::string description() const {
    std::string text = fmt::format(
        "Timeline of {}. {} Share of the time in which it computes:", run_.subtitle, run_.explained);
    for (const StageRow& row : rows_) {
      const std::int64_t tenths = static_cast<std::int64_t>(
          divide_rounded(Int128{row.busy_ps()} * 1000, std::max<Picoseconds>(1, run_end_ - window_.from_ps)));
      text += fmt::format(" {} {}.{} %,", row.name, tenths / 10, tenths % 10);
    }
    text.back() = '.';
    return text;
  }

  /// Colours of a light or a dark page.
  [[nodiscard]] std::string colours(bool dark) const {
    std::string css =
        dark ? ".b{fill:#16181c}.l,.t{fill:#e6e6e6}.m{fill:#a8a8a8}.g{stroke:#444}"
               ".e{stroke:#16181c}.h{stroke:#777}.k{fill:#fff}"
             : ".b{fill:#fff}.l{fill:#333}.t{fill:#111}.m{fill:#666}.g{stroke:#ccc}.e{stroke:#fff}"
               ".h{stroke:#bbb}.n{stroke:#00000099}.k{fill:#111;stroke:none}";
    for (std::size_t a = 0; a < kActivityCount; ++a) {
      if (used_[a])
        css +=
            fmt::format(".a{}{{stroke:{}}}", a, dark ? kActivityStyles[a].dark : kActivityStyles[a].colour);
    }
    return css + memory_.colours(dark);
  }

  [[nodiscard]] std::string head() const {
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "role=\"img\" aria-labelledby=\"title description\" font-family=\"sans-serif\">\n",
        width_, height_);
    out += fmt::format("<title id=\"title\">{}</title>\n<desc id=\"description\">{}</desc>\n", title(),
                       xml_text(description()));
    out +=
        "<style>path{fill:none}.l{font-size:12px}.m{font-size:10px}.c{text-anchor:middle}.r{text-anchor:end}";
    out +=
        ".t{font-size:14px}.w{fill:url(#waiting)}.n{font-size:8px;fill:#fff;text-anchor:middle;"
        "stroke-width:1.6px;paint-order:stroke;stroke-linejoin:round}";
    out += colours(false) + "@media(prefers-color-scheme:dark){" + colours(true) + "}</style>\n";
    out +=
        "<defs><pattern id=\"waiting\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><path class=\"h\" d=\"M1 0V5\"/></pattern></defs>\n";
    out += fmt::format("<rect class=\"b\" width=\"{}\" height=\"{}\"/>\n", width_, height_);
    out += fmt::format(
        "<text class=\"t\" x=\"{0}\" y=\"20\">{1}</text><text class=\"m\" x=\"{0}\" y=\"38\">{2}</text>\n",
        kLeft, title(), run_.subtitle);
    return out;
  }

  const DrawnRun& run_;
  int width_;
  TimeWindow window_;
  PixelScale scale_;
  Picoseconds run_end_;  ///< or that of the window
  const std::vector<StageRow>& rows_;
  MemoryBand memory_;
  std::array<bool, kActivityCount> used_{};
  std::int32_t chunks_ = 1;
  std::vector<RowBlocks> blocks_;
  std::string body_;
  LegendPlace legend_;
  int height_ = 0;
};

std::string rows_of_stages(std::size_t rows, std::uint32_t stages, std::int64_t gpus) {
  if (rows < stages) return fmt::format("one GPU of each of {} of {} pipeline stages", rows, stages);
  if (stages > 1) return "one GPU of each pipeline stage";
  return gpus == 1 ? "its GPU" : fmt::format("one of {} GPUs", gpus);
}

}  // namespace

void write_drawn_run(const DrawnRun& run, int width, const Sink& sink) { sink(Picture(run, width).text()); }

void require_picture_width(const PictureOptions& options) {
  if (options.width < PictureOptions::kLeastWidth || options.width > PictureOptions::kMostWidth)
    throw InputError("", fmt::format("picture: found a width of {} pixels, allowed are {} to {}",
                                     options.width, PictureOptions::kLeastWidth, PictureOptions::kMostWidth));
}

void write_picture(const RunView& run, const RankGrid& grid, const Report& report,
                   const PictureOptions& options, const Sink& sink) {
  require_picture_width(options);
  DrawnRun drawn;
  drawn.makespan_ps = run.timeline.makespan_ps;
  drawn.window = drawn_window(options.from_ps, options.to_ps, drawn.makespan_ps);
  const auto stages = static_cast<std::uint32_t>(grid.size(Axis::pipeline));
  drawn.rows = stage_rows(run, grid, drawn_stages(options.stages, stages), drawn.window, options.memory);
  drawn.name = report.name;
  const std::string steps = report.steps == 1 ? "a step" : fmt::format("{} steps, each", report.steps);
  drawn.whole = fmt::format("{} of {}", steps, time_text(report.makespan_ps / report.steps));
  drawn.subtitle = rows_of_stages(drawn.rows.size(), stages, report.gpus);
  drawn.explained = "Each row shows the passes of a GPU above its communication.";
  drawn.waiting = "waiting (bubble, communication)";
  drawn.memory_limit = report.gpu_usable_memory;
  drawn.has_memory = options.memory;
  write_drawn_run(drawn, options.width, sink);
}

}  // namespace orrery
