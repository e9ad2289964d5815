// Lines of characters over time: labels of stages in front, cells that share a span of time, and an axis
// below.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/picture/stage_rows.hpp"

namespace orrery {

class CharacterLines {
 public:
  /// Lines of at most `columns`, at least 20.
  CharacterLines(const std::vector<StageRow>& rows, TimeWindow window, int columns);

  [[nodiscard]] int cells() const { return cells_; }
  /// Returns the start of a cell; cells() gives the end of the window.
  [[nodiscard]] Picoseconds start_of(int cell) const {
    return window_.from_ps + static_cast<Picoseconds>(Int128{window_.length_ps()} * cell / cells_);
  }
  /// "stage 12 ", as wide for all rows; without the word on narrow lines.
  [[nodiscard]] std::string label(const StageRow& row) const;
  /// Returns true if there is room for a figure of each row behind its cells.
  [[nodiscard]] bool has_figures() const { return words_; }
  /// A short text, to the right of that room.
  [[nodiscard]] static std::string figure(std::string_view text);
  /// A line of round times below the cells where they are.
  [[nodiscard]] std::string axis() const;
  /// The parts with commas between them, wrapped().
  [[nodiscard]] std::string list(const std::vector<std::string>& parts) const;

 private:
  TimeWindow window_;
  int columns_;
  bool words_;  ///< in labels, and figures behind
  std::size_t label_width_;
  int cells_;
};

/// Words with single blanks between them on lines of at most `columns`, where a word is not longer; each
/// line ended.
[[nodiscard]] std::string wrapped(std::string_view words, int columns);

/// Returns text on the colour of an activity, in the nearest of 256 colours.
[[nodiscard]] std::string coloured(std::string_view text, Activity activity);

/// Columns that `text` takes without its sequences of colours.
[[nodiscard]] std::size_t visible_width(std::string_view text);

}  // namespace orrery
