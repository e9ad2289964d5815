// Turns spans of time into blocks of pixels. Spans too narrow to see are drawn together with their
// neighbours, each activity as wide as its time, so that a picture of a million operations is small and its
// colours add up.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/picture/stage_rows.hpp"

namespace orrery {

/// Maps times to a line of pixels.
class PixelScale {
 public:
  PixelScale(TimeWindow window, int left, int width) : window_(window), left_(left), width_(width) {}
  /// Returns the position of a time in hundredths of a pixel.
  [[nodiscard]] std::int64_t at(Picoseconds time) const {
    return std::int64_t{100} * left_ +
           static_cast<std::int64_t>(
               divide_rounded(Int128{time - window_.from_ps} * 100 * width_, window_.length_ps()));
  }
  /// Returns the time that `pixels` pixels stand for, at least 1 ps.
  [[nodiscard]] Picoseconds time_of(std::int64_t pixels) const {
    return static_cast<Picoseconds>(Int128{window_.length_ps()} * pixels / width_) + 1;
  }
  [[nodiscard]] TimeWindow window() const { return window_; }

 private:
  TimeWindow window_;
  int left_;
  int width_;
};

/// Describes a block from `left` to `right`, in hundredths of a pixel.
struct DrawnBlock {
  Activity activity{};
  std::int64_t left = 0;
  std::int64_t right = 0;
};

/// Passes from their beginning to their end but for waits of a pixel or more. A pass whose kinds of work
/// follow each other faster than every `detail` pixels is drawn as one block of each kind, and passes
/// narrower than that together with those behind them.
[[nodiscard]] std::vector<DrawnBlock> blocks_of_passes(const std::vector<DrawnPass>& passes,
                                                       const PixelScale& scale, std::int64_t detail);

/// Returns the blocks of spans. Spans narrower than `detail` pixels are merged with their neighbours until
/// they are 0.8 pixels: one block as wide as all of them. A span without neighbours within 16 pixels is drawn
/// 0.8 pixels wide at least.
[[nodiscard]] std::vector<DrawnBlock> blocks_of_lane(const std::vector<ActivitySpan>& lane,
                                                     const PixelScale& scale, std::int64_t detail);

}  // namespace orrery
