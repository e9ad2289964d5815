#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/picture/character_lines.hpp"
#include "reports/picture/characters.hpp"
#include "reports/picture/memory_band.hpp"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 9> kEighths{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// The most that is held in each cell, from the beginning of the run to its end.
std::vector<Bytes> peaks(const CharacterLines& lines, const MemoryTimeline& memory, Picoseconds end) {
  std::vector<Bytes> cells;
  auto next = memory.begin();
  Bytes held = 0;
  for (int cell = 0; cell < lines.cells() && lines.start_of(cell) < end; ++cell) {
    while (next != memory.end() && next->at_ps <= lines.start_of(cell)) held = (next++)->bytes;
    Bytes highest = held;
    for (; next != memory.end() && next->at_ps < lines.start_of(cell + 1); ++next) {
      held = next->bytes;
      highest = std::max(highest, held);
    }
    cells.push_back(highest);
  }
  return cells;
}

/// Rounds up, so that memory in use is never drawn as nothing.
std::string_view block_of(Bytes bytes, Bytes full) {
  const auto eighths = static_cast<std::size_t>((Int128{bytes} * 8 + full - 1) / full);
  return kEighths[std::min<std::size_t>(eighths, 8)];
}

std::vector<std::string> legend(Bytes limit, Bytes full, bool with_peaks) {
  std::vector<std::string> parts;
  parts.push_back(limit == full ? fmt::format("full height: the limit of {}", gigabytes(full))
                                : fmt::format("full height: {}", gigabytes(full)));
  if (limit > 0 && limit < full) parts.push_back(fmt::format("more than the limit of {}", gigabytes(limit)));
  if (with_peaks) parts.emplace_back("right: the peak");
  return parts;
}

}  // namespace

std::string draw_memory(const RunView& run, const RankGrid& grid, const Report& report,
                        const CharacterOptions& options) {
  const Picoseconds end = run.timeline.makespan_ps;
  const TimeWindow window = drawn_window(options.from_ps, options.to_ps, end);
  const auto stages = drawn_stages(options.stages, static_cast<std::uint32_t>(grid.size(Axis::pipeline)));
  return draw_memory_of(stage_rows(run, grid, stages, window, true), window, end, report.gpu_usable_memory,
                        options);
}

std::string draw_memory_of(const std::vector<StageRow>& rows, TimeWindow window, Picoseconds end, Bytes limit,
                           const CharacterOptions& options) {
  const CharacterLines lines(rows, window, options.columns);
  Bytes full = std::max<Bytes>(1, limit);
  for (const StageRow& row : rows) full = std::max(full, peak_of(row.memory));
  std::string out;
  for (const StageRow& row : rows) {
    out += lines.label(row);
    const std::vector<Bytes> cells = peaks(lines, row.memory, end);
    for (const Bytes bytes : cells) out += block_of(bytes, full);
    const auto rest = static_cast<std::size_t>(lines.cells()) - cells.size();
    if (lines.has_figures()) out += std::string(rest, ' ') + lines.figure(gigabytes(peak_of(row.memory)));
    out.resize(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  return out + lines.axis() + lines.list(legend(limit, full, lines.has_figures()));
}

}  // namespace orrery
