#include <memory>

#include "orrery/simulate.hpp"
#include "sim/run/prepare.hpp"
#include "sim/run/serving_run.hpp"
#include "sim/run/training_run.hpp"
#include "sim/run/weeks.hpp"
#include "sim/step/memo.hpp"

namespace orrery {
namespace {

Report simulate_with(const Experiment& experiment, const Figures& figures, Memo& memo) {
  const PreparedExperiment prepared = prepare(experiment, memo);
  Report report = experiment.inference ? report_on_serving(prepared, figures, memo)
                                       : simulate_training(prepared, figures, memo);
  add_weeks(experiment, figures, memo, report);
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
