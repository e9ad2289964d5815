// System files of Calculon: peaks and memory of a processor, and a network for each level of the machine.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "importers/common/import_rows.hpp"
#include "importers/simulators/calculon.hpp"

namespace orrery::importers::simulators {
namespace {

constexpr double kBytesPerGib = 1.073741824;  // 2^30 in 1e9
constexpr double kMicrosecondsPerSecond = 1e6;
constexpr double kBitsPerByte = 8;

bool is_system(const SourceFile& file) {
  const auto has = [&file](std::string_view key) { return file.text().find(key) != std::string_view::npos; };
  return has("\"matrix\"") && has("\"mem1\"") && has("\"networks\"");
}

double number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

/// The highest step of a ladder [[at least, share], ...].
double best_step(const Json& ladder) {
  double best = 0;
  if (ladder.is_array())
    for (const Json& step : ladder)
      if (step.is_array() && step.size() == 2 && step[1].is_number())
        best = std::max(best, step[1].get<double>());
  return best;
}

void map_ladder(const SourceKey& key, std::string_view ours, Draft& draft) {
  draft.map(key, ours, best_step(key.value),
            "the highest step: what small kernels lose is no ladder in Orrery (docs/theory/kernels.md)");
}

void map_matrix(const SourceKeys& all, Draft& draft) {
  constexpr std::array<std::array<const char*, 2>, 3> kTypes{
      {{"float16", "fp16"}, {"float8", "fp8"}, {"float32", "fp32"}}};
  for (const auto& [theirs, ours] : kTypes) {
    const SourceKey* peak = all.find(fmt::format("matrix.{}.tflops", theirs));
    if (peak == nullptr) continue;
    draft.map(*peak, fmt::format("cluster.gpu.peak_tflops.{}", ours));
    if (ours == std::string_view("fp16"))
      draft.map(*peak, "cluster.gpu.peak_tflops.bf16", peak->value, "as fast as float16");
  }
  if (const SourceKey* ladder = all.find("matrix.float16.gflops_efficiency"))
    map_ladder(*ladder, "cluster.gpu.gemm_efficiency", draft);
}

void map_gib(const SourceKey& key, std::string_view ours, Draft& draft) {
  if (!key.value.is_number()) return draft.lack(key, "allowed a number of GiB");
  draft.map(key, ours, key.value.get<double>() * kBytesPerGib, "1.0737 GB each");
}

/// The share of the processor that messages take while they overlap with kernels.
void map_usage(const SourceKey& key, const Json& networks, Draft& draft) {
  double most = 0;
  for (const Json& network : networks) most = std::max(most, number_in(network, "processor_usage"));
  draft.map({"networks.processor_usage", most, key.place}, "cluster.gpu.communication_interference");
}

void map_inner(const SourceKey& key, const Json& network, Draft& draft) {
  const auto part = [&key](const char* name, double value) {
    return SourceKey{fmt::format("networks[0].{}", name), value, key.place};
  };
  draft.map({"networks[0].size", network.value("size", Json()), key.place}, "cluster.gpus_per_node");
  draft.map(part("bandwidth", number_in(network, "bandwidth")), "cluster.node.link_gb_per_s");
  draft.map(part("efficiency", number_in(network, "efficiency")), "cluster.node.efficiency");
  draft.map(part("latency", number_in(network, "latency")), "cluster.node.base_latency_us",
            number_in(network, "latency") * kMicrosecondsPerSecond);
  draft.default_to("cluster.node.kind", "nvswitch",
                   "Calculon's networks let all processors talk at their rate");
}

void map_outer(const SourceKey& key, const Json& network, const Json& processors, Draft& draft) {
  const auto part = [&key](const char* name, double value) {
    return SourceKey{fmt::format("networks[1].{}", name), value, key.place};
  };
  const double gb_per_s = number_in(network, "bandwidth");
  draft.map(part("bandwidth", gb_per_s), "cluster.fabric.nic_gbps", gb_per_s * kBitsPerByte,
            "GB/s of each processor");
  draft.map({"networks[0].size", processors, key.place}, "cluster.fabric.nics_per_node", processors,
            "a NIC for each processor");
  draft.map(part("efficiency", number_in(network, "efficiency")), "cluster.fabric.efficiency");
  draft.map(part("latency", number_in(network, "latency")), "cluster.fabric.base_latency_us",
            number_in(network, "latency") * kMicrosecondsPerSecond);
}

void map_networks(const SourceKey& key, Draft& draft) {
  const Json& networks = key.value;
  const bool readable =
      networks.is_array() && !networks.empty() &&
      std::ranges::all_of(networks, [](const Json& network) { return network.is_object(); });
  if (!readable)
    return draft.lack(key, "allowed a list of objects with bandwidth, efficiency, size, latency");
  map_inner(key, networks[0], draft);
  if (networks.size() > 1) map_outer(key, networks[1], networks[0].value("size", Json()), draft);
  if (networks.size() > 2)
    draft.contradict(key, fmt::format("found {} networks; Orrery has a node and a fabric: --set cluster=NAME",
                                      networks.size()));
  map_usage(key, networks, draft);
  draft.ignore({"networks.ops", "factors of operations", key.place},
               "Orrery's algorithms of collectives count their messages themselves");
}

void map_memory(const SourceKeys& all, Draft& draft) {
  if (const SourceKey* size = all.find("mem1.GiB")) map_gib(*size, "cluster.gpu.memory_gb", draft);
  if (const SourceKey* rate = all.find("mem1.GBps")) draft.map(*rate, "cluster.gpu.memory_gb_per_s");
  if (const SourceKey* ladder = all.find("mem1.MB_efficiency"))
    map_ladder(*ladder, "cluster.gpu.memory_efficiency", draft);
  if (const SourceKey* host = all.find("mem2.GBps")) draft.map(*host, "cluster.gpu.host_link_gb_per_s");
  if (const SourceKey* host = all.find("mem2.GiB"))
    draft.ignore(*host, "Orrery does not run out of the host's memory");
}

void ignore_units(const SourceKeys& all, Draft& draft) {
  for (const SourceKey& key : all.list()) {
    if (key.key.starts_with("vector."))
      draft.ignore(key, "kernels that are no products take the time of their memory traffic");
    if (key.key == "processing_mode")
      draft.ignore(key, "Orrery's kernels take the longer of computing and of moving their operands");
  }
}

void read_system(const ImportContext& context, Draft& draft) {
  const SourceKeys keys(context.file);
  map_matrix(keys, draft);
  map_memory(keys, draft);
  if (const SourceKey* networks = keys.find("networks")) map_networks(*networks, draft);
  ignore_units(keys, draft);
  draft.default_to("cluster.gpu.name", "processor of Calculon's system", "the file has no name");
}

}  // namespace

const Importer kCalculonSystem{{"calculon-system", "Machine of Calculon (system)"}, is_system, read_system};

}  // namespace orrery::importers::simulators
