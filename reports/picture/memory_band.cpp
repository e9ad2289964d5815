#include "reports/picture/memory_band.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/picture/svg_text.hpp"

namespace orrery {

Bytes peak_of(const MemoryTimeline& memory) {
  Bytes peak = 0;
  for (const MemoryPoint& point : memory) peak = std::max(peak, point.bytes);
  return peak;
}

std::string gigabytes(Bytes bytes) {
  const auto tenths = static_cast<std::int64_t>(divide_rounded(bytes, 100'000'000));
  return fmt::format("{}.{} GB", tenths / 10, tenths % 10);
}

MemoryBand::MemoryBand(const std::vector<StageRow>& rows, Bytes limit)
    : limit_(limit), full_(std::max<Bytes>(1, limit)) {
  for (const StageRow& row : rows) full_ = std::max(full_, peak_of(row.memory));
}

std::int64_t MemoryBand::height_of(Bytes bytes) const {
  return static_cast<std::int64_t>(divide_rounded(Int128{bytes} * 100 * kHeight, full_));
}

/// The highest value within every pixel, so that no peak is lost.
std::string MemoryBand::outline(const StageRow& row, const PixelScale& scale, Picoseconds run_end) const {
  const Picoseconds from = scale.window().from_ps;
  const Picoseconds pixel = scale.time_of(1);
  const MemoryTimeline& points = row.memory;
  auto next = std::ranges::upper_bound(points, from, {}, &MemoryPoint::at_ps);
  Bytes held = std::prev(next)->bytes;
  std::int64_t drawn = height_of(held);
  std::string path = fmt::format("v{}", hundredths(-drawn));
  for (Picoseconds at = from; at < run_end && next != points.end();) {
    at = std::max(at, next->at_ps);  // nothing changes until then
    if (at >= run_end) break;
    Bytes highest = next->at_ps > at ? held : 0;
    for (; next != points.end() && next->at_ps < at + pixel; ++next) {
      held = next->bytes;
      highest = std::max(highest, held);
    }
    const std::int64_t height = height_of(highest);
    if (height != drawn) path += fmt::format("H{}v{}", hundredths(scale.at(at)), hundredths(drawn - height));
    drawn = height;
    at += pixel;
    if (height_of(held) == drawn || at >= run_end) continue;
    path += fmt::format("H{}v{}", hundredths(scale.at(at)), hundredths(drawn - height_of(held)));
    drawn = height_of(held);
  }
  return path;
}

std::string MemoryBand::drawn(const StageRow& row, const PixelScale& scale, Picoseconds run_end,
                              int bottom) const {
  if (full_ == 0) return "";
  const std::string left = hundredths(scale.at(scale.window().from_ps));
  const std::string right = hundredths(scale.at(run_end));
  std::string out =
      fmt::format("<text class=\"m\" x=\"8\" y=\"{}\">{}</text>", bottom - 4, gigabytes(peak_of(row.memory)));
  out += fmt::format("<path class=\"y\" d=\"M{} {}{}H{}V{}z\"/>", left, bottom, outline(row, scale, run_end),
                     right, bottom);
  if (limit_ > 0)
    out += fmt::format("<path class=\"x\" d=\"M{} {}H{}\"/>", left,
                       hundredths(std::int64_t{100} * bottom - height_of(limit_)), right);
  return out + "\n";
}

std::string MemoryBand::legend() const {
  return limit_ > 0 ? fmt::format("memory and its limit of {}; left: its peak", gigabytes(limit_))
                    : "memory; left: its peak";
}

std::string MemoryBand::sample() const {
  std::string out = "<path class=\"y\" d=\"M0 2v-7h12v7z\"/>";
  return limit_ > 0 ? out + "<path class=\"x\" d=\"M0 -9h12\"/>" : out;
}

std::string MemoryBand::colours(bool dark) const {
  if (full_ == 0) return "";
  return dark ? ".y{fill:#5b6b7d}.x{stroke:#ff8a8a;stroke-dasharray:4 3}"
              : ".y{fill:#b9c4d0}.x{stroke:#b00020;stroke-dasharray:4 3}";
}

}  // namespace orrery
