// Draws a run in characters, for terminals: passes of the stages over time, the memory of each stage over the
// same time, and the machine. With colours where they are wanted, else with letters.
#pragma once

#include <string>

#include "orrery/experiment.hpp"
#include "orrery/rank_grid.hpp"
#include "orrery/report.hpp"
#include "orrery/write.hpp"
#include "reports/picture/stage_rows.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

struct CharacterOptions {
  static constexpr int kLeastColumns = 20;
  static constexpr int kMostColumns = 400;
  std::vector<std::uint32_t> stages;  ///< as PictureOptions
  Picoseconds from_ps = 0;
  Picoseconds to_ps = 0;
  int columns = 80;
  bool colour = false;  ///< ANSI colours of 256
};

/// Draws a line for each stage. A cell shows the activity of its GPU in its time; if there are several, they
/// alternate by their shares: the letter of a pass where it begins (F forward, B backward, W weight
/// gradients, O work that belongs to no micro-batch), then its micro-batch and the letter of its chunk where
/// there is room, dashes while it goes on, a dot while the GPU waits.
/// @throws InputError as write_picture()
[[nodiscard]] std::string draw_schedule(const RunView& run, const RankGrid& grid,
                                        const CharacterOptions& options);

/// Draws a line for each stage: the memory of a GPU, in eighths of the larger of limit and peak, and the
/// peak.
/// @throws InputError as write_picture()
[[nodiscard]] std::string draw_memory(const RunView& run, const RankGrid& grid, const Report& report,
                                      const CharacterOptions& options);

/// Both of rows that were made already, of a run that ends at `end`; a limit of 0 is unknown.
[[nodiscard]] std::string draw_rows(const std::vector<StageRow>& rows, TimeWindow window, Picoseconds end,
                                    const CharacterOptions& options);
[[nodiscard]] std::string draw_memory_of(const std::vector<StageRow>& rows, TimeWindow window,
                                         Picoseconds end, Bytes limit, const CharacterOptions& options);

/// The levels of the machine, from the links between sites and nodes to the GPUs: how many there are, the
/// pace that collectives sustain on them, and how much of the run they carry data for.
[[nodiscard]] std::string draw_topology(const Cluster& cluster, const RunView& run, int columns);

}  // namespace orrery
