#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "reports/picture/character_lines.hpp"
#include "reports/picture/characters.hpp"
#include "reports/picture/chunk_letters.hpp"
#include "reports/picture/stage_rows.hpp"

namespace orrery {
namespace {

constexpr int kNothing = -1;  ///< of Cell::pass: waits

struct Kind {
  char letter;
  std::string_view name;
  Activity activity;
};
constexpr std::array<Kind, 7> kKinds{{{'F', "forward", Activity::forward},
                                      {'B', "backward", Activity::backward},
                                      {'W', "weight gradients", Activity::weight_gradient},
                                      {'O', "optimizer and other work", Activity::optimizer},
                                      {'P', "prefill", Activity::prefill},
                                      {'D', "decode", Activity::decode},
                                      {'M', "prefill and decode", Activity::prefill_and_decode}}};

/// Index in kKinds.
std::size_t kind_of(const DrawnPass& pass) {
  const Activity activity = pass.spans.front().activity;
  if (activity >= Activity::prefill)
    return 4 + static_cast<std::size_t>(activity) - static_cast<std::size_t>(Activity::prefill);
  switch (pass.phase) {
    case Phase::forward:
      return 0;
    case Phase::backward:
    case Phase::recompute:
      return 1;
    case Phase::weight_gradient:
      return 2;
    default:
      return 3;
  }
}

/// Chooses the activity that each cell shows: of the kinds of work in a cell, and waiting, the one that is
/// furthest behind its share of the line so far. Lines thus add up even if passes are shorter than cells.
class CellMaker {
 public:
  CellMaker(const CharacterLines& lines, const StageRow& row) : lines_(lines), row_(row) {
    const Picoseconds cell = lines.start_of(1) - lines.start_of(0);
    for (const DrawnPass& pass : row.passes) {
      std::vector<ActivitySpan>& parts = parts_.emplace_back();
      // Outside of passes, long waits lie between pieces of work that are short: they add up.
      const Picoseconds least = pass.phase == Phase::optimize ? 1 : cell;
      for (const ActivitySpan& span : pass.spans) {
        if (parts.empty() || span.start_ps - parts.back().finish_ps >= least) {
          parts.push_back(span);
        } else {
          parts.back().finish_ps = span.finish_ps;
        }
      }
    }
  }

  [[nodiscard]] std::vector<int> cells() {
    std::vector<int> cells;
    for (int cell = 0; cell < lines_.cells(); ++cell)
      cells.push_back(pass_for(lines_.start_of(cell), lines_.start_of(cell + 1)));
    return cells;
  }

 private:
  /// Holds the time of one kind of activity in a cell.
  struct Part {
    Picoseconds time = 0;
    Picoseconds most = 0;
    int pass = kNothing;  ///< the longest one
  };

  [[nodiscard]] int pass_for(Picoseconds from, Picoseconds to) {
    while (first_ < row_.passes.size() && row_.passes[first_].spans.back().finish_ps <= from) ++first_;
    std::array<Part, kKinds.size() + 1> parts{};
    parts.back().time = to - from;
    for (std::size_t p = first_; p < row_.passes.size() && row_.passes[p].spans.front().start_ps < to; ++p) {
      const Picoseconds busy = busy_between(p, from, to);
      Part& part = parts[kind_of(row_.passes[p])];
      part.time += busy;
      parts.back().time -= busy;
      if (busy > part.most) part.pass = static_cast<int>(p);
      part.most = std::max(part.most, busy);
    }
    std::size_t chosen = parts.size();
    for (std::size_t k = 0; k < parts.size(); ++k) {
      behind_[k] += parts[k].time;
      if (parts[k].time > 0 && (chosen == parts.size() || behind_[k] > behind_[chosen])) chosen = k;
    }
    behind_[chosen] -= to - from;
    return parts[chosen].pass;
  }

  [[nodiscard]] Picoseconds busy_between(std::size_t pass, Picoseconds from, Picoseconds to) const {
    Picoseconds busy = 0;
    for (const ActivitySpan& span : parts_[pass])
      busy += std::max<Picoseconds>(0, std::min(to, span.finish_ps) - std::max(from, span.start_ps));
    return busy;
  }

  const CharacterLines& lines_;
  const StageRow& row_;
  std::vector<std::vector<ActivitySpan>> parts_;  ///< per pass; real passes without waits of less than a cell
  std::size_t first_ = 0;                         ///< pass that has not ended before the cell
  std::array<Picoseconds, kKinds.size() + 1> behind_{};
};

class ScheduleText {
 public:
  ScheduleText(const CharacterLines& lines, const std::vector<StageRow>& rows, Picoseconds end, bool colour)
      : lines_(lines), rows_(rows), end_(end), colour_(colour) {
    for (const StageRow& row : rows) chunks_ = std::max(chunks_, row.chunks);
  }

  std::string text() {
    std::string out;
    for (const StageRow& row : rows_) out += lines_.label(row) + line(row) + share(row) + "\n";
    return out + lines_.axis() + legend();
  }

 private:
  std::string line(const StageRow& row) {
    const std::vector<int> cells = CellMaker(lines_, row).cells();
    std::string out;
    for (std::size_t first = 0; first < cells.size();) {
      std::size_t last = first + 1;
      while (last < cells.size() && cells[last] == cells[first]) ++last;
      out += cells[first] == kNothing
                 ? waits(first, last)
                 : pass(row.passes[static_cast<std::size_t>(cells[first])], last - first);
      first = last;
    }
    return out;
  }

  [[nodiscard]] std::string share(const StageRow& row) const {
    if (!lines_.has_figures()) return "";
    const Picoseconds length = std::min(end_, lines_.start_of(lines_.cells())) - lines_.start_of(0);
    const auto tenths = static_cast<std::int64_t>(divide_rounded(Int128{row.busy_ps()} * 1000, length));
    return CharacterLines::figure(fmt::format("{}.{} %", tenths / 10, tenths % 10));
  }

  /// Dots up to the end of the run.
  [[nodiscard]] std::string waits(std::size_t first, std::size_t last) const {
    std::string out;
    for (; first < last; ++first) out += lines_.start_of(static_cast<int>(first)) < end_ ? '.' : ' ';
    return out;
  }

  std::string pass(const DrawnPass& pass, std::size_t width) {
    const Kind& kind = kKinds[kind_of(pass)];
    used_[kind_of(pass)] = true;
    std::string text(1, kind.letter);
    if (pass.micro_batch >= 0) {
      const std::string number = std::to_string(pass.micro_batch);
      const std::string chunk = chunks_ > 1 ? chunk_letters(pass.chunk) : "";
      if (text.size() + number.size() + chunk.size() <= width) {
        text += number + chunk;
      } else if (text.size() + number.size() <= width) {
        text += number;
      }
    }
    text.resize(width, colour_ ? ' ' : '-');
    return colour_ ? coloured(text, kind.activity) : text;
  }

  [[nodiscard]] bool has_micro_batches() const {
    return std::ranges::any_of(std::span(used_).first(4), std::identity{});
  }
  [[nodiscard]] std::string legend() const {
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < kKinds.size(); ++k) {
      if (!used_[k]) continue;
      const std::string key(1, kKinds[k].letter);
      parts.push_back(
          fmt::format("{} {}", colour_ ? coloured(key, kKinds[k].activity) : key, kKinds[k].name));
    }
    if (has_micro_batches())
      parts.push_back(chunks_ > 1 ? "then micro-batch and chunk" : "then the micro-batch");
    parts.emplace_back("dots: waiting");
    if (lines_.has_figures()) parts.emplace_back("right: share of the time that it computes");
    return lines_.list(parts);
  }

  const CharacterLines& lines_;
  const std::vector<StageRow>& rows_;
  Picoseconds end_;
  bool colour_;
  std::int32_t chunks_ = 1;
  std::array<bool, kKinds.size()> used_{};
};

}  // namespace

std::string draw_rows(const std::vector<StageRow>& rows, TimeWindow window, Picoseconds end,
                      const CharacterOptions& options) {
  const CharacterLines lines(rows, window, options.columns);
  return ScheduleText(lines, rows, end, options.colour).text();
}

std::string draw_schedule(const RunView& run, const RankGrid& grid, const CharacterOptions& options) {
  const Picoseconds end = run.timeline.makespan_ps;
  const TimeWindow window = drawn_window(options.from_ps, options.to_ps, end);
  const auto stages = drawn_stages(options.stages, static_cast<std::uint32_t>(grid.size(Axis::pipeline)));
  const std::vector<StageRow> rows = stage_rows(run, grid, stages, window, false);
  return draw_rows(rows, window, end, options);
}

}  // namespace orrery
