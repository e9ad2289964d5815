#include "orrery/simulate.hpp"
#include "sim/run/kept_runner.hpp"
#include "sim/run/repeats.hpp"
#include "sim/run/run.hpp"

namespace orrery {
namespace {

Report simulate_with(Runner& runner, const Experiment& experiment, const Figures& figures) {
  const Workload& outlined = runner.outline(experiment);
  if (!figures.of_infeasible) {
    Report memory = memory_report(experiment, outlined);
    if (!memory.feasible) return memory;
  }
  if (experiment.simulation.folding == Folding::automatic) {
    if (std::optional<Report> report = simulate_repeats(experiment, runner, figures))
      return *std::move(report);
  }
  runner.write(experiment.plan.micro_batches());
  const Totals& totals = runner.run(0, figures)->whole;
  return report_on(experiment, totals, runner.view());
}

}  // namespace

struct Simulator::Kept {
  explicit Kept(std::size_t most_bytes) : runner(most_bytes) {}
  KeptRunner runner;
};

Simulator::Simulator(std::size_t most_bytes) : kept_(std::make_unique<Kept>(most_bytes)) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

Report Simulator::simulate(const Experiment& experiment, const Figures& figures) {
  if (KeptRunner::takes(experiment)) return simulate_with(kept_->runner, experiment, figures);
  FreshRunner runner;
  return simulate_with(runner, experiment, figures);
}

Report simulate(const Experiment& experiment) {
  FreshRunner runner;
  return simulate_with(runner, experiment, {});
}

}  // namespace orrery
