// Lists the keys of the result object, a row each: their place, their value, and the measurements they need.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reports/result/result_key.hpp"

namespace orrery {

namespace {

using Json = ResultJson;
using Needs = ResultKey::Needs;

/// `value`, or null in a report without timing.
Json timed(const Report& report, double value) { return report.makespan_ps > 0 ? Json(value) : Json(); }

/// Returns a time share; null also if the peak of the GPU is unknown.
Json of_peak(const Report& report, double share) {
  return report.peak_tflops_per_gpu > 0 ? timed(report, share) : Json();
}

/// Returns a time share; null also if `basis`, a figure of the GPUs, is unknown.
Json known(const Report& report, double basis, double value) {
  return basis > 0 ? timed(report, value) : Json();
}

/// Returns a figure of the whole training.
Json of_training(const Report& report, double basis, double value) {
  return report.training_tokens > 0 ? known(report, basis, value) : absent();
}

Json spread(const Report& report, double seconds) {
  return report.has_spread() ? timed(report, seconds) : absent();
}

double gigabytes(Bytes bytes) { return static_cast<double>(bytes) / 1e9; }

Json of_steps(const Report& report, TotalFlops flops) {
  return report.serving ? Json() : Json(static_cast<double>(flops));
}

/// Trained with, or read and made for requests.
Json tokens_per_s(const Report& report) {
  const bool served = report.serving && report.serving->duration_ps > 0;
  return served ? Json(report.serving->tokens_per_s()) : timed(report, report.tokens_per_s());
}

/// Picoseconds summed over GPUs and steps, as seconds per GPU and step.
Json mean_seconds(const Report& report, Int128 sum_ps) {
  const double shares = static_cast<double>(report.gpus) * static_cast<double>(report.steps);
  return timed(report, static_cast<double>(sum_ps) * 1e-12 / shares);
}

/// Returns compute by class of kernel, without classes that the step lacks.
Json kernels(const Report& report) {
  if (!report.kernels_ps) return absent();
  Json times = Json::object();
  for (std::size_t k = 0; k < kKernelClassCount; ++k)
    if ((*report.kernels_ps)[k] != 0)
      times[std::string(kKernelClassNames[k])] = mean_seconds(report, (*report.kernels_ps)[k]);
  return times;
}

Json exposed(const Report& report, Dimension dimension) {
  return mean_seconds(report, report.breakdown.exposed_ps[static_cast<std::size_t>(dimension)]);
}

/// Returns the seconds of the critical path per step.
Json path_seconds(const Report& report, Picoseconds time) {
  if (report.asynchrony) return {};
  return timed(report, to_seconds(time) / static_cast<double>(report.steps));
}

/// A figure of workers that keep no step with each other.
template <class Value>
Json asynchronous(const Report& report, Value Asynchrony::*value) {
  return report.asynchrony ? Json((*report.asynchrony).*value) : absent();
}

Json along(const Report& report, Dimension dimension) {
  return path_seconds(report, report.critical_path.communication_ps[static_cast<std::size_t>(dimension)]);
}

Json sent(const Report& report, Dimension dimension) {
  return timed(report, report.bytes_per_gpu[static_cast<std::size_t>(dimension)]);
}

Json links(const Report& report) {
  Json links = Json::array();
  for (const LinkUtilization& link : report.links) {
    links.push_back({{"kind", kLinkKindNames[static_cast<std::size_t>(link.kind)]},
                     {"mean", timed(report, link.mean)},
                     {"peak", timed(report, link.peak)}});
  }
  return links;
}

Json categories(const StageMemory& stage) {
  Json::object_t bytes;
  bytes.reserve(std::size(kMemoryCategories));
  for (const MemoryCategory& category : kMemoryCategories)
    bytes.emplace_back(category.name, gigabytes(category.bytes(stage)));
  return bytes;
}

/// Returns the memory of the stage that has most. A serving replica holds its whole KV cache from the
/// beginning.
Bytes most_memory(const Report& report, Bytes (StageMemory::*bytes)() const) {
  if (report.serving)
    return report.serving->weights_bytes + report.serving->workspace_bytes + report.serving->cache_bytes;
  Bytes most = 0;
  for (const StageMemory& stage : report.stage_memory) most = std::max(most, (stage.*bytes)());
  return most;
}

/// The memory at its peak with an error of the calibration's, where it has some. Memory that is reserved, or
/// used on the device, is off by as much as the tensors in it.
Json memory_spread(const Report& report, Bytes (StageMemory::*bytes)() const, double Software::*error) {
  const Software& s = report.software;
  if (report.serving || !(s.memory_error_p10 < s.memory_error_p90)) return absent();
  return gigabytes(most_memory(report, bytes)) * (1 + s.*error);
}

template <auto bytes, auto error>
Json spread_of(const Report& report) {
  return memory_spread(report, bytes, error);
}

Json memory_timeline(const Report& report) {
  if (report.memory_timeline.empty()) return absent();
  Json stages = Json::array();
  for (const MemoryTimeline& points : report.memory_timeline) {
    Json times = Json::array();
    Json held = Json::array();
    for (const MemoryPoint& point : points) {
      times.push_back(to_seconds(point.at_ps));
      held.push_back(gigabytes(point.bytes));
    }
    stages.push_back({{"stage", stages.size()}, {"at_s", std::move(times)}, {"gb", std::move(held)}});
  }
  return stages;
}

Json what_if(const Report& report) {
  if (report.what_if.empty()) return absent();
  const auto seconds = [&](Picoseconds makespan) {
    return to_seconds(makespan) / static_cast<double>(report.steps);
  };
  Json list = Json::array();
  for (const WhatIf& one : report.what_if) {
    list.push_back(
        {{"key", one.key},
         {"unit", one.unit},
         {"value", one.value},
         {"share", one.share},
         {"better", one.better},
         {"better_step_time_s", seconds(one.better_makespan_ps)},
         {"path_step_time_s", one.path_makespan_ps > 0 ? Json(seconds(one.path_makespan_ps)) : Json()},
         {"holds_until", one.holds_until ? Json(*one.holds_until) : Json()}});
  }
  return list;
}

Json memory_per_stage(const Report& report) {
  Json stages = Json::array();
  for (const StageMemory& stage : report.stage_memory) {
    Json::object_t one;
    one.reserve(10);
    one.emplace_back("stage", stages.size());
    one.emplace_back("parameters_gb", gigabytes(stage.parameters));
    one.emplace_back("gradients_gb", gigabytes(stage.gradients));
    one.emplace_back("optimizer_gb", gigabytes(stage.optimizer()));
    one.emplace_back("activations_gb", gigabytes(stage.activations.total()));
    one.emplace_back("workspace_gb", gigabytes(stage.workspace.total()));
    one.emplace_back("peak_gb", gigabytes(stage.total()));
    one.emplace_back("reserved_gb", gigabytes(stage.reserved()));
    one.emplace_back("device_gb", gigabytes(stage.device()));
    one.emplace_back("categories_gb", categories(stage));
    stages.push_back(std::move(one));
  }
  return stages;
}

/// Returns the graph's name for methods that gossip.
Json graph_name(const DataParallelSync& sync) {
  if (!sync.gossips()) return absent();
  return sync.neighbours.empty() ? sync.topology : "explicit";
}

using R = Report;

/// In the order in which they are written; those of one object lie side by side.
const ResultKey kFirstKeys[] = {
    {"name", [](const R& r) -> Json { return r.name; }, Needs::origin},
    {"feasible", [](const R& r) -> Json { return r.feasible; }},
    {"reasons", [](const R& r) -> Json { return r.reasons; }, Needs::origin},
    {"assumptions", [](const R& r) -> Json { return r.assumptions; }, Needs::origin},
    {"warnings", [](const R& r) -> Json { return r.warnings; }, Needs::warnings},
    {"model", [](const R& r) -> Json { return r.model; }, Needs::origin},
    {"cluster", [](const R& r) -> Json { return r.cluster; }, Needs::origin},
    {"stack", [](const R& r) -> Json { return r.stack; }, Needs::origin},
};

/// Lists the keys that follow those of the plan.
const ResultKey kFigureKeys[] = {
    {"data_parallel_sync.method",
     [](const R& r) -> Json { return name_of(kSyncMethodNames, r.data_parallel_sync.method); },
     Needs::origin},
    {"data_parallel_sync.workers", [](const R& r) -> Json { return r.workers; }, Needs::origin},
    {"data_parallel_sync.topology", [](const R& r) -> Json { return graph_name(r.data_parallel_sync); },
     Needs::origin},
    {"data_parallel_sync.level",
     [](const R& r) -> Json {
       const DataParallelSync& sync = r.data_parallel_sync;
       return name_of(kSyncLevelNames, sync.joins_replicas() ? sync.level : SyncLevel::gpu);
     },
     Needs::origin},
    {"data_parallel_sync.compression",
     [](const R& r) -> Json { return name_of(Compression::kNames, r.data_parallel_sync.compression.method); },
     Needs::origin},
    {"asynchrony.local_steps_min",
     [](const R& r) -> Json { return asynchronous(r, &Asynchrony::fewest_steps); }},
    {"asynchrony.local_steps_max",
     [](const R& r) -> Json { return asynchronous(r, &Asynchrony::most_steps); }},
    {"asynchrony.meetings", [](const R& r) -> Json { return asynchronous(r, &Asynchrony::meetings); }},
    {"asynchrony.staleness_mean",
     [](const R& r) -> Json { return asynchronous(r, &Asynchrony::mean_staleness); }},
    {"asynchrony.staleness_max",
     [](const R& r) -> Json { return asynchronous(r, &Asynchrony::most_staleness); }},
    {"parameters", [](const R& r) -> Json { return r.parameters; }},
    {"active_parameters", [](const R& r) -> Json { return r.active_parameters; }},
    {"gpus", [](const R& r) -> Json { return r.gpus; }},
    {"step_time_s", [](const R& r) -> Json { return timed(r, r.step_time_s()); }},
    {"step_time_s_p10", [](const R& r) -> Json { return spread(r, r.step_time_s_p10()); }, Needs::range},
    {"step_time_s_p90", [](const R& r) -> Json { return spread(r, r.step_time_s_p90()); }, Needs::range},
    {"training_days",
     [](const R& r) -> Json { return r.training_tokens > 0 ? timed(r, r.training_days()) : absent(); }},
    {"samples_per_s", [](const R& r) -> Json { return timed(r, r.samples_per_s()); }},
    {"tokens_per_s", [](const R& r) -> Json { return tokens_per_s(r); }},
    {"model_flops_per_step", [](const R& r) -> Json { return of_steps(r, r.model_flops_per_step); }},
    {"hardware_flops_per_step", [](const R& r) -> Json { return of_steps(r, r.hardware_flops_per_step); }},
    {"model_tflops_per_gpu", [](const R& r) -> Json { return timed(r, r.model_tflops_per_gpu()); }},
    {"hardware_tflops_per_gpu", [](const R& r) -> Json { return timed(r, r.hardware_tflops_per_gpu()); }},
    {"mfu", [](const R& r) -> Json { return of_peak(r, r.mfu()); }},
    {"hfu", [](const R& r) -> Json { return of_peak(r, r.hfu()); }},
    {"energy_kwh", [](const R& r) -> Json { return known(r, r.power_w, r.energy_kwh()); }},
    {"cost_usd", [](const R& r) -> Json { return known(r, r.usd_per_hour, r.cost_usd()); }},
    {"training_energy_kwh",
     [](const R& r) -> Json { return of_training(r, r.power_w, r.training_energy_kwh()); }},
    {"training_cost_usd",
     [](const R& r) -> Json { return of_training(r, r.usd_per_hour, r.training_cost_usd()); }},
    {"breakdown_s.compute", [](const R& r) -> Json { return mean_seconds(r, r.breakdown.compute_ps); },
     Needs::breakdown},
    {"breakdown_s.exposed_tensor", [](const R& r) -> Json { return exposed(r, Dimension::tensor); },
     Needs::breakdown},
    {"breakdown_s.exposed_pipeline", [](const R& r) -> Json { return exposed(r, Dimension::pipeline); },
     Needs::breakdown},
    {"breakdown_s.exposed_data", [](const R& r) -> Json { return exposed(r, Dimension::data); },
     Needs::breakdown},
    {"breakdown_s.exposed_context", [](const R& r) -> Json { return exposed(r, Dimension::context); },
     Needs::breakdown},
    {"breakdown_s.exposed_expert", [](const R& r) -> Json { return exposed(r, Dimension::expert); },
     Needs::breakdown},
    {"breakdown_s.exposed_offload", [](const R& r) -> Json { return exposed(r, Dimension::offload); },
     Needs::breakdown},
    {"breakdown_s.optimizer", [](const R& r) -> Json { return mean_seconds(r, r.breakdown.optimizer_ps); },
     Needs::breakdown},
    {"breakdown_s.bubble", [](const R& r) -> Json { return mean_seconds(r, r.breakdown.bubble_ps); },
     Needs::breakdown},
    {"breakdown_s.host", [](const R& r) -> Json { return mean_seconds(r, r.breakdown.host_ps); },
     Needs::breakdown},
    {"pipeline_bubble_fraction", [](const R& r) -> Json { return timed(r, r.pipeline_bubble_fraction); },
     Needs::breakdown},
    {"utilization.gpu_mean", [](const R& r) -> Json { return timed(r, r.gpu_utilization_mean); },
     Needs::breakdown},
    {"utilization.gpu_min", [](const R& r) -> Json { return timed(r, r.gpu_utilization_min); },
     Needs::breakdown},
    {"utilization.links", [](const R& r) -> Json { return links(r); }, Needs::traffic, true},
    {"memory.peak_gb", [](const R& r) -> Json { return gigabytes(most_memory(r, &StageMemory::total)); }},
    {"memory.peak_gb_p10", spread_of<&StageMemory::total, &Software::memory_error_p10>, Needs::origin},
    {"memory.peak_gb_p90", spread_of<&StageMemory::total, &Software::memory_error_p90>, Needs::origin},
    {"memory.reserved_gb",
     [](const R& r) -> Json { return gigabytes(most_memory(r, &StageMemory::reserved)); }},
    {"memory.reserved_gb_p10", spread_of<&StageMemory::reserved, &Software::memory_error_p10>, Needs::origin},
    {"memory.reserved_gb_p90", spread_of<&StageMemory::reserved, &Software::memory_error_p90>, Needs::origin},
    {"memory.device_gb", [](const R& r) -> Json { return gigabytes(most_memory(r, &StageMemory::device)); }},
    {"memory.device_gb_p10", spread_of<&StageMemory::device, &Software::memory_error_p10>, Needs::origin},
    {"memory.device_gb_p90", spread_of<&StageMemory::device, &Software::memory_error_p90>, Needs::origin},
    {"memory.peak_at_s",
     [](const R& r) -> Json {
       return r.peak_memory_at_ps ? timed(r, to_seconds(*r.peak_memory_at_ps)) : Json();
     }},
    {"memory.timeline", [](const R& r) -> Json { return memory_timeline(r); }, Needs::nothing, true},
    {"memory.fits", [](const R& r) -> Json { return r.feasible; }},
    {"memory.usable_gb", [](const R& r) -> Json { return gigabytes(r.gpu_usable_memory); }},
    {"memory.capacity_gb", [](const R& r) -> Json { return gigabytes(r.gpu_memory); }},
    {"memory.per_stage", [](const R& r) -> Json { return memory_per_stage(r); }, Needs::nothing, true},
    {"communication.bytes_per_gpu.tensor", [](const R& r) -> Json { return sent(r, Dimension::tensor); },
     Needs::traffic},
    {"communication.bytes_per_gpu.pipeline", [](const R& r) -> Json { return sent(r, Dimension::pipeline); },
     Needs::traffic},
    {"communication.bytes_per_gpu.data", [](const R& r) -> Json { return sent(r, Dimension::data); },
     Needs::traffic},
    {"communication.bytes_per_gpu.context", [](const R& r) -> Json { return sent(r, Dimension::context); },
     Needs::traffic},
    {"communication.bytes_per_gpu.expert", [](const R& r) -> Json { return sent(r, Dimension::expert); },
     Needs::traffic},
    {"critical_path_s.compute",
     [](const R& r) -> Json { return path_seconds(r, r.critical_path.compute_ps); }, Needs::critical_path},
    {"critical_path_s.tensor", [](const R& r) -> Json { return along(r, Dimension::tensor); },
     Needs::critical_path},
    {"critical_path_s.pipeline", [](const R& r) -> Json { return along(r, Dimension::pipeline); },
     Needs::critical_path},
    {"critical_path_s.data", [](const R& r) -> Json { return along(r, Dimension::data); },
     Needs::critical_path},
    {"critical_path_s.context", [](const R& r) -> Json { return along(r, Dimension::context); },
     Needs::critical_path},
    {"critical_path_s.expert", [](const R& r) -> Json { return along(r, Dimension::expert); },
     Needs::critical_path},
    {"critical_path_s.offload", [](const R& r) -> Json { return along(r, Dimension::offload); },
     Needs::critical_path},
    {"critical_path_s.host", [](const R& r) -> Json { return path_seconds(r, r.critical_path.host_ps); },
     Needs::critical_path},
    {"critical_path_s.wait", [](const R& r) -> Json { return path_seconds(r, r.critical_path.wait_ps); },
     Needs::critical_path},
    {"kernels_s", [](const R& r) -> Json { return kernels(r); }, Needs::kernels, true},
    {"what_if", [](const R& r) -> Json { return what_if(r); }, Needs::nothing, true},
    {"stats.tasks", [](const R& r) -> Json { return r.stats.tasks; }},
    {"stats.events", [](const R& r) -> Json { return r.stats.events; }},
    {"stats.ranks", [](const R& r) -> Json { return r.stats.ranks; }},
    {"stats.wall_s", [](const R& r) -> Json { return r.stats.wall_s; }, Needs::process},
    {"stats.tasks_per_s", [](const R& r) -> Json { return r.stats.tasks_per_s; }, Needs::process},
    {"stats.peak_rss_mb", [](const R& r) -> Json { return r.stats.peak_rss_mb; }, Needs::process},
};

}  // namespace

const std::vector<const ResultKey*>& all_keys() {
  static const std::vector<const ResultKey*> keys = [] {
    std::vector<const ResultKey*> list;
    const auto add = [&](std::span<const ResultKey> part) {
      for (const ResultKey& key : part) list.push_back(&key);
    };
    add(kFirstKeys);
    add(plan_keys());
    add(serving_keys());
    add(long_run_keys());
    add(kFigureKeys);
    return list;
  }();
  return keys;
}

}  // namespace orrery
