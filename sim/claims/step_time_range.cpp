#include "sim/claims/step_time_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/lowering/lower.hpp"

namespace orrery {
namespace {

/// Numbers count as measured up to these multiples beyond the runs: sizes and degrees, and speeds of
/// hardware.
constexpr double kSizesBeyond = 2;
constexpr double kSpeedsBeyond = 1.5;

/// Describes an experiment feature by feature; a number that does not apply is 0.
struct Point {
  std::array<std::set<std::string>, kDomainNames.size()> names;
  std::array<double, kDomainSpans.size()> numbers{};
};

std::set<std::string> gpus_of(const Cluster& cluster) {
  std::set<std::string> names;
  for (std::size_t c = 0; c < cluster.gpu_classes(); ++c) names.insert(cluster.gpu_of_class(c).name);
  return names;
}

/// Returns the features beyond degrees that change how a step works.
std::set<std::string> uses_of(const Experiment& e) {
  std::set<std::string> uses;
  const auto add = [&](bool used, const char* name) {
    if (used) uses.insert(name);
  };
  add(e.model.kind != ModelKind::transformer, "models that are no transformers");
  add(e.model.experts > 0, "experts");
  add(e.model.lora_rank > 0, "LoRA");
  add(e.plan.zero_stage >= 3, "sharded parameters");
  add(e.plan.offload != Offload::none, "offload");
  add(e.data_parallel_sync.method != SyncMethod::all_reduce,
      "other ways to keep replicas in step than all-reduce");
  return uses;
}

Point point_of(const Experiment& e) {
  const Cluster& c = e.cluster;
  const bool joined = c.gpus() > c.gpus_per_domain();
  Point out;
  const auto names = [&](DomainName of) -> std::set<std::string>& {
    return out.names[static_cast<std::size_t>(of)];
  };
  names(DomainName::gpu) = gpus_of(c);
  if (c.gpus_per_domain() > 1) names(DomainName::node).insert(c.graph ? "a graph" : c.node.calibration);
  if (joined) names(DomainName::fabric).insert(c.graph ? "a graph" : c.fabric.calibration);
  names(DomainName::precision)
      .insert(std::string(kPrecisionNames[static_cast<std::size_t>(e.plan.precision)]));
  names(DomainName::uses) = uses_of(e);
  const double node_gbps = c.fabric.nic_gbps * static_cast<double>(c.fabric.nics_per_node);
  out.numbers = {static_cast<double>(e.plan.gpus()),
                 static_cast<double>(parameter_count(e.model)) / 1e9,
                 static_cast<double>(e.model.seq_length),
                 static_cast<double>(e.plan.tensor_parallel),
                 static_cast<double>(e.plan.pipeline_parallel),
                 static_cast<double>(e.plan.context_parallel),
                 static_cast<double>(e.plan.expert_parallel),
                 c.gpu.peak(e.plan.precision),
                 c.gpu.memory_gb_per_s,
                 c.gpus_per_domain() > 1 && !c.graph ? c.node.link_gb_per_s : 0,
                 joined && !c.graph ? node_gbps : 0};
  return out;
}

bool is_speed(std::size_t span) { return span >= static_cast<std::size_t>(DomainSpan::peak_tflops); }

/// Words for the names of a domain; hardware is counted by its own range.
constexpr std::array<std::string_view, kDomainNames.size()> kNameWords{"GPU", "wiring of nodes", "fabric",
                                                                       "precision", "use of"};

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

struct Outside {
  std::vector<std::string> what;
  bool gpu = false;     ///< its kind or speed
  bool fabric = false;  ///< links of either level
};

void mark(Outside& out, DomainName name) {
  out.gpu |= name == DomainName::gpu;
  out.fabric |= name == DomainName::node || name == DomainName::fabric;
}

void mark(Outside& out, DomainSpan span) {
  out.gpu |= span == DomainSpan::peak_tflops || span == DomainSpan::memory_gb_per_s;
  out.fabric |= span == DomainSpan::link_gb_per_s || span == DomainSpan::node_gbps;
}

Outside outside_of(const CalibrationDomain& domain, const Point& point) {
  Outside out;
  for (std::size_t i = 0; i < kDomainNames.size(); ++i) {
    for (const std::string& name : point.names[i]) {
      if (domain.names[i].contains(name)) continue;
      out.what.push_back(fmt::format("{} {} (measured: {})", kNameWords[i],
                                     name.empty() ? "without a calibration" : name, joined(domain.names[i])));
      mark(out, static_cast<DomainName>(i));
    }
  }
  for (std::size_t i = 0; i < kDomainSpans.size(); ++i) {
    const double value = point.numbers[i];
    if (value == 0) continue;
    const ValueSpan span = domain.spans[i].value_or(ValueSpan{});
    const double beyond = is_speed(i) ? kSpeedsBeyond : kSizesBeyond;
    if (span.low / beyond <= value && value <= span.high * beyond) continue;
    out.what.push_back(
        fmt::format("{} {:.4g} (measured: {:.4g} to {:.4g})", kDomainSpans[i], value, span.low, span.high));
    mark(out, static_cast<DomainSpan>(i));
  }
  return out;
}

/// Returns true if no measured run is near: no run had hardware of these speeds, nobody measured its kernels
/// or links, or no run used the method.
bool is_foreign(const CalibrationDomain& kin, const Experiment& e, const Point& point) {
  const auto& uses = point.names[static_cast<std::size_t>(DomainName::uses)];
  if (!std::ranges::includes(kin.of(DomainName::uses), uses)) return true;
  if (e.cluster.gpu.calibration.empty()) return true;
  for (std::size_t i = 0; i < kDomainNames.size(); ++i)
    if (point.names[i].contains("")) return true;
  CalibrationDomain speeds = kin;
  speeds.names = point.names;
  const Outside out = outside_of(speeds, point);
  return out.gpu || out.fabric;
}

void widen(StepTimeRange& range, double p10, double p90) {
  range.p10 = std::min(range.p10, p10);
  range.p90 = std::max(range.p90, p90);
}

}  // namespace

StepTimeRange step_time_range(const Experiment& e) {
  const Software& s = e.software;
  const bool one_node = e.cluster.nodes == 1;
  StepTimeRange range{one_node ? s.error_p10_one_node : s.error_p10_many_nodes,
                      one_node ? s.error_p90_one_node : s.error_p90_many_nodes,
                      {}};
  if (e.domains == nullptr || e.domains->kin.empty()) return range;  // the constants alone speak
  const Point point = point_of(e);
  if (is_foreign(e.domains->kin, e, point)) {
    range.p10 = range.p90 = 0;
    range.outside = outside_of(e.domains->kin, point).what;
    range.none_near = true;
    return range;
  }
  if (e.domains->stack.empty()) {
    widen(range, s.error_p10_new_stack, s.error_p90_new_stack);
    range.outside = {fmt::format("stack {} (no measured run)", e.stack)};
    return range;
  }
  const Outside out = outside_of(e.domains->stack, point);
  range.outside = out.what;
  if (out.gpu) widen(range, s.error_p10_new_gpu, s.error_p90_new_gpu);
  if (out.fabric) widen(range, s.error_p10_new_fabric, s.error_p90_new_fabric);
  if (!out.what.empty() && !out.gpu && !out.fabric)
    widen(range, s.error_p10_new_stack, s.error_p90_new_stack);
  return range;
}

std::string range_sentence(const StepTimeRange& range, const std::string& stack) {
  if (range.outside.empty()) return "";
  std::string what;
  for (const std::string& one : range.outside) what += (what.empty() ? "" : "; ") + one;
  if (range.none_near)
    return "no measured run is near, so the step time has no range: outside of all of them are " + what;
  return fmt::format(
      "outside of the runs that stack {} was held against: {}; the range is that of runs which a fit had not "
      "seen the likes of",
      stack, what);
}

void include(CalibrationDomain& domain, const Experiment& experiment) {
  const Point point = point_of(experiment);
  for (std::size_t i = 0; i < kDomainNames.size(); ++i)
    domain.names[i].insert(point.names[i].begin(), point.names[i].end());
  for (std::size_t i = 0; i < kDomainSpans.size(); ++i) {
    const double value = point.numbers[i];
    if (value == 0) continue;
    const ValueSpan span = domain.spans[i].value_or(ValueSpan{value, value});
    domain.spans[i] = ValueSpan{std::min(span.low, value), std::max(span.high, value)};
  }
}

}  // namespace orrery
