#include "apps/page_output.hpp"

#include "reports/page/run_page.hpp"
#include "reports/page/serving_page.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {

void write_page_of(const RecordedOutcome& outcome, const LocatedExperiment& read, const Sink& sink) {
  const std::string resolved = read.positions.resolved(outcome.experiment);
  if (outcome.requests != nullptr)
    return write_serving_page({outcome.report(), resolved, *outcome.requests}, sink);
  const RunView view = outcome.run.view();
  const RankGrid grid(outcome.experiment.plan);
  RunPageInput input{outcome.report(), resolved};
  if (!is_asynchronous(outcome.experiment)) {
    input.run = &view;
    input.grid = &grid;
  }
  write_run_page(input, sink);
}

}  // namespace orrery
