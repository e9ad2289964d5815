// Draws a training run over its days, as a picture and on a page: columns of equal time, each cut into its
// uses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "reports/picture/svg_text.hpp"
#include "studies/long_run/writers.hpp"

namespace orrery {
namespace {

constexpr std::size_t kRunColumns = 480;
constexpr int kRunLeft = 48;
constexpr int kRunTop = 34;
constexpr int kRunHeight = 160;
constexpr int kColumnWidth = 2;
constexpr int kLegendRow = 18;
constexpr int kLegendColumn = 240;
constexpr int kLegendColumns = 4;

/// By TimeUse.
constexpr std::array<std::string_view, kTimeUseCount> kUseColours{"#4c8c5c", "#a7c4a0", "#c9d67b", "#7aa6c2",
                                                                  "#2f5d8a", "#c8553d", "#e0a458", "#b07aa1",
                                                                  "#8c6d31", "#d9d9d9", "#76797c"};

using UseShares = std::array<double, kTimeUseCount>;

/// Shares of the time of each column.
std::vector<UseShares> columns_of(const RunOutcome& run) {
  std::vector<UseShares> columns(kRunColumns);
  const double width = static_cast<double>(run.wall_ps) / kRunColumns;
  if (width <= 0) return columns;
  for (const RunSpan& span : run.spans) {
    const double begin = static_cast<double>(span.begin) / width;
    const double end = std::min(static_cast<double>(span.end) / width, static_cast<double>(kRunColumns));
    for (auto at = static_cast<std::size_t>(begin); at < kRunColumns && static_cast<double>(at) < end; ++at) {
      const double from = std::max(begin, static_cast<double>(at));
      const double to = std::min(end, static_cast<double>(at + 1));
      columns[at][static_cast<std::size_t>(span.use)] += std::max(0.0, to - from);
    }
  }
  return columns;
}

std::string use_name(std::size_t use) {
  std::string name(use == 0 ? "steps" : kTimeUseNames[use]);
  std::ranges::replace(name, '_', ' ');
  return name;
}

class RunPicture {
 public:
  explicit RunPicture(const LongRunResult& result) : run_(result.shown), title_(result.prepared.step.name) {}

  std::string svg() {
    find_uses();
    const int width = kRunLeft + static_cast<int>(kRunColumns) * kColumnWidth + 20;
    const int rows = (static_cast<int>(uses_.size()) + kLegendColumns - 1) / kLegendColumns;
    const int height = kRunTop + kRunHeight + 40 + rows * kLegendRow;
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n<rect width=\"{0}\" "
        "height=\"{1}\" fill=\"#ffffff\"/>\n",
        width, height, xml_text(title_));
    text(kRunLeft, 20, xml_text(cut_text(title_, 120)), "start");
    columns();
    axis();
    legend();
    return out_ + "</svg>\n";
  }

 private:
  void text(int x, int y, std::string_view words, std::string_view anchor) {
    out_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
  }

  void find_uses() {
    for (std::size_t use = 0; use < kTimeUseCount; ++use)
      if (std::ranges::any_of(
              run_.spans, [use](const RunSpan& span) { return static_cast<std::size_t>(span.use) == use; }))
        uses_.push_back(use);
  }

  /// Columns that are alike are one.
  void columns() {
    const std::vector<UseShares> all = columns_of(run_);
    for (std::size_t first = 0; first < all.size();) {
      std::size_t next = first + 1;
      while (next < all.size() && all[next] == all[first]) ++next;
      column(all[first], first, next - first);
      first = next;
    }
  }

  void column(const UseShares& shares, std::size_t at, std::size_t count) {
    double below = 0;
    for (const std::size_t use : uses_) {
      if (shares[use] <= 0) continue;
      const double height = shares[use] * kRunHeight;
      out_ +=
          fmt::format("<rect x=\"{}\" y=\"{:.2f}\" width=\"{}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
                      kRunLeft + static_cast<int>(at) * kColumnWidth, kRunTop + kRunHeight - below - height,
                      static_cast<int>(count) * kColumnWidth, height, kUseColours[use]);
      below += height;
    }
  }

  void axis() {
    const double days = static_cast<double>(run_.wall_ps) * 1e-12 / 86'400;
    const int bottom = kRunTop + kRunHeight;
    for (int tick = 0; tick <= 4; ++tick) {
      const int x = kRunLeft + static_cast<int>(kRunColumns) * kColumnWidth * tick / 4;
      const std::string_view anchor = tick == 4 ? "end" : "middle";
      text(x, bottom + 16, fmt::format("{:.4g}{}", days * tick / 4, tick == 4 ? " days" : ""), anchor);
    }
    text(kRunLeft - 6, bottom, "0 %", "end");
    text(kRunLeft - 6, kRunTop + 10, "100 %", "end");
  }

  void legend() {
    for (std::size_t n = 0; n < uses_.size(); ++n) {
      const int x = kRunLeft + static_cast<int>(n) % kLegendColumns * kLegendColumn;
      const int y = kRunTop + kRunHeight + 40 + static_cast<int>(n) / kLegendColumns * kLegendRow;
      out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", x, y - 9,
                          kUseColours[uses_[n]]);
      text(x + 15, y, fmt::format("{} {:.2f} %", use_name(uses_[n]), 100 * share(uses_[n])), "start");
    }
  }

  /// The part of the spans' time, in which all steps are steps.
  [[nodiscard]] double share(std::size_t use) const {
    LongPicoseconds sum = 0;
    for (const RunSpan& span : run_.spans)
      if (static_cast<std::size_t>(span.use) == use) sum += span.end - span.begin;
    return run_.wall_ps > 0 ? static_cast<double>(sum) / static_cast<double>(run_.wall_ps) : 0;
  }

  const RunOutcome& run_;
  const std::string& title_;
  std::vector<std::size_t> uses_;
  std::string out_;
};

/// Text of several lines, as content of an element.
std::string lines_of_page(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += xml_text(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::string long_run_svg(const LongRunResult& result) { return RunPicture(result).svg(); }

std::string long_run_page(const LongRunResult& result) {
  const std::string title = xml_text(cut_text(result.prepared.step.name, 200));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<title>{0}</title>\n<style>body {{ font-family: sans-serif; margin: 2em; max-width: 70em }} svg {{ "
      "max-width: 100%; height: auto }} pre {{ overflow: auto }}</style>\n</head>\n<body>\n"
      "<h1>{0}</h1>\n<p>The repetition with the median time, day by day. Each column is cut into what its "
      "time was used for; steps are those that count and those that were thrown away.</p>\n{1}"
      "<h2>All repetitions</h2>\n<pre>{2}</pre>\n</body>\n</html>\n",
      title, long_run_svg(result), lines_of_page(long_run_text(result)));
}

}  // namespace orrery
