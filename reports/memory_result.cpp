#include "reports/memory_result.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

Json categories(const StageMemory& stage) {
  Json::object_t bytes;
  bytes.reserve(std::size(kMemoryCategories));
  for (const MemoryCategory& category : kMemoryCategories)
    bytes.emplace_back(category.name, gigabytes(category.bytes(stage)));
  return bytes;
}

}  // namespace

Bytes most_memory(const Report& report, Bytes (StageMemory::*bytes)() const) {
  Bytes most = 0;
  for (const StageMemory& stage : report.stage_memory) most = std::max(most, (stage.*bytes)());
  return most;
}

nlohmann::ordered_json memory_timeline(const Report& report) {
  if (report.memory_timeline.empty()) return Json(Json::value_t::discarded);
  Json stages = Json::array();
  for (const MemoryTimeline& points : report.memory_timeline) {
    Json times = Json::array();
    Json held = Json::array();
    for (const MemoryPoint& point : points) {
      times.push_back(to_seconds(point.at_ps));
      held.push_back(gigabytes(point.bytes));
    }
    stages.push_back({{"stage", stages.size()}, {"at_s", std::move(times)}, {"gb", std::move(held)}});
  }
  return stages;
}

nlohmann::ordered_json memory_per_stage(const Report& report) {
  Json stages = Json::array();
  for (const StageMemory& stage : report.stage_memory) {
    Json::object_t one;
    one.reserve(9);
    one.emplace_back("stage", stages.size());
    one.emplace_back("parameters_gb", gigabytes(stage.parameters));
    one.emplace_back("gradients_gb", gigabytes(stage.gradients));
    one.emplace_back("optimizer_gb", gigabytes(stage.optimizer()));
    one.emplace_back("activations_gb", gigabytes(stage.activations.total()));
    one.emplace_back("workspace_gb", gigabytes(stage.workspace.total()));
    one.emplace_back("peak_gb", gigabytes(stage.total()));
    one.emplace_back("reserved_gb", gigabytes(stage.reserved()));
    one.emplace_back("categories_gb", categories(stage));
    stages.push_back(std::move(one));
  }
  return stages;
}

}  // namespace orrery
