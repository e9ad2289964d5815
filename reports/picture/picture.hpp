// Draws the picture of a run: for one GPU of each pipeline stage its passes with the numbers of their
// micro-batches, below them its communication, and its memory where asked for.
#pragma once

#include "orrery/rank_grid.hpp"
#include "orrery/report.hpp"
#include "orrery/write.hpp"
#include "reports/picture/stage_rows.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

/// SVG that is readable on light and on dark pages and needs nothing else. Equal runs make equal bytes.
/// @throws InputError for a stage that does not exist, a window without a part of the run, or a width out of
/// bounds
void write_picture(const RunView& run, const RankGrid& grid, const Report& report,
                   const PictureOptions& options, const Sink& sink);

/// Draws rows that were made already.
void write_drawn_run(const DrawnRun& run, int width, const Sink& sink);

/// @throws InputError for a width out of bounds
void require_picture_width(const PictureOptions& options);

}  // namespace orrery
