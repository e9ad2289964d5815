#include "workloads/weights/optimizer_offload.hpp"

#include "workloads/models/step_builder.hpp"
#include "workloads/programs/stages.hpp"
#include "workloads/weights/optimizer_states.hpp"

namespace orrery {

OptimizerOffload::OptimizerOffload(const Experiment& experiment, std::int64_t owned, Workload& workload,
                                   ProgramWriter& writer)
    : writer_(writer), parameters_(offloaded_parameters(experiment.plan, owned)) {
  if (parameters_ == 0) return;
  const std::int64_t bucket = bucket_elements(experiment.plan);
  buckets_ = bucket > 0 ? parameters_ / bucket : 0;
  const std::int64_t rest = parameters_ - buckets_ * bucket;
  if (buckets_ > 0) whole_work_ = work_of(experiment, bucket, workload);
  rest_ = rest > 0;
  if (rest_) rest_work_ = work_of(experiment, rest, workload);
}

OptimizerOffload::Work OptimizerOffload::work_of(const Experiment& experiment, std::int64_t parameters,
                                                 Workload& workload) const {
  const auto kernel = [&](Kernel::Kind kind, double bytes_each) {
    const Kernel scaled_kernel = scaled(parameters, bytes_each);
    return find_work(workload, {{kind, 1, 0, 0, 0, scaled_kernel.bytes, 0}}, 0);
  };
  const auto element = static_cast<double>(element_bytes(experiment.plan.precision));
  return {kernel(Kernel::Kind::host_copy, static_cast<double>(gradient_bytes(experiment))),
          kernel(Kernel::Kind::host_memory, update_bytes_per_parameter(experiment)),
          kernel(Kernel::Kind::host_copy, element)};
}

OpId OptimizerOffload::update(std::int32_t step, std::initializer_list<OpId> ready, OpId beside) {
  OpId last = beside;
  for (std::int64_t bucket = 0; bucket < buckets_; ++bucket)
    last = run(whole_work_, step, ready, bucket + 1 == buckets_ && !rest_ ? beside : kNoOp);
  return rest_ ? run(rest_work_, step, ready, beside) : last;
}

OpId OptimizerOffload::run(const Work& work, std::int32_t step, std::initializer_list<OpId> ready,
                           OpId beside) {
  Op op;
  op.phase = Phase::optimize;
  op.part = Part::optimizer;
  op.step = step;
  op.stream = Stream::copy_to_host;
  op.work = work.out;
  const OpId there = writer_.add(op, ready);
  op.stream = Stream::host_optimizer;
  op.work = work.update;
  const OpId updated = writer_.add(op, {there});
  op.stream = Stream::copy_from_host;
  op.work = work.in;
  return writer_.add(op, {updated, beside});
}

}  // namespace orrery
