#include "reports/page/run_page.hpp"

#include "reports/page/page.hpp"
#include "reports/page/result_data.hpp"
#include "reports/page/run_course.hpp"
#include "reports/page/run_spans.hpp"

namespace orrery {
namespace {

/// Returns an object with the data of RunSpans and write_links().
std::string facts_of(const RunPageInput& input, const RunSpans& spans) {
  JsonText text(-1);
  text.begin('{');
  spans.write_facts(text);
  write_links(*input.run, text);
  text.key("peak_memory_ps");
  if (input.report.peak_memory_at_ps) {
    text.value(std::int64_t{*input.report.peak_memory_at_ps});
  } else {
    text.value(nullptr);
  }
  text.end('}');
  return text.take();
}

}  // namespace

void write_run_page(const RunPageInput& input, const Sink& sink) {
  Page page;
  page.title = input.report.name.empty() ? "unnamed experiment" : input.report.name;
  page.scripts = {
      "timeline_spans.js", "timeline_lanes.js", "timeline.js",   "run_model.js",   "run_search.js",
      "run_timelines.js",  "run_figures.js",    "run_memory.js", "run_network.js", "run.js"};
  page.data = "{" + result_data(input.report, input.resolved) + ",\"run\":";
  if (input.run != nullptr && input.run->timeline.makespan_ps > 0) {
    const RunSpans spans(*input.run, *input.grid, input.max_spans);
    page.data += facts_of(input, spans);
    spans.add_columns(page);
    add_course(*input.run, page);
    add_memory(*input.run, input.report.stage_memory.size(), page);
  } else {
    page.data += "null";
  }
  page.data += "}";
  write_page(page, sink);
}

}  // namespace orrery
