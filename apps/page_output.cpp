#include "apps/page_output.hpp"

#include "reports/page/run_page.hpp"
#include "reports/page/serving_page.hpp"
#include "sim/run/asynchronous_run.hpp"
#include "sim/run/concrete_plan.hpp"

namespace orrery {

void write_page_of(const Run& run, const LocatedExperiment& read, const Sink& sink) {
  Memo memo;
  with_resolved_plan(read.experiment, memo, [&](const Experiment& experiment) {
    const RunView view = run.view();
    const RankGrid grid(experiment.plan);
    RunPageInput input{run.report, read.positions.resolved(experiment)};
    if (!is_asynchronous(experiment)) {
      input.run = &view;
      input.grid = &grid;
    }
    write_run_page(input, sink);
  });
}

void write_page_of(const Report& report, const ServingRecord& record, const LocatedExperiment& read,
                   const Sink& sink) {
  Memo memo;
  with_resolved_plan(read.experiment, memo, [&](const Experiment& experiment) {
    write_serving_page({report, read.positions.resolved(experiment), record}, sink);
  });
}

}  // namespace orrery
