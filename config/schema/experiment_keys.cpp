#include "config/schema/experiment_keys.hpp"

#include <span>

#include "config/schema/fields.hpp"

namespace orrery {
namespace {

template <class T>
void add_fields(std::vector<std::string>& keys, const std::string& prefix,
                const std::vector<Field<T>>& fields) {
  for (const Field<T>& field : fields) keys.push_back(prefix + std::string(field.name));
}

template <class Names>
void add_names(std::vector<std::string>& keys, const std::string& prefix, const Names& names) {
  for (const std::string_view name : names) keys.push_back(prefix + std::string(name));
}

void add_run_keys(std::vector<std::string>& keys) {
  add_fields(keys, "run.", long_run_fields());
  add_fields(keys, "run.warmup.", warm_up_fields());
  add_fields(keys, "run.batch_ramp.", batch_ramp_fields());
  add_fields(keys, "run.evaluation.", evaluation_fields());
  add_fields(keys, "run.maintenance.", maintenance_fields());
  add_fields(keys, "run.checkpoint.", checkpoint_fields());
  add_fields(keys, "run.failures.", failures_fields());
  for (const std::string_view component : kFailureComponentNames)
    add_fields(keys, "run.failures.components." + std::string(component) + ".", component_failures_fields());
  for (const char* fault : {"slow_gpu", "slow_link", "silent"})
    add_fields(keys, "run.failures." + std::string(fault) + ".", hidden_fault_fields());
  keys.emplace_back("run.failures.correlated.nodes_per_switch");
  add_fields(keys, "run.recovery.", recovery_fields());
}

std::vector<std::string> all_keys() {
  std::vector<std::string> keys;
  add_fields(keys, "", experiment_fields());
  keys.emplace_back("model.base");
  add_fields(keys, "model.", model_fields());
  keys.emplace_back("cluster.base");
  add_fields(keys, "cluster.", cluster_fields());
  keys.emplace_back("cluster.gpu.base");
  add_fields(keys, "cluster.gpu.", gpu_fields());
  add_names(keys, "cluster.gpu.peak_tflops.", std::span(kPrecisionNames).first<kUnitCount>());
  add_fields(keys, "cluster.node.", node_fields());
  add_fields(keys, "cluster.fabric.", fabric_fields());
  add_fields(keys, "cluster.graph.", graph_fields());
  add_fields(keys, "cluster.storage.", storage_fields());
  add_fields(keys, "plan.", plan_fields());
  add_fields(keys, "plan.recompute.", recompute_fields());
  add_fields(keys, "plan.wire_precision.", wire_precision_fields());
  add_names(keys, "plan.collectives.", kCollectiveNames);
  add_fields(keys, "data_parallel_sync.", sync_fields());
  add_fields(keys, "data_parallel_sync.compression.", compression_fields());
  add_fields(keys, "simulation.", simulation_fields());
  add_fields(keys, "training.", training_fields());
  add_fields(keys, "inference.", inference_fields());
  add_fields(keys, "inference.prompt_tokens.", token_lengths_fields());
  add_fields(keys, "inference.output_tokens.", token_lengths_fields());
  add_fields(keys, "inference.speculative.", speculation_fields());
  add_fields(keys, "inference.disaggregated.", disaggregation_fields());
  add_fields(keys, "inference.slo.", service_level_fields());
  add_run_keys(keys);
  add_fields(keys, "accuracy.", accuracy_fields());
  add_fields(keys, "problem.", problem_fields());
  add_fields(keys, "software.", software_fields());
  return keys;
}

}  // namespace

const std::vector<std::string>& experiment_keys() {
  static const std::vector<std::string> keys = all_keys();
  return keys;
}

}  // namespace orrery
