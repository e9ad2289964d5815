// The page of an explanation (reports/page/assets/explain.js): terms, causes, and both timelines.
#include <nlohmann/json.hpp>

#include "reports/page/page.hpp"
#include "studies/explain/account.hpp"
#include "studies/explain/writers.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostLanes = 64;

OrderedJson lane_json(const ExplainedTimelines::Lane& lane) {
  OrderedJson start = OrderedJson::array();
  OrderedJson finish = OrderedJson::array();
  OrderedJson term = OrderedJson::array();
  for (const LaneStretch& stretch : lane.stretches) {
    start.push_back(static_cast<double>(stretch.range.start_ns) * 1e-9);
    finish.push_back(static_cast<double>(stretch.range.finish_ns) * 1e-9);
    term.push_back(stretch.term);
  }
  return {{"rank", lane.rank}, {"side", lane.side}, {"start_s", start}, {"finish_s", finish}, {"term", term}};
}

}  // namespace

void write_explanation_page(const Explanation& explanation, const ExplainedTimelines& timelines,
                            const Sink& sink) {
  std::string text;
  write_explanation_json(explanation, [&](std::string_view part) { text += part; });
  OrderedJson data = OrderedJson::parse(text);
  data["names"] = OrderedJson::array();
  for (std::size_t term = 0; term < step_term::kCount; ++term) data["names"].push_back(name_of_term(term));
  data["lanes"] = OrderedJson::array();
  for (const ExplainedTimelines::Lane& lane : timelines.lanes)
    if (data["lanes"].size() < kMostLanes && !lane.stretches.empty())
      data["lanes"].push_back(lane_json(lane));
  Page page;
  page.title = explanation.name.empty() ? "Explanation" : explanation.name;
  page.scripts = {"studies.js", "explain.js"};
  page.data = data.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  write_page(page, sink);
}

}  // namespace orrery
