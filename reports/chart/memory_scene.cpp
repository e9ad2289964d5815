#include "reports/chart/memory_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "orrery/error.hpp"

namespace orrery {
namespace {

constexpr double kGigabyte = 1e9;

struct MemoryPart {
  std::string_view name;
  Bytes (*of)(const StageMemory&);
};
/// Each byte of StageMemory::device() once.
constexpr std::array<MemoryPart, 7> kMemoryParts{
    {{"parameters", [](const StageMemory& m) { return m.parameters; }},
     {"gradients", [](const StageMemory& m) { return m.gradients; }},
     {"optimizer states", [](const StageMemory& m) { return m.optimizer(); }},
     {"activations", [](const StageMemory& m) { return m.activations.total(); }},
     {"working memory", [](const StageMemory& m) { return m.workspace.total(); }},
     {"fragmentation", [](const StageMemory& m) { return m.fragmentation; }},
     {"outside the allocator", [](const StageMemory& m) { return m.outside; }}}};

bool is_alike(const StageMemory& a, const StageMemory& b) {
  return std::ranges::all_of(kMemoryParts, [&](const MemoryPart& part) { return part.of(a) == part.of(b); });
}

std::string stages_name(std::size_t first, std::size_t last) {
  return first == last ? fmt::format("stage {}", first) : fmt::format("stages {}–{}", first, last);
}

}  // namespace

ChartScene memory_scene(const Report& report) {
  const std::vector<StageMemory>& stages = report.stage_memory;
  if (stages.empty()) throw InputError("", "the result has no memory of stages to draw");
  ChartScene scene{report.name, "", {"memory of a GPU (GB)", AxisScale::linear, {}, {}, true}, {}};
  scene.y.scale = AxisScale::names;
  std::vector<SceneSeries> series;
  for (const MemoryPart& part : kMemoryParts)
    series.push_back({std::string(part.name), SeriesMark::bars, {}});
  for (std::size_t first = 0; first < stages.size();) {
    std::size_t last = first;
    while (last + 1 < stages.size() && is_alike(stages[first], stages[last + 1])) ++last;
    const auto row = static_cast<double>(scene.y.names.size());
    scene.y.names.push_back(stages_name(first, last));
    for (std::size_t part = 0; part < series.size(); ++part)
      series[part].points.emplace_back(static_cast<double>(kMemoryParts[part].of(stages[first])) / kGigabyte,
                                       row);
    first = last + 1;
  }
  for (SceneSeries& one : series)
    if (std::ranges::any_of(one.points, [](const auto& point) { return point.first > 0; }))
      scene.series.push_back(std::move(one));
  if (report.gpu_memory > 0) {
    const double limit = static_cast<double>(report.gpu_memory) / kGigabyte;
    scene.rules.push_back({RuleKind::vertical, limit, fmt::format("the GPU has {:.1f} GB", limit)});
  }
  scene.caption = fmt::format("At the peak of a step; 1 GB is 10⁹ bytes; {} GPUs", report.gpus);
  if (!report.model.empty()) scene.caption += "; " + report.model;
  scene.caption += report.feasible ? "." : "; does not fit.";
  return scene;
}

}  // namespace orrery
