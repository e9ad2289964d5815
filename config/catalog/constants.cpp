#include "config/catalog/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "config/schema/experiment_keys.hpp"
#include "config/schema/fields.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

// Beyond these a constant is not what its key says. None comes from a fit.
constexpr std::array<PhysicalInterval, 10> kIntervals{{
    {"software.gemm_speed", 0.7, 1.3, "libraries for one architecture differ by less than a third"},
    {"software.flash_speed", 0.5, 1.5, "kernels of one generation of attention differ by less than half"},
    {"software.elementwise_traffic", 1, 6,
     "1: every chain of elementwise operations is one kernel; 6: each operation of a norm in 32 bits is one"},
    {"software.tensor_overlap", 0, 0.95, "the first and the last chunk have nothing to hide behind"},
    {"software.straggler_share", 0, 0.05, "GPUs of a job that differ by more are replaced"},
    {"software.allocator_overhead", 0, 0.3, "an allocator that wastes more is set to expandable segments"},
    {"software.weight_read_share", 0.5, 1, "weights are read once, at most at the pace of the memory"},
    {"software.cached_attention_share", 0.5, 1, "a cache is read once, at most at the pace of the memory"},
    {"cluster.gpu.gemm_efficiency", 0.4, 1, "the largest products of a short run over the peak"},
    {"cluster.gpu.memory_efficiency", 0.6, 0.96, "refresh and turnarounds take the rest"},
}};

template <class T>
void add(std::vector<Constant>& out, std::string_view part, const std::string& prefix,
         const std::vector<Field<T>>& fields) {
  for (const Field<T>& field : fields) {
    const auto* member = std::get_if<double T::*>(&field.target);
    if (field.type != FieldType::number || member == nullptr) continue;
    const std::string key = prefix + std::string(field.name);
    const PhysicalInterval* physical = physical_interval(key);
    const double least = physical != nullptr ? physical->least : field.minimum;
    const double most = physical != nullptr ? physical->most : field.maximum;
    out.push_back({key, field.name, part, field.unit, least, most, *member});
  }
}

const std::vector<Constant>& constants() {
  static const std::vector<Constant> made = [] {
    std::vector<Constant> out;
    add(out, "software", "software.", software_fields());
    add(out, "gpu", "cluster.gpu.", gpu_fields());
    add(out, "node", "cluster.node.", node_fields());
    add(out, "fabric", "cluster.fabric.", fabric_fields());
    return out;
  }();
  return made;
}

template <class E>
auto& part_of(E& e, double Software::* /*member*/) {
  return e.software;
}
template <class E>
auto& part_of(E& e, double Gpu::* /*member*/) {
  return e.cluster.gpu;
}
template <class E>
auto& part_of(E& e, double NodeWiring::* /*member*/) {
  return e.cluster.node;
}
template <class E>
auto& part_of(E& e, double Fabric::* /*member*/) {
  return e.cluster.fabric;
}

bool is_calibrated(std::string_view key) {
  return key.starts_with("software.") || key.starts_with("cluster.gpu.") ||
         key.starts_with("cluster.node.") || key.starts_with("cluster.fabric.");
}

}  // namespace

const PhysicalInterval* physical_interval(std::string_view key) {
  const auto* const found = std::ranges::find(kIntervals, key, &PhysicalInterval::key);
  return found != kIntervals.end() ? found : nullptr;
}

double Constant::get(const Experiment& experiment) const {
  return std::visit([&](auto of) { return part_of(experiment, of).*of; }, member);
}

void Constant::set(Experiment& experiment, double value) const {
  std::visit([&](auto of) { part_of(experiment, of).*of = value; }, member);
}

Constant constant_named(std::string_view key) {
  const auto found = std::ranges::find(constants(), key, &Constant::key);
  if (found != constants().end()) return *found;
  const auto& keys = experiment_keys();
  const bool known = is_calibrated(key) && std::ranges::find(keys, key) != keys.end();
  std::vector<std::string_view> names;
  for (const Constant& constant : constants()) names.push_back(constant.key);
  const std::string why =
      known ? fmt::format("found {}, which is no number that small steps can change", quote(key))
            : fmt::format("found {}", quote(key));
  throw InputError({Diagnostic{kCommandLine, 0, 0, "",
                               fmt::format("{}; allowed a constant of software, cluster.gpu, cluster.node or "
                                           "cluster.fabric{}",
                                           why, hint(key, names))}});
}

}  // namespace orrery
