#include "sim/run/weeks.hpp"

#include "sim/long_run/long_run_result.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/training_run.hpp"

namespace orrery {

void add_weeks(const Experiment& experiment, const Figures& figures, Memo& memo, Report& report) {
  if (!figures.long_run || !experiment.run || report.makespan_ps == 0 || !report.feasible) return;
  const auto step = [&memo](const Experiment& one) {
    return simulate_training(prepare(one, memo), {}, memo);
  };
  report.long_run = figures_of_long_run(simulate_long_run(experiment, step));
}

}  // namespace orrery
