#include "config/catalog/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "config/schema/experiment_keys.hpp"
#include "config/schema/fields.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

template <class T>
void add(std::vector<Constant>& out, std::string_view part, const std::string& prefix,
         const std::vector<Field<T>>& fields) {
  for (const Field<T>& field : fields) {
    const auto* member = std::get_if<double T::*>(&field.target);
    if (field.type != FieldType::number || member == nullptr) continue;
    out.push_back({prefix + std::string(field.name), field.name, part, field.unit, field.minimum,
                   field.maximum, *member});
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
