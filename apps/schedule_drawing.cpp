#include "apps/schedule_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/picture/chunk_letters.hpp"

namespace orrery {
namespace {

constexpr std::array kLetters{'F', 'B', 'I', 'W'};  ///< by PassKind

class Drawing {
 public:
  explicit Drawing(const ScheduleDrawing& what)
      : what_(what), label_(fmt::format("rank {} ", what.ranks.size() - 1).size()) {
    for (const std::vector<TimedPass>& rank : what_.ranks) {
      if (!rank.empty()) end_ = std::max(end_, rank.back().end);
      for (const TimedPass& timed : rank) cell_ = std::max(cell_, name(timed.pass).size() + 1);
    }
    const auto room = static_cast<std::size_t>(what_.columns) - std::min<std::size_t>(label_, what_.columns);
    per_block_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(room / cell_));
  }

  std::string draw() {
    std::string text;
    std::int64_t from = 0;
    for (std::int64_t blocks = 0; from < end_; ++blocks, from += per_block_) {
      if (what_.most_blocks > 0 && blocks == what_.most_blocks) break;
      text += block(from, std::min(from + per_block_, end_));
    }
    if (from < end_) text += fmt::format("... {} more units of time; --all draws them\n", end_ - from);
    return text;
  }

 private:
  [[nodiscard]] std::string name(const Pass& pass) const {
    return fmt::format("{}{}{}", kLetters[static_cast<std::size_t>(pass.kind)], pass.micro_batch,
                       what_.chunks > 1 ? chunk_letters(pass.chunk) : "");
  }

  [[nodiscard]] std::string block(std::int64_t from, std::int64_t to) const {
    std::string text = from > 0 ? "\n" : "";
    text += fmt::format("{:<{}}{}\n", "time", label_, from);
    for (std::size_t rank = 0; rank < what_.ranks.size(); ++rank) {
      std::string line = fmt::format("{:<{}}", fmt::format("rank {}", rank), label_);
      line += cells(what_.ranks[rank], from, to);
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
  }

  /// The units [from, to) of a rank: the name of a pass where it begins, dashes while it goes on, a dot where
  /// the rank idles.
  [[nodiscard]] std::string cells(const std::vector<TimedPass>& rank, std::int64_t from,
                                  std::int64_t to) const {
    std::string line;
    auto at = std::ranges::upper_bound(rank, from, {}, &TimedPass::end);
    for (std::int64_t unit = from; unit < to; ++unit) {
      if (at != rank.end() && at->end <= unit) ++at;
      const bool runs = at != rank.end() && at->begin <= unit;
      const std::string idle = at == rank.end() ? "" : ".";
      const std::string what = !runs               ? idle
                               : at->begin == unit ? name(at->pass)
                                                   : std::string(cell_ - 1, '-');
      line += fmt::format("{:<{}}", what, cell_);
    }
    return line;
  }

  const ScheduleDrawing& what_;
  std::size_t label_;           ///< characters before the first cell
  std::size_t cell_ = 2;        ///< characters, with the blank behind it
  std::int64_t end_ = 0;        ///< units
  std::int64_t per_block_ = 1;  ///< units
};

}  // namespace

std::string draw_schedule(const ScheduleDrawing& drawing) { return Drawing(drawing).draw(); }

}  // namespace orrery
