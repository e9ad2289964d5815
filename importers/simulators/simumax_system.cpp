// System files of SimuMax: an accelerator and its networks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "importers/common/import_rows.hpp"
#include "importers/common/text_lines.hpp"
#include "importers/simulators/simumax.hpp"

namespace orrery::importers::simulators {
namespace {

constexpr double kGbPerGib = 1.073741824;
constexpr double kBits = 8;

bool is_accelerator(const SourceFile& file) {
  const auto has = [&file](std::string_view key) { return file.text().find(key) != std::string_view::npos; };
  return has("\"accelerator\"") && has("\"mem_gbs\"");
}

void map_accelerator(const SourceKeys& all, Draft& draft) {
  if (const SourceKey* name = all.find("sys_name")) draft.map(*name, "cluster.gpu.name");
  if (const SourceKey* memory = all.find("accelerator.mem_gbs");
      memory != nullptr && memory->value.is_number())
    draft.map(*memory, "cluster.gpu.memory_gb", memory->value.get<double>() * kGbPerGib,
              "SimuMax counts in 2^30 bytes");
  const char* op = all.contains("accelerator.op.matmul.tflops") ? "matmul" : "default";
  if (const SourceKey* peak = all.find(fmt::format("accelerator.op.{}.tflops", op))) {
    draft.map(*peak, "cluster.gpu.peak_tflops.bf16");
    draft.map(*peak, "cluster.gpu.peak_tflops.fp16", peak->value, "as fast as bf16");
  }
  if (const SourceKey* share = all.find(fmt::format("accelerator.op.{}.efficient_factor", op)))
    draft.map(*share, "cluster.gpu.gemm_efficiency");
  if (const SourceKey* rate = all.find("accelerator.bandwidth.default.gbps"))
    draft.map(*rate, "cluster.gpu.memory_gb_per_s");
  if (const SourceKey* share = all.find("accelerator.bandwidth.default.efficient_factor"))
    draft.map(*share, "cluster.gpu.memory_efficiency");
}

/// The network inside a node that the GPUs use when all of them talk: the last with "intra" in its name that
/// is "high" or of eight, else the first.
std::string inner_network(const SourceKeys& all) {
  constexpr std::array<std::string_view, 5> kNames{"high_intra_node", "intra_node", "intra_node_pcie_8x",
                                                   "intra_with_pcie", "low_intra_node"};
  for (const std::string_view name : kNames)
    if (all.contains(fmt::format("networks.{}.bandwidth.gbps", name))) return std::string(name);
  return "";
}

bool over_pcie(const SourceKeys& all, const std::string& network) {
  return network.find("pcie") != std::string::npos || all.value("intra_with_pcie") == true;
}

void map_node_network(const SourceKeys& all, Draft& draft) {
  const std::string name = inner_network(all);
  const SourceKey* rate = all.find(fmt::format("networks.{}.bandwidth.gbps", name));
  if (rate == nullptr) return;
  draft.map(*rate, "cluster.node.link_gb_per_s", rate->value, "GB/s, whatever the key is called");
  draft.default_to("cluster.node.kind", over_pcie(all, name) ? "pcie" : "nvswitch",
                   fmt::format("SimuMax calls it {}", name));
  if (const SourceKey* share = all.find(fmt::format("networks.{}.bandwidth.efficient_factor", name)))
    draft.map(*share, "cluster.node.efficiency");
  if (const SourceKey* latency = all.find(fmt::format("networks.{}.bandwidth.latency_us", name)))
    draft.map(*latency, "cluster.node.base_latency_us");
}

void map_fabric_network(const SourceKeys& all, Draft& draft) {
  const SourceKey* rate = all.find("networks.inter_node.bandwidth.gbps");
  if (rate == nullptr || !rate->value.is_number()) return;
  draft.map(*rate, "cluster.fabric.nic_gbps", rate->value.get<double>() * kBits,
            "GB/s of each accelerator, whatever the key is called");
  if (const SourceKey* count = all.find("num_per_node"))
    draft.map(*count, "cluster.fabric.nics_per_node", count->value, "a NIC for each accelerator");
  if (const SourceKey* share = all.find("networks.inter_node.bandwidth.efficient_factor"))
    draft.map(*share, "cluster.fabric.efficiency");
  if (const SourceKey* latency = all.find("networks.inter_node.bandwidth.latency_us"))
    draft.map(*latency, "cluster.fabric.base_latency_us");
}

/// One line for all measured efficiencies of a kind of kernel, of which there may be hundreds.
void ignore_measured(const SourceKeys& all, Draft& draft) {
  std::string last;
  for (const SourceKey& key : all.list()) {
    const std::size_t at = key.key.find(".accurate_efficient_factor.");
    const std::string part = at == std::string::npos ? "" : key.key.substr(0, at);
    if (!part.empty() && part != last)
      draft.ignore(
          {part + ".accurate_efficient_factor", "shapes with their shares", key.place},
          "measured shares of single shapes: Orrery prices a kernel by its shape and the constants of a "
          "calibration");
    if (key.key.find(".op.") != std::string::npos && key.key.starts_with("networks.") && part.empty() &&
        key.key.ends_with(".scale"))
      draft.ignore(key, "Orrery's algorithms of collectives count their messages themselves");
    if (!part.empty()) last = part;
  }
}

void read_simumax_system(const ImportContext& context, Draft& draft) {
  const SourceKeys keys(context.file);
  map_accelerator(keys, draft);
  if (const SourceKey* count = keys.find("num_per_node")) draft.map(*count, "cluster.gpus_per_node");
  map_node_network(keys, draft);
  map_fabric_network(keys, draft);
  ignore_measured(keys, draft);
}

}  // namespace

const Importer kSimumaxSystem{
    {"simumax-system", "Machine of SimuMax (system)"}, is_accelerator, read_simumax_system};

}  // namespace orrery::importers::simulators
