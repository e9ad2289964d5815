// Writes validation results as text for a terminal, JSON, CSV and a page of documentation.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/chart/scene.hpp"
#include "studies/validate/ranking.hpp"
#include "studies/validate/validate.hpp"

namespace orrery {

/// Where text goes, as for the writers of results.
using TextSink = std::function<void(std::string_view)>;

void write_validation_text(const std::vector<TableResult>& results, const TextSink& sink);
/// The object of the interface (`orrery validate --json`).
void write_validation_json(const std::vector<TableResult>& results, const TextSink& sink);
/// A page of HTML, with the object of write_validation_json() in it.
void write_validation_html(const std::vector<TableResult>& results, const TextSink& sink);
/// A header line, then one line per row and figure, skipped rows with their reason.
void write_validation_csv(const std::vector<TableResult>& results, const TextSink& sink);
/// Writes a Markdown page; `command` is the command that wrote it.
void write_validation_page(const std::vector<TableResult>& results, std::string_view command,
                           const TextSink& sink);

/// Writes each case of at least kSmallestGroup plans, means over cases, and memory results.
void write_ranking_text(const std::vector<RankedCase>& cases, const TextSink& sink);
/// Writes {"cases": [...]}: every case, with the result of choosing by each kind of prediction.
void write_ranking_json(const std::vector<RankedCase>& cases, const TextSink& sink);

/// Returns the chart of one figure: predicted over measured, on equal scales. `figure`: its key; "":
/// step_time_s, or the first measured one.
/// @throws InputError for a figure that no table has
[[nodiscard]] ChartScene validation_scene(const std::vector<TableResult>& tables, const std::string& figure);

}  // namespace orrery
