#include <memory>

#include "orrery/simulate.hpp"
#include "sim/long_run/long_run_result.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/serving_run.hpp"
#include "sim/run/training_run.hpp"
#include "sim/step/memo.hpp"

namespace orrery {
namespace {

Report simulate_with(const Experiment& experiment, const Figures& figures, Memo& memo);

/// Figures of the weeks of training that the experiment is a step of.
LongRunFigures long_run_of(const Experiment& experiment, Memo& memo) {
  const auto step = [&memo](const Experiment& one) { return simulate_with(one, {}, memo); };
  return figures_of_long_run(simulate_long_run(experiment, step));
}

Report simulate_with(const Experiment& experiment, const Figures& figures, Memo& memo) {
  const PreparedExperiment prepared = prepare(experiment, memo);
  Report report = experiment.inference ? report_on_serving(prepared, figures, memo)
                                       : simulate_training(prepared, figures, memo);
  const bool lasts = figures.long_run && experiment.run && report.makespan_ps > 0 && report.feasible;
  if (lasts) report.long_run = long_run_of(experiment, memo);
  return report;
}

}  // namespace

struct Simulator::Kept {
  explicit Kept(std::size_t most_bytes) : memo(most_bytes) {}
  Memo memo;
};

Simulator::Simulator(std::size_t most_bytes) : kept_(std::make_unique<Kept>(most_bytes)) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

Report Simulator::simulate(const Experiment& experiment, const Figures& figures) {
  return simulate_with(experiment, figures, kept_->memo);
}

Report simulate(const Experiment& experiment, const Figures& figures) {
  Memo memo;
  return simulate_with(experiment, figures, memo);
}

}  // namespace orrery
