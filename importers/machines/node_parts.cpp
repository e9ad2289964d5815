#include "importers/machines/node_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "importers/machines/nics.hpp"
#include "importers/machines/wiring.hpp"

namespace orrery::importers::machines {
namespace {

constexpr double kOldestGtPerS = 2.5;

SourceKey at(const FilePlace& place, std::string key, Json value) {
  return {std::move(key), std::move(value), place};
}

void map_gpus(const std::vector<NodeGpu>& gpus, Draft& draft) {
  const NodeGpu& first = gpus.front();
  const auto other = std::ranges::find_if(gpus, [&first](const NodeGpu& gpu) {
    return gpu.guess.words != first.guess.words && !gpu.guess.words.empty();
  });
  if (other != gpus.end())
    return draft.contradict(
        at(other->place, "gpu", other->guess.words),
        fmt::format("the node has {} too; Orrery's nodes have one kind of GPU: --set cluster.gpu=NAME",
                    first.guess.words));
  if (!first.guess.words.empty()) map_gpu(first.guess, first.told_by, draft);
  draft.map(at(first.place, "gpus", gpus.size()), "cluster.gpus_per_node");
}

/// Emulated bridges of virtual machines show the slowest link there is, on one lane.
bool is_emulated(const PciSpeed& pci) { return pci.gt_per_s <= kOldestGtPerS || pci.lanes <= 1; }

void map_pcie(const NodeGpu& gpu, Draft& draft) {
  if (!gpu.pci.given()) return;
  const SourceKey key =
      at(gpu.place, "link_speed x link_width", fmt::format("{} GT/s x {}", gpu.pci.gt_per_s, gpu.pci.lanes));
  if (is_emulated(gpu.pci))
    return draft.ignore(key, "as slow as virtual machines show their bridges, whatever the link");
  draft.map(key, "cluster.node.link_gb_per_s", gpu.pci.gb_per_s(),
            fmt::format("{} GT/s x {} lanes / 8", gpu.pci.gt_per_s, gpu.pci.lanes));
}

void map_links(const NodeGpu& gpu, const FoundWiring& wiring, Draft& draft) {
  const SourceKey key = at(gpu.links.front().place, "links", wiring.links);
  if (gpu.link_gb_per_s == 0) return draft.map(key, launch::kLinks);
  draft.map(key, "cluster.node.link_gb_per_s", wiring.links * gpu.link_gb_per_s,
            fmt::format("{:.4g} x {} GB/s, one direction", wiring.links, gpu.link_gb_per_s));
}

/// The first GPU that has links, else the first of all.
const NodeGpu& first_with_links(const std::vector<NodeGpu>& gpus) {
  const auto found = std::ranges::find_if(gpus, [](const NodeGpu& gpu) { return !gpu.links.empty(); });
  return found == gpus.end() ? gpus.front() : *found;
}

void map_wiring(const std::vector<NodeGpu>& gpus, const ImportContext& context, Draft& draft) {
  const FoundWiring wiring = wiring_of(gpus);
  if (wiring.kind.empty() || draft.settled("cluster.node.kind")) return;
  const NodeGpu& linked = first_with_links(gpus);
  const SourceKey key =
      at(linked.links.empty() ? linked.place : linked.links.front().place, "links", wiring.found);
  if (wiring.nearest && !context.options.approximate)
    return draft.lack(key, fmt::format("no wiring of Orrery is like this: --approximate takes a {} with the "
                                       "links of a GPU spread over all others, --set "
                                       "cluster.node.kind=KIND another one",
                                       wiring.kind));
  draft.map(key, "cluster.node.kind", wiring.kind,
            wiring.nearest ? "the nearest: the links of a GPU spread over all others" : "");
  if (wiring.kind == "pcie")
    map_pcie(gpus.front(), draft);
  else
    map_links(linked, wiring, draft);
}

}  // namespace

double PciSpeed::gb_per_s() const {
  // 8 of 10 bits carry data up to 5 GT/s; from 8 GT/s on nearly all do.
  const double data = gt_per_s < 8 ? 0.8 : 1;
  return gt_per_s * data * lanes / 8;
}

void map_gpu(const GpuGuess& guess, const SourceKey& key, Draft& draft) {
  if (draft.settled("cluster.gpu") || draft.settled("cluster.base"))
    return draft.ignore(key, "--set gives the GPU");
  if (!guess.known())
    return draft.lack(key,
                      fmt::format("the catalog has no {}: --set cluster.gpu=NAME takes one of orrery list "
                                  "gpus, or an object with its peaks and memory",
                                  guess.words));
  draft.map(key, "cluster.gpu", guess.catalog,
            guess.doubt.empty() ? guess.words : guess.doubt + "; --set cluster.gpu=NAME takes another one");
}

void map_node(const NodeParts& node, const ImportContext& context, Draft& draft) {
  if (!node.gpus.empty()) {
    map_gpus(node.gpus, draft);
    map_wiring(node.gpus, context, draft);
  }
  map_nics(node.nics, draft);
}

}  // namespace orrery::importers::machines
