// Warns of keys that are set and have no effect beside the others. A default value is no mistake, so keys
// that are not set do not appear here.
#include <fmt/format.h>

#include "config/experiment/read_parts.hpp"

namespace orrery {
namespace {

struct IdleKey {
  const char* pointer;
  bool set = false;    ///< to something else than the default
  bool works = false;  ///< beside the other keys
  const char* beside;  ///< the setting that makes it idle
};

void warn_of(const IdleKey& key, Findings& warnings) {
  if (key.set && !key.works)
    warnings.add(key.pointer, fmt::format("found a value that does nothing with {}", key.beside));
}

void warn_of_wires(const Plan& plan, const Model& model, Findings& warnings) {
  const WirePrecision& wire = plan.wire_precision;
  const bool tensor = plan.tensor_parallel > 1;
  const bool routed = model.experts > 0 && plan.expert_parallel > 1;
  for (const IdleKey& key : {
           IdleKey{"/plan/wire_precision/tensor_gather", wire.tensor_gather.has_value(), tensor,
                   "tensor_parallel 1"},
           IdleKey{"/plan/wire_precision/tensor_reduce", wire.tensor_reduce.has_value(), tensor,
                   "tensor_parallel 1"},
           IdleKey{"/plan/wire_precision/pipeline", wire.pipeline.has_value(), plan.pipeline_parallel > 1,
                   "pipeline_parallel 1"},
           IdleKey{"/plan/wire_precision/context", wire.context.has_value(), plan.context_parallel > 1,
                   "context_parallel 1"},
           IdleKey{"/plan/wire_precision/dispatch", wire.dispatch.has_value(), routed, "expert_parallel 1"},
           IdleKey{"/plan/wire_precision/combine", wire.combine.has_value(), routed, "expert_parallel 1"},
       })
    warn_of(key, warnings);
}

void warn_of_fabric(const Cluster& cluster, Findings& warnings) {
  const Fabric& fabric = cluster.fabric;
  const bool has_levels = fabric.kind == "fat-tree" || fabric.kind == "rail-optimized";
  warn_of({"/cluster/fabric/oversubscription", fabric.oversubscription != 1, has_levels,
           "a fabric that is no fat-tree or rail-optimized"},
          warnings);
}

}  // namespace

void warn_of_idle_keys(const Experiment& experiment, Findings& warnings) {
  const Plan& plan = experiment.plan;
  const bool tensor = plan.tensor_parallel > 1;
  warn_of_fabric(experiment.cluster, warnings);
  if (experiment.inference) return;
  warn_of({"/plan/sequence_parallel", plan.sequence_parallel, tensor, "tensor_parallel 1"}, warnings);
  const bool scatters = tensor && plan.pipeline_parallel > 1 && !plan.sequence_parallel;
  warn_of({"/plan/scatter_gather", !plan.scatter_gather, scatters,
           "tensor_parallel 1, pipeline_parallel 1 or sequence_parallel"},
          warnings);
  warn_of({"/plan/context_parallel_type", plan.context_parallel_type != ContextParallelType::ring,
           plan.context_parallel > 1, "context_parallel 1"},
          warnings);
  warn_of_wires(plan, experiment.model, warnings);
}

}  // namespace orrery
