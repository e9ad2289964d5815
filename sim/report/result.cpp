// The result object of the interface, as JSON and as one row of CSV.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/report/csv_field.hpp"
#include "sim/report/writers.hpp"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

double gigabytes(Bytes bytes) { return static_cast<double>(bytes) / 1e9; }

/// `value`, or null in a report without timing.
Json timed(const Report& report, double value) { return report.makespan_ps > 0 ? Json(value) : Json(); }

/// Picoseconds summed over GPUs and steps, as seconds per GPU and step.
Json mean_seconds(const Report& report, Int128 sum_ps) {
  const double shares = static_cast<double>(report.gpus) * static_cast<double>(report.steps);
  return timed(report, static_cast<double>(sum_ps) * 1e-12 / shares);
}

Json breakdown_json(const Report& report) {
  const Breakdown& b = report.breakdown;
  const auto exposed = [&](Dimension d) {
    return mean_seconds(report, b.exposed_ps[static_cast<std::size_t>(d)]);
  };
  return {{"compute", mean_seconds(report, b.compute_ps)},
          {"exposed_tensor", exposed(Dimension::tensor)},
          {"exposed_pipeline", exposed(Dimension::pipeline)},
          {"exposed_data", exposed(Dimension::data)},
          {"exposed_context", exposed(Dimension::context)},
          {"exposed_expert", exposed(Dimension::expert)},
          {"optimizer", mean_seconds(report, b.optimizer_ps)},
          {"bubble", mean_seconds(report, b.bubble_ps)},
          {"host", mean_seconds(report, b.host_ps)}};
}

Json utilization_json(const Report& report) {
  Json links = Json::array();
  for (const LinkUtilization& link : report.links) {
    links.push_back({{"kind", kLinkKindNames[static_cast<std::size_t>(link.kind)]},
                     {"mean", timed(report, link.mean)},
                     {"peak", timed(report, link.peak)}});
  }
  return {{"gpu_mean", timed(report, report.gpu_utilization_mean)},
          {"gpu_min", timed(report, report.gpu_utilization_min)},
          {"links", std::move(links)}};
}

Json memory_json(const Report& report) {
  Json stages = Json::array();
  Bytes peak = 0;
  for (const StageMemory& stage : report.stage_memory) {
    stages.push_back({{"stage", stages.size()},
                      {"parameters_gb", gigabytes(stage.parameters)},
                      {"gradients_gb", gigabytes(stage.gradients)},
                      {"optimizer_gb", gigabytes(stage.optimizer)},
                      {"activations_gb", gigabytes(stage.activations)},
                      {"workspace_gb", gigabytes(stage.workspace)},
                      {"peak_gb", gigabytes(stage.total())}});
    peak = std::max(peak, stage.total());
  }
  return {{"peak_gb", gigabytes(peak)},
          {"fits", report.gpu_memory <= 0 || peak <= report.gpu_memory},
          {"capacity_gb", gigabytes(report.gpu_memory)},
          {"per_stage", std::move(stages)}};
}

Json communication_json(const Report& report) {
  Json bytes = Json::object();
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    bytes[std::string(kDimensionNames[d])] = timed(report, report.bytes_per_gpu[d]);
  }
  return {{"bytes_per_gpu", std::move(bytes)}};
}

Json critical_path_json(const Report& report) {
  const auto seconds = [&report](Picoseconds time) {
    return timed(report, to_seconds(time) / static_cast<double>(report.steps));
  };
  const auto along = [&](Dimension d) {
    return seconds(report.critical_path.communication_ps[static_cast<std::size_t>(d)]);
  };
  return {{"compute", seconds(report.critical_path.compute_ps)},
          {"tensor", along(Dimension::tensor)},
          {"pipeline", along(Dimension::pipeline)},
          {"data", along(Dimension::data)},
          {"context", along(Dimension::context)},
          {"expert", along(Dimension::expert)},
          {"host", seconds(report.critical_path.host_ps)},
          {"wait", seconds(report.critical_path.wait_ps)}};
}

Json plan_json(const Plan& plan) {
  return {{"tensor_parallel", plan.tensor_parallel},
          {"pipeline_parallel", plan.pipeline_parallel},
          {"data_parallel", plan.data_parallel},
          {"sequence_parallel", plan.sequence_parallel},
          {"micro_batch_size", plan.micro_batch_size},
          {"global_batch_size", plan.global_batch_size},
          {"pipeline_schedule", plan.pipeline_schedule},
          {"virtual_stages", plan.virtual_stages},
          {"recompute", kRecomputeNames[static_cast<std::size_t>(plan.recompute)]},
          {"zero_stage", plan.zero_stage},
          {"precision", kPrecisionNames[static_cast<std::size_t>(plan.precision)]}};
}

Json sync_json(const Report& report) {
  const DataParallelSync& sync = report.data_parallel_sync;
  const auto method = static_cast<std::size_t>(sync.method);
  Json out{{"method", kSyncMethodNames[method]}, {"workers", report.workers}};
  if (sync.gossips()) out["topology"] = sync.neighbours.empty() ? sync.topology : "explicit";
  out["level"] = kSyncLevelNames[sync.by_node() ? 1 : 0];
  out["compression"] = Compression::kNames[static_cast<std::size_t>(sync.compression.method)];
  return out;
}

Json stats_json(const RunStats& stats) {
  return {{"tasks", stats.tasks},   {"events", stats.events},           {"ranks", stats.ranks},
          {"wall_s", stats.wall_s}, {"tasks_per_s", stats.tasks_per_s}, {"peak_rss_mb", stats.peak_rss_mb}};
}

/// Speed figures; null without timing, and shares of the peak also where it is unknown.
void add_rates(const Report& report, Json& out) {
  const bool has_time = report.makespan_ps > 0;
  const bool has_peak = has_time && report.peak_tflops_per_gpu > 0;
  out["step_time_s"] = has_time ? Json(report.step_time_s()) : Json();
  if (report.has_spread()) {
    out["step_time_s_p10"] = has_time ? Json(report.step_time_s_p10()) : Json();
    out["step_time_s_p90"] = has_time ? Json(report.step_time_s_p90()) : Json();
  }
  if (report.training_tokens > 0) out["training_days"] = has_time ? Json(report.training_days()) : Json();
  out["samples_per_s"] = has_time ? Json(report.samples_per_s()) : Json();
  out["tokens_per_s"] = has_time ? Json(report.tokens_per_s()) : Json();
  out["model_flops_per_step"] = static_cast<double>(report.model_flops_per_step);
  out["hardware_flops_per_step"] = static_cast<double>(report.hardware_flops_per_step);
  out["model_tflops_per_gpu"] = has_time ? Json(report.model_tflops_per_gpu()) : Json();
  out["hardware_tflops_per_gpu"] = has_time ? Json(report.hardware_tflops_per_gpu()) : Json();
  out["mfu"] = has_peak ? Json(report.mfu()) : Json();
  out["hfu"] = has_peak ? Json(report.hfu()) : Json();
}

Json result_json(const Report& report) {
  Json out;
  out["name"] = report.name;
  out["feasible"] = report.feasible;
  out["reasons"] = report.reasons;
  out["assumptions"] = report.assumptions;
  out["model"] = report.model;
  out["cluster"] = report.cluster;
  out["plan"] = plan_json(report.plan);
  out["data_parallel_sync"] = sync_json(report);
  out["parameters"] = report.parameters;
  out["gpus"] = report.gpus;
  add_rates(report, out);
  out["breakdown_s"] = breakdown_json(report);
  out["pipeline_bubble_fraction"] = timed(report, report.pipeline_bubble_fraction);
  out["utilization"] = utilization_json(report);
  out["memory"] = memory_json(report);
  out["communication"] = communication_json(report);
  out["critical_path_s"] = critical_path_json(report);
  out["stats"] = stats_json(report.stats);
  return out;
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return dump(value, -1);
  std::string joined;
  for (const Json& sentence : value) {
    if (!joined.empty()) joined += "; ";
    joined += sentence.get<std::string>();
  }
  return joined;
}

/// Scalars and lists of sentences under their dotted keys; lists of objects are left out.
void flatten(const Json& object, const std::string& prefix, std::string& header, std::string& row) {
  for (const auto& [key, value] : object.items()) {
    std::string path = prefix;
    path += key;
    if (value.is_object()) {
      flatten(value, path + ".", header, row);
    } else if (key != "links" && key != "per_stage") {
      const std::string_view comma = header.empty() ? "" : ",";
      header.append(comma).append(csv_field(path));
      row.append(comma).append(csv_field(cell(value)));
    }
  }
}

void collect_figures(const Json& object, const std::string& prefix, std::vector<ResultFigure>& figures) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      collect_figures(value, prefix + key + ".", figures);
    } else if (value.is_number()) {
      figures.push_back({prefix + key, value.get<double>()});
    } else if (value.is_null()) {
      figures.push_back({prefix + key, std::nullopt});
    }
  }
}

}  // namespace

std::vector<ResultFigure> result_figures(const Report& report) {
  std::vector<ResultFigure> figures;
  collect_figures(result_json(report), "", figures);
  return figures;
}

void write_json(const Report& report, int indent, const Sink& sink) {
  sink(dump(result_json(report), indent) + "\n");
}

void write_csv(const Report& report, const Sink& sink) {
  std::string header;
  std::string row;
  flatten(result_json(report), "", header, row);
  sink(header + "\n" + row + "\n");
}

}  // namespace orrery
