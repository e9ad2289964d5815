#include "sim/run/repeats.hpp"

#include <fmt/format.h>

#include "sim/run/run.hpp"

namespace orrery {
std::optional<Report> simulate_repeats(const Experiment& experiment, Runner& runner, const Figures& figures) {
  const Plan& plan = experiment.plan;
  const std::int64_t all = plan.micro_batches();
  const auto [micro_batches, warm_up, alike] = rhythm_of(plan);
  if (experiment.simulation.steps > 1) return {};
  for (const std::int64_t settling : {2 * alike, 6 * alike}) {
    const std::int64_t told = warm_up + settling * micro_batches;
    if (10 * told > 9 * all) return {};  // a tenth is to be saved at least
    const std::int64_t times = (all - told) / micro_batches;
    runner.write(told);
    if (!runner.periods().found()) continue;
    const std::optional<WholeAndPart>& taken = runner.run(times, figures);
    if (!taken) continue;
    Totals totals = taken->whole;
    totals.add(taken->part, times);
    Report report = report_on(experiment, totals, runner.view());
    if (figures.origin)
      report.assumptions.push_back(fmt::format(
          "the {} micro-batches of a replica are simulated up to the {}th; the others repeat the last {}",
          all, told, micro_batches));
    return report;
  }
  return {};
}

}  // namespace orrery
