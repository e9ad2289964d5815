#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "orrery/simulate.hpp"
#include "sim/metrics/memory_fit.hpp"
#include "sim/run/kept_runner.hpp"
#include "sim/run/repeats.hpp"
#include "sim/run/run.hpp"

namespace orrery {
namespace {

Report simulate_with(Runner& runner, const Experiment& experiment, const Figures& figures) {
  const Workload& outlined = runner.outline(experiment);
  if (!figures.of_infeasible && !fits(experiment, outlined.stage_memory))
    return memory_report(experiment, outlined, figures);
  if (experiment.simulation.folding == Folding::automatic) {
    if (std::optional<Report> report = simulate_repeats(experiment, runner, figures))
      return *std::move(report);
  }
  runner.write(experiment.plan.micro_batches());
  const Totals& totals = runner.run(0, figures)->whole;
  return report_on(experiment, totals, runner.view());
}

}  // namespace

/// What is kept, and runners that rest.
struct Simulator::Kept {
  explicit Kept(std::size_t most_bytes) : store(most_bytes) {}

  std::unique_ptr<KeptRunner> take_runner() {
    const std::lock_guard lock(mutex);
    if (resting.empty()) return std::make_unique<KeptRunner>(store);
    std::unique_ptr<KeptRunner> runner = std::move(resting.back());
    resting.pop_back();
    return runner;
  }
  void give(std::unique_ptr<KeptRunner> runner) {
    runner->put_back();
    const std::lock_guard lock(mutex);
    resting.push_back(std::move(runner));
  }

  kept::Store store;
  std::mutex mutex;
  std::vector<std::unique_ptr<KeptRunner>> resting;
};

Simulator::Simulator(std::size_t most_bytes) : kept_(std::make_unique<Kept>(most_bytes)) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

Report Simulator::simulate(const Experiment& experiment, const Figures& figures) {
  if (!KeptRunner::takes(experiment)) {
    FreshRunner runner;
    return simulate_with(runner, experiment, figures);
  }
  std::unique_ptr<KeptRunner> runner =
      kept_->take_runner();  // lost, with what it has taken, if the run fails
  Report report = simulate_with(*runner, experiment, figures);
  kept_->give(std::move(runner));
  return report;
}

Report simulate(const Experiment& experiment) {
  FreshRunner runner;
  return simulate_with(runner, experiment, {});
}

}  // namespace orrery
