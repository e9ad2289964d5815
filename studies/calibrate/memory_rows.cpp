#include "studies/calibrate/memory_rows.hpp"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

constexpr std::array<std::string_view, 6> kConstants{
    "software.allocator_overhead", "software.framework_gb",         "software.context_gb",
    "software.communicator_mb",    "software.kept_bytes_per_logit", "software.loss_bytes_per_logit"};
constexpr std::array<std::string_view, 3> kQuantities{"memory.peak_gb", "memory.reserved_gb",
                                                      "memory.device_gb"};

}  // namespace

bool is_memory_constant(std::string_view key) {
  return std::ranges::find(kConstants, key) != kConstants.end();
}

std::vector<FitRow> memory_rows(const FitRow& row, const MeasuredRow& measured) {
  std::vector<FitRow> rows;
  if (!measured.skipped_because.empty() || measured.kept_back) return rows;
  for (const std::string_view quantity : kQuantities) {
    const auto found = std::ranges::find(measured.measured, quantity, &Measurement::key);
    if (found == measured.measured.end()) continue;
    rows.push_back(row);
    rows.back().figure = quantity;
    rows.back().measured = found->value;
  }
  return rows;
}

}  // namespace orrery
