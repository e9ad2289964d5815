#include "workloads/programs/program_parts.hpp"

#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

/// Returns the time that a step waits for the samples of a GPU, in microseconds.
double loading_us(const Experiment& experiment) {
  if (!experiment.loads_images()) return 0;
  const Plan& plan = experiment.plan;
  return experiment.software.image_loading_us *
         static_cast<double>(plan.micro_batch_size * plan.micro_batches());
}

bool needs_host(const Experiment& experiment) {
  const Software& s = experiment.software;
  return loading_us(experiment) > 0 || s.synchronize_passes || s.dispatch_waits_for_host ||
         s.forward_issue_us > 0 || s.backward_issue_us > 0 || s.collective_issue_us > 0 ||
         s.parameter_issue_us > 0 || s.pass_overhead_us > 0 || s.step_overhead_ms > 0 ||
         s.many_nodes_wait_ms > 0;
}

}  // namespace

ProgramParts::ProgramParts(const Experiment& experiment, Workload& workload)
    : hosted(needs_host(experiment)), fused_passes(has_fused_passes(experiment)) {
  if (!hosted) return;
  const Software& software = experiment.software;
  const double slowest = experiment.cluster.nodes > 1 ? software.many_nodes_wait_ms : 0;
  const auto add = [&](Picoseconds host_ps) {
    const std::uint32_t work = find_work(workload, {}, host_ps);
    return fused_passes ? add_pass(workload, {{false, work, kBlockInput}}) : work;
  };
  wait_work = add(0);
  step_work = add(from_microseconds((software.step_overhead_ms + slowest) * 1e3 + loading_us(experiment)));
  const bool graph = experiment.plan.cuda_graphs == CudaGraphs::step;
  pass_work = add(graph ? 0 : from_microseconds(software.pass_overhead_us));
}

}  // namespace orrery
