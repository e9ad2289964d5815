#include "workloads/programs/fsdp_shards.hpp"

#include <algorithm>

#include "workloads/models/blocks.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {
namespace {

bool is_fsdp(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  return experiment.software.fsdp_version > 0 && plan.zero_stage == 3 && plan.sharding_ranks() > 1;
}

}  // namespace

bool shards_main_weights_alone(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  return is_fsdp(experiment) && element_bytes(plan.precision) < 4 && plan.main_weight_precision &&
         plan.offload != Offload::optimizer;
}

Bytes held_gradient_bytes(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  const Bytes reduced = gradient_bytes(experiment);
  if (shards_main_weights_alone(experiment))
    return std::max(reduced, Bytes{bytes_of_32(*plan.main_weight_precision) / 32});
  Bytes held = 0;
  if (plan.precision == Precision::bf16) held = experiment.software.bf16_gradient_memory_bytes;
  if (plan.precision == Precision::fp16) held = experiment.software.fp16_gradient_memory_bytes;
  return held > 0 ? held : reduced;
}

bool gradients_come_and_go(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  return is_fsdp(experiment) && plan.reduces_every_micro_batch() && plan.micro_batches() == 1 &&
         plan.offload != Offload::optimizer && experiment.data_parallel_sync.method == SyncMethod::all_reduce;
}

}  // namespace orrery
