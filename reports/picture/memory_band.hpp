// Draws memory over time below the row of a stage in a picture: an area, and the limit as a dashed line.
#pragma once

#include <string>
#include <vector>

#include "reports/picture/blocks.hpp"

namespace orrery {

class MemoryBand {
 public:
  /// Makes a band without memory, which has no height.
  MemoryBand() = default;
  /// All rows have the same scale, which reaches the limit and the highest peak.
  MemoryBand(const std::vector<StageRow>& rows, Bytes limit);

  [[nodiscard]] int height() const { return full_ == 0 ? 0 : kHeight + kGap; }
  /// Elements of SVG; `bottom` in pixels.
  [[nodiscard]] std::string drawn(const StageRow& row, const PixelScale& scale, Picoseconds run_end,
                                  int bottom) const;
  [[nodiscard]] std::string legend() const;
  [[nodiscard]] std::string sample() const;
  /// Rules of CSS.
  [[nodiscard]] std::string colours(bool dark) const;

 private:
  static constexpr int kHeight = 24, kGap = 4;  // pixels

  /// Returns the height of `bytes` bytes, in hundredths of a pixel above the bottom.
  [[nodiscard]] std::int64_t height_of(Bytes bytes) const;
  [[nodiscard]] std::string outline(const StageRow& row, const PixelScale& scale, Picoseconds run_end) const;

  Bytes limit_ = 0;  ///< 0: unknown
  Bytes full_ = 0;   ///< that the band is as high as
};

/// The most that is held.
[[nodiscard]] Bytes peak_of(const MemoryTimeline& memory);

/// Bytes in 1e9 with one decimal: "61.2 GB".
[[nodiscard]] std::string gigabytes(Bytes bytes);

}  // namespace orrery
