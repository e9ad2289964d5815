// Runs of `converge` as a table, a chart, CSV, JSON and a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/converge_runs.hpp"
#include "orrery/write.hpp"
#include "reports/chart/scene.hpp"

namespace orrery {

struct ConvergeChart {
  bool by_iteration = false;  ///< instead of simulated time
  bool consensus = false;     ///< the disagreement of workers instead of the loss
  bool log_x = false;
  int width = 64, height = 18;
};

/// The curves: loss above the least possible where that is known of all runs, else the loss.
[[nodiscard]] std::string convergence_chart(const std::vector<ConvergenceCurve>& runs,
                                            const ConvergeChart& wanted);

/// Returns the curves as a picture, with `target` drawn in; values that are the rounding of those before are
/// left out.
[[nodiscard]] ChartScene convergence_scene(const std::vector<ConvergenceCurve>& runs,
                                           const ConvergeChart& wanted, std::optional<double> target);

/// Returns a table with a line per run: its final figures, and the first time that its loss was at most
/// `target`. Columns without room are left out and named.
[[nodiscard]] std::string convergence_table(const std::vector<ConvergenceCurve>& runs,
                                            std::optional<double> target, int columns);

[[nodiscard]] std::string convergence_csv(const std::vector<ConvergenceCurve>& runs);
[[nodiscard]] std::string convergence_json(const std::vector<ConvergenceCurve>& runs,
                                           std::optional<double> target);
/// A page of HTML with the object of convergence_json() in it: loss against time and iterations,
/// disagreement.
void write_convergence_page(const std::vector<ConvergenceCurve>& runs, std::optional<double> target,
                            const Sink& sink);

}  // namespace orrery
