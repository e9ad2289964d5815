// Topologies of SimAI: counts, the ids of switches, then source, destination, rate, latency and errors of
// each link. GPUs come first, then NVSwitches, then other switches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "importers/common/gpu_names.hpp"
#include "importers/common/text_lines.hpp"
#include "importers/simulators/simai.hpp"

namespace orrery::importers::simulators {
namespace {

constexpr std::size_t kHeadOfTopology = 65536;  ///< the second line has the ids of all switches

struct Counts {
  std::int64_t vertices = 0, gpus_per_server = 0, nv_switches = 0, switches = 0, links = 0;
  std::string gpu;

  [[nodiscard]] std::int64_t gpus() const { return vertices - nv_switches - switches; }
  [[nodiscard]] bool is_gpu(std::int64_t id) const { return id < gpus(); }
  [[nodiscard]] bool is_nv_switch(std::int64_t id) const { return id >= gpus() && id < gpus() + nv_switches; }
};

struct TopologyLink {
  std::int64_t from = 0, to = 0;
  double gbps = 0;
  double latency_us = 0;
  int line = 0;
};

/// A number with one of the units, in the first of them; nothing where it has none.
std::optional<double> quantity(std::string_view text,
                               const std::array<std::pair<std::string_view, double>, 4>& units) {
  const auto value = leading_number(text);
  if (!value) return std::nullopt;
  for (const auto& [unit, factor] : units)
    if (text.ends_with(unit)) return *value * factor;
  return std::nullopt;
}

std::optional<TopologyLink> link_of(const TextLine& line) {
  const std::vector<std::string_view> words = words_of(line.text);
  if (words.size() != 5) return std::nullopt;
  const auto from = integer_of(words[0]), to = integer_of(words[1]);
  const auto gbps = quantity(words[2], {{{"Gbps", 1}, {"Tbps", 1000}, {"Mbps", 1e-3}, {"Kbps", 1e-6}}});
  const auto us = quantity(words[3], {{{"ms", 1000}, {"us", 1}, {"ns", 1e-3}, {"s", 1e6}}});
  if (!from || !to || !gbps || !us) return std::nullopt;
  return TopologyLink{*from, *to, *gbps, *us, line.number};
}

std::optional<Counts> counts_of(const TextLine& line) {
  const std::vector<std::string_view> words = words_of(line.text);
  if (words.size() != 6) return std::nullopt;
  std::array<std::int64_t, 5> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = integer_of(words[i]);
    if (!number || *number < 0) return std::nullopt;
    numbers[i] = *number;
  }
  return Counts{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], std::string(words[5])};
}

bool is_simai_topology(const SourceFile& file) {
  const SourceFile head = head_of(file, kHeadOfTopology);
  const std::vector<TextLine> lines = lines_of(head);
  return lines.size() > 2 && counts_of(lines[0]) && link_of(lines[2]);
}

/// The first link of each kind, and links of GPU 0 to switches of the fabric.
struct Links {
  std::optional<TopologyLink> inner, outer;
  std::int64_t nics_of_gpu = 0;
  std::map<std::int64_t, std::int64_t> gpus_of_leaf;
  double below_gbps = 0, above_gbps = 0;
};

Links links_of(const std::vector<TextLine>& lines, const Counts& counts) {
  Links out;
  for (std::size_t i = 2; i < lines.size(); ++i) {
    const auto link = link_of(lines[i]);
    if (!link) continue;
    const std::int64_t low = std::min(link->from, link->to), high = std::max(link->from, link->to);
    if (!counts.is_gpu(low)) {
      if (out.gpus_of_leaf.contains(low) != out.gpus_of_leaf.contains(high)) out.above_gbps += link->gbps;
      continue;
    }
    if (counts.is_nv_switch(high) || counts.is_gpu(high)) {
      if (!out.inner) out.inner = link;
      continue;
    }
    if (!out.outer) out.outer = link;
    out.nics_of_gpu += low == 0 ? 1 : 0;
    ++out.gpus_of_leaf[high];
    out.below_gbps += link->gbps;
  }
  return out;
}

void map_inner(const TopologyLink& link, const SourceFile& file, Draft& draft) {
  const SourceKey key =
      key_at(file, link.line, "link of a GPU to its NVSwitch", fmt::format("{} Gb/s", link.gbps));
  draft.map(key, "cluster.node.kind", "nvswitch");
  draft.map(key, "cluster.node.link_gb_per_s", link.gbps / 8, "8 bits a byte");
  draft.map(key_at(file, link.line, "latency", link.latency_us), "cluster.node.latency_us",
            2 * link.latency_us, "to the switch and on");
}

/// SimAI's GPUs have a NIC each and a leaf for each GPU of a server (rails), or one leaf for all.
void map_outer(const Links& links, const Counts& counts, const SourceFile& file, Draft& draft) {
  const TopologyLink& link = *links.outer;
  const SourceKey key =
      key_at(file, link.line, "link of a GPU to a switch", fmt::format("{} Gb/s", link.gbps));
  draft.map(key, "cluster.fabric.nic_gbps", link.gbps);
  draft.map(key, "cluster.fabric.nics_per_node", links.nics_of_gpu * counts.gpus_per_server);
  draft.map(key_at(file, link.line, "latency", link.latency_us), "cluster.fabric.latency_us",
            link.latency_us);
  const auto leaves = static_cast<std::int64_t>(links.gpus_of_leaf.size());
  std::int64_t most = 0;
  for (const auto& [leaf, gpus] : links.gpus_of_leaf) most = std::max(most, gpus);
  const SourceKey found = key_at(file, 1, "leaves", leaves);
  if (leaves < 2) return draft.map(found, "cluster.fabric.kind", "switch");
  const bool rails = leaves >= counts.gpus_per_server && counts.gpus_per_server > 1;
  draft.map(found, "cluster.fabric.kind", rails ? "rail-optimized" : "fat-tree");
  if (rails) draft.map(found, "cluster.fabric.shape", Json::array({most}), "nodes of a leaf");
  if (links.above_gbps > 0)
    draft.map(found, "cluster.fabric.oversubscription", std::max(1.0, links.below_gbps / links.above_gbps),
              "rates below the leaves over those above");
}

void read_simai_topology(const ImportContext& context, Draft& draft) {
  const std::vector<TextLine> lines = lines_of(context.file);
  const std::optional<Counts> counts = lines.empty() ? std::nullopt : counts_of(lines[0]);
  if (!counts || counts->gpus() < 1 || counts->gpus_per_server < 1)
    return draft.lack(
        key_at(context.file, 1, "counts", nullptr),
        "allowed nodes, GPUs of a server, NVSwitches, other switches, links, and the name of the GPU");
  const SourceKey gpu = key_at(context.file, 1, "gpu", counts->gpu);
  const GpuGuess guess = gpu_of_words(counts->gpu);
  if (guess.known())
    draft.map(gpu, "cluster.gpu", guess.catalog, guess.doubt);
  else if (!draft.settled("cluster.gpu"))
    draft.lack(gpu, "no GPU of the catalog is called so: --set cluster.gpu=NAME");
  draft.map(key_at(context.file, 1, "GPUs of a server", counts->gpus_per_server), "cluster.gpus_per_node");
  draft.map(key_at(context.file, 1, "GPUs", counts->gpus()), "cluster.nodes",
            (counts->gpus() + counts->gpus_per_server - 1) / counts->gpus_per_server);
  const Links links = links_of(lines, *counts);
  if (links.inner) map_inner(*links.inner, context.file, draft);
  if (links.outer) map_outer(links, *counts, context.file, draft);
}

}  // namespace

const Importer kSimaiTopology{
    {"simai-topology", "Topology of SimAI"}, is_simai_topology, read_simai_topology};

}  // namespace orrery::importers::simulators
