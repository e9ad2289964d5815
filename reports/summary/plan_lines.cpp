#include "reports/summary/plan_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace orrery {
namespace {

/// "tp 8 x pp 4 x dp 2".
std::string degrees(const Plan& plan) {
  constexpr std::array kOrder{Axis::tensor, Axis::context, Axis::expert, Axis::pipeline, Axis::data};
  std::string text;
  for (const Axis axis : kOrder) {
    const AxisRow& row = kAxes[static_cast<std::size_t>(axis)];
    if (!row.always_named && plan.degree(axis) == 1) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", row.name, plan.degree(axis));
  }
  return text;
}

/// "7, 14 x 8, 7".
std::string runs_of(const std::vector<std::int64_t>& list) {
  std::string text;
  for (auto first = list.begin(); first != list.end();) {
    const auto next = std::find_if(first, list.end(), [&](std::int64_t value) { return value != *first; });
    text += text.empty() ? "" : ", ";
    text += next - first > 1 ? fmt::format("{} x {}", next - first, *first) : std::to_string(*first);
    first = next;
  }
  return text;
}

/// "gossip over torus, 32 workers (nodes), qsgd"; "" for a plain all-reduce of all replicas.
std::string synchronization(const DataParallelSync& sync, std::int64_t workers) {
  const auto at = [](const auto& names, auto value) { return names[static_cast<std::size_t>(value)]; };
  const bool joined = sync.joins_replicas();
  const bool compressed = sync.compression.method != Compression::Method::none;
  if (sync.method == SyncMethod::all_reduce && !joined && !compressed) return "";
  if (sync.method == SyncMethod::none) return "stay apart";
  std::string text(at(kSyncMethodNames, sync.method));
  if (sync.gossips()) text += " over " + (sync.neighbours.empty() ? sync.topology : "an explicit graph");
  const std::string_view ending = workers == 1 ? "" : "s";
  text += fmt::format(", {} worker{}", workers, ending);
  if (joined) text += fmt::format(" ({}{})", at(kSyncLevelNames, sync.level), ending);
  switch (sync.method) {
    case SyncMethod::parameter_server:
      text += fmt::format(", servers {}", sync.servers);
      break;
    case SyncMethod::easgd:
    case SyncMethod::async_diloco:
      text += fmt::format(", period {}, servers {}", sync.period, sync.servers);
      break;
    case SyncMethod::local_sgd:
    case SyncMethod::gossip_pga:
    case SyncMethod::diloco:
    case SyncMethod::slowmo:
    case SyncMethod::noloco:
    case SyncMethod::sparse_loco:
      text += fmt::format(", period {}", sync.period);
      break;
    case SyncMethod::gossip_aga:
      text += fmt::format(", periods {} to {}", sync.period, sync.final_period);
      break;
    default:
      break;
  }
  if (sync.fragments > 1) text += fmt::format(", fragments {}", sync.fragments);
  if (sync.fragments > 1 && sync.fragment_pattern != FragmentPattern::even)
    text += fmt::format(" ({})", at(kFragmentPatternNames, sync.fragment_pattern));
  if (sync.delay > 0) text += fmt::format(", delay {}", sync.delay);
  if (sync.overlap != SyncOverlap::none) text += fmt::format(", {}", at(kSyncOverlapNames, sync.overlap));
  if (compressed) text += fmt::format(", {}", at(Compression::kNames, sync.compression.method));
  return text;
}

/// "full", "mlp and norm", "full (first 4 layers of a stage)".
std::string recomputed(const Plan& p) {
  std::string text = p.recompute == Recompute::modules
                         ? fmt::format("{}", fmt::join(names_of(p.recompute_modules), " + "))
                         : std::string(kRecomputeNames[static_cast<std::size_t>(p.recompute)]);
  if (!p.recompute_stage_layers.empty())
    return text + fmt::format(" (first {} layers of {})", runs_of(p.recompute_stage_layers),
                              p.virtual_stages > 1 ? "chunks" : "stages");
  if (p.recompute_layers == 0) return text;
  if (p.recompute_method == RecomputeMethod::block)
    return text + fmt::format(" (first {} layers of a {})", p.recompute_layers,
                              p.virtual_stages > 1 ? "chunk" : "stage");
  return text + fmt::format(" (in groups of {} layers)", p.recompute_layers);
}

std::string plan_line(const Plan& p) {
  std::string text =
      fmt::format("{}, {}{} micro-batch{} of {}", degrees(p), p.replica_batch_sizes.empty() ? "" : "up to ",
                  p.micro_batches(), p.micro_batches() == 1 ? "" : "es", p.micro_batch_size);
  if (p.pipeline_parallel > 1) text += ", " + p.pipeline_schedule;
  if (p.virtual_stages > 1) text += fmt::format(" ({} chunks)", p.virtual_stages);
  if (p.recompute != Recompute::none) text += ", recompute " + recomputed(p);
  if (p.zero_stage > 0) text += fmt::format(", ZeRO-{}", p.zero_stage);
  if (p.shards_in_groups()) text += fmt::format(" in groups of {}", p.sharding_ranks());
  if (p.sequence_parallel) text += ", sequence parallel";
  return text + ", " + std::string(kPrecisionNames[static_cast<std::size_t>(p.precision)]);
}

/// Lists the communication that overlaps compute, if the plan has it at all.
std::string overlap_line(const Report& report) {
  const Plan& p = report.plan;
  std::string text;
  const auto add = [&](bool overlaps, std::string_view what) {
    if (overlaps) text += fmt::format("{}{}", text.empty() ? "" : ", ", what);
  };
  add(p.tensor_parallel > 1 && p.overlap_tensor_parallel, "tensor traffic of input gradients");
  add(report.tensor_overlap > 0,
      fmt::format("{:.3g} % of the gathers and scatters of tensor ranks", 100 * report.tensor_overlap));
  const DataParallelSync& sync = report.data_parallel_sync;
  const bool reduces = sync.method == SyncMethod::all_reduce || sync.method == SyncMethod::parameter_server ||
                       sync.joins_replicas();
  add(p.weight_copies() > 1 && p.overlap_gradient_reduce && reduces, "gradient reduction");
  add(p.weight_copies() > 1 && sync.overlap != SyncOverlap::none, "models between replicas");
  add(gathers_ahead(p), "parameter gathers");
  add(overlaps_messages(report), "messages between stages");
  add(overlaps_context(p), "keys and values of context ranks");
  add(p.expert_parallel > 1 && p.overlap_expert_parallel, "tokens of another micro-batch");
  add(p.expert_parallel > 1 && p.overlap_shared_experts, "tokens beside shared experts");
  if (p.gpus() == 1) return "";
  if (text.empty()) return "beside compute: no communication";
  if (report.communication_interference > 0)
    text += fmt::format("; compute keeps {:.3g} % of its speed beside tensor, data and expert traffic",
                        100 * (1 - report.communication_interference));
  return "beside compute: " + text;
}

/// Lists the settings that the software chooses if the plan does not.
std::string software_line(const Report& report) {
  const Plan& p = report.plan;
  if (report.stack.empty()) return "";
  std::string text = "stack " + report.stack;
  if (p.precision != Precision::fp32 && p.precision != Precision::tf32)
    text += fmt::format(": gradients of {} bytes", report.software.gradient_bytes);
  if (p.weight_copies() > 1) text += fmt::format(", buckets of {:.4g} MB", p.bucket_mb);
  if (p.pipeline_parallel > 1 && p.tensor_parallel > 1)
    text += p.scatter_gather ? ", messages between stages cut over tensor ranks (scatter_gather)"
                             : ", whole messages between stages from each tensor rank";
  if (!report.stack_reason.empty()) text += " (" + report.stack_reason + ")";
  return text;
}

}  // namespace

bool gathers_ahead(const Plan& plan) {
  if (plan.zero_stage == 0 || plan.weight_copies() == 1) return false;
  return plan.zero_stage == 3 ? plan.units_ahead() > 0 : plan.overlap_parameter_gather;
}

bool overlaps_messages(const Report& report) {
  return report.plan.pipeline_parallel > 1 && !report.software.synchronize_passes;
}

bool overlaps_context(const Plan& plan) {
  return plan.context_parallel > 1 && (plan.context_parallel_type == ContextParallelType::ring ||
                                       plan.context_parallel_type == ContextParallelType::hierarchical);
}

std::vector<std::string> plan_lines(const Report& report) {
  const Plan& p = report.plan;
  if (report.serving)
    return {fmt::format("{}, {}", degrees(p), kPrecisionNames[static_cast<std::size_t>(p.precision)])};
  std::vector<std::string> lines{plan_line(p), overlap_line(report), software_line(report)};
  if (!p.stage_layers.empty()) lines.push_back(fmt::format("stages of {} layers", runs_of(p.stage_layers)));
  if (!p.replica_batch_sizes.empty())
    lines.push_back(fmt::format("replicas of {} samples", runs_of(p.replica_batch_sizes)));
  if (p.data_parallel > 1) {
    const std::string sync = synchronization(report.data_parallel_sync, report.workers);
    if (!sync.empty()) lines.push_back("replicas: " + sync);
  }
  std::erase(lines, "");
  return lines;
}

}  // namespace orrery
