#include "config/catalog/price_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "config/schema/experiment_keys.hpp"
#include "config/schema/fields.hpp"
#include "config/schema/overrides.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

enum class Kind : std::uint8_t { neither, rate, time };

Kind kind_of(std::string_view unit) {
  if (unit == "GB/s" || unit == "Gb/s" || unit == "TFLOP/s") return Kind::rate;
  return unit == "us" || unit == "ms" ? Kind::time : Kind::neither;
}

class Listing {
 public:
  explicit Listing(const Experiment& experiment) : experiment_(experiment) {}

  std::vector<PriceKey> list() {
    add_constants();
    for (std::size_t c = 0; c < experiment_.cluster.gpu_classes(); ++c) add_gpu(c);
    if (experiment_.cluster.graph) add_graph();
    if (experiment_.cluster.regions) add_regions();
    return std::move(keys_);
  }

 private:
  /// Adds the price keys of one object, which `in` returns.
  template <class T, class In>
  void add(const std::string& prefix, const std::vector<Field<T>>& fields, In in) {
    for (const Field<T>& field : fields) {
      const auto* member = std::get_if<double T::*>(&field.target);
      const Kind kind = kind_of(field.unit);
      if (field.type != FieldType::number || member == nullptr || kind == Kind::neither) continue;
      keys_.push_back({prefix + std::string(field.name), field.unit, kind == Kind::rate, field.minimum,
                       field.maximum, [in, of = *member](Experiment& e) -> double& { return in(e).*of; }});
    }
  }

  void add_constants() {
    add("software.", software_fields(), [](Experiment& e) -> Software& { return e.software; });
    if (experiment_.cluster.graph) return;
    add("cluster.node.", node_fields(), [](Experiment& e) -> NodeWiring& { return e.cluster.node; });
    add("cluster.fabric.", fabric_fields(), [](Experiment& e) -> Fabric& { return e.cluster.fabric; });
  }

  void add_gpu(std::size_t gpu_class) {
    const auto in = [gpu_class](Experiment& e) -> Gpu& {
      return gpu_class == 0 ? e.cluster.gpu : e.cluster.other_gpus[gpu_class - 1];
    };
    const std::string prefix = name_of_gpu(gpu_class);
    add(prefix, gpu_fields(), in);
    const FieldInfo& peak = peak_field();
    for (std::size_t unit = 0; unit < kUnitCount; ++unit) {
      const auto of = [in, unit](Experiment& e) -> double& { return in(e).peak_tflops[unit]; };
      keys_.push_back({prefix + "peak_tflops." + std::string(kPrecisionNames[unit]), peak.unit, true,
                       peak.minimum, peak.maximum, of});
    }
  }

  [[nodiscard]] std::string name_of_gpu(std::size_t gpu_class) const {
    const Cluster& cluster = experiment_.cluster;
    if (cluster.gpu_classes() == 1) return "cluster.gpu.";
    const auto group = std::ranges::find(cluster.groups, gpu_class, &NodeGroup::gpu_class);
    return fmt::format("cluster.groups.{}.gpu.", group - cluster.groups.begin());
  }

  void add_graph() {
    for (std::size_t i = 0; i < experiment_.cluster.graph->links.size(); ++i)
      add(fmt::format("cluster.graph.links.{}.", i), graph_link_fields(),
          [i](Experiment& e) -> GraphLink& { return e.cluster.graph->links[i]; });
  }

  void add_regions() {
    for (std::size_t i = 0; i < experiment_.cluster.regions->links.size(); ++i)
      add(fmt::format("cluster.regions.links.{}.", i), site_link_fields(),
          [i](Experiment& e) -> SiteLink& { return e.cluster.regions->links[i]; });
  }

  const Experiment& experiment_;
  std::vector<PriceKey> keys_;
};

}  // namespace

std::vector<PriceKey> price_keys(const Experiment& experiment) { return Listing(experiment).list(); }

std::vector<PriceKey> price_keys_named(const Experiment& experiment, const std::vector<std::string>& names) {
  std::vector<PriceKey> all = price_keys(experiment);
  std::vector<std::string_view> known;
  for (const PriceKey& key : all) known.push_back(key.key);
  const std::vector<std::string>& every = experiment_keys();
  std::vector<PriceKey> found;
  std::vector<Diagnostic> wrong;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(all, name, &PriceKey::key);
    if (at != all.end()) {
      found.push_back(*at);
      continue;
    }
    const bool is_key = std::ranges::find(every, name) != every.end();
    wrong.push_back(
        {kCommandLine, 0, 0, "",
         fmt::format("--what-if: found {}{}, allowed a bandwidth, a latency, a peak or a time of kernels or "
                     "host, such as cluster.fabric.nic_gbps, or all{}",
                     quote(name), is_key ? ", by which a step time has no derivative" : "",
                     hint(name, known))});
  }
  if (!wrong.empty()) throw InputError(std::move(wrong));
  return found;
}

}  // namespace orrery
