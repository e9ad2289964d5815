#include "importers/machines/wiring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace orrery::importers::machines {
namespace {

/// Links between GPUs: count by the numbers of both ends.
using LinkTable = std::vector<std::map<std::size_t, int>>;

LinkTable direct_links(std::span<const NodeGpu> gpus) {
  std::map<std::string, std::size_t> number_of;
  for (std::size_t i = 0; i < gpus.size(); ++i) number_of.emplace(gpus[i].id, i);
  LinkTable table(gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (const NodeLink& link : gpus[i].links)
      if (const auto end = number_of.find(link.target);
          !link.to_switch && end != number_of.end() && end->second != i)
        table[i][end->second] += link.count;
  return table;
}

int links_to_switches(const NodeGpu& gpu) {
  int count = 0;
  for (const NodeLink& link : gpu.links)
    if (link.to_switch) count += link.count;
  return count;
}

int sum_of(const std::map<std::size_t, int>& links) {
  int sum = 0;
  for (const auto& [end, count] : links) sum += count;
  return sum;
}

/// Returns true if all GPUs have as many neighbours and as many links as the first one.
bool is_even(const LinkTable& table) {
  return std::ranges::all_of(table, [&table](const auto& links) {
    return links.size() == table[0].size() && sum_of(links) == sum_of(table[0]);
  });
}

bool links_are_equal(const LinkTable& table) {
  return std::ranges::all_of(table, [&table](const auto& links) {
    return std::ranges::all_of(
        links, [&table](const auto& link) { return link.second == table[0].begin()->second; });
  });
}

/// GPUs that one can reach from the first one.
std::size_t reached(const LinkTable& table) {
  std::vector<bool> seen(table.size(), false);
  std::vector<std::size_t> open{0};
  std::size_t count = 0;
  seen[0] = true;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    ++count;
    for (const auto& [end, links] : table[at])
      if (!seen[end]) {
        seen[end] = true;
        open.push_back(end);
      }
  }
  return count;
}

/// The hybrid cube mesh of a DGX-1: 8 GPUs of 6 links, 2 to two neighbours and 1 to two others.
bool is_cube_mesh(const LinkTable& table) {
  return table.size() == 8 && is_even(table) && table[0].size() == 4 && sum_of(table[0]) == 6;
}

std::string described_links(const LinkTable& table) {
  const auto by_neighbours = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto [least, most] = std::ranges::minmax(table, by_neighbours);
  if (least.size() == most.size())
    return fmt::format("each of {} GPUs has links to {} others", table.size(), most.size());
  return fmt::format("of {} GPUs some have links to {} others, some to {}", table.size(), least.size(),
                     most.size());
}

/// The full mesh of as many links: those of a GPU, in the mean, spread over all others.
FoundWiring nearest_mesh(const LinkTable& table) {
  double sum = 0;
  for (const auto& links : table) sum += sum_of(links);
  const double gpus = static_cast<double>(table.size());
  return {"full-mesh", sum / gpus / (gpus - 1), described_links(table), true};
}

FoundWiring direct_wiring(const LinkTable& table) {
  const std::string found = described_links(table);
  if (reached(table) == table.size() && is_even(table) && links_are_equal(table)) {
    const double links = table[0].begin()->second;
    if (table[0].size() == table.size() - 1) return {"full-mesh", links, found};
    if (table[0].size() == 2) return {"ring", links, found};
  }
  if (is_cube_mesh(table)) return {"hybrid-cube-mesh", 1, found};
  return nearest_mesh(table);
}

}  // namespace

FoundWiring wiring_of(std::span<const NodeGpu> gpus) {
  if (gpus.size() < 2) return {"", 0, "one GPU"};
  int to_switches = 0;
  for (const NodeGpu& gpu : gpus) to_switches = std::max(to_switches, links_to_switches(gpu));
  if (to_switches > 0)
    return {"nvswitch", static_cast<double>(to_switches), fmt::format("{} links to switches", to_switches)};
  const LinkTable table = direct_links(gpus);
  const bool any = std::ranges::any_of(table, [](const auto& links) { return !links.empty(); });
  return any ? direct_wiring(table) : FoundWiring{"pcie", 0, "no links between GPUs"};
}

}  // namespace orrery::importers::machines
