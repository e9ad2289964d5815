#include "reports/page/serving_page.hpp"

#include <algorithm>

#include "reports/page/page.hpp"
#include "reports/page/result_data.hpp"
#include "reports/page/serving_columns.hpp"
#include "reports/serving_names.hpp"
#include "reports/text/json_text.hpp"

namespace orrery {
namespace {

void write_limits(const ServingRecord& record, JsonText& text) {
  text.key("cache_bytes");  // 0: the memory is unknown, and so is the capacity of the KV cache
  Bytes most = 0;
  for (std::uint32_t replica = 0; replica < record.replicas; ++replica) {
    const ReplicaRoom room = record.room_of(replica);
    if (room.usable_bytes > 0) most = std::max(most, record.cache_bytes(replica, room.pages));
  }
  text.value(std::int64_t{most});
  text.key("left_out");
  text.value(static_cast<std::int64_t>(record.left_out));
  text.key("recorded_until_ps");
  text.value(std::int64_t{record.recorded_until_ps});
}

std::string facts_of(const ServingPageInput& input, std::uint64_t merged) {
  const ServingRecord& record = input.record;
  JsonText text(-1);
  text.begin('{');
  text.key("duration_ps");
  text.value(std::int64_t{record.duration_ps});
  text.key("stages");
  text.value(std::int64_t{record.stages});
  text.key("requests");
  text.value(static_cast<std::int64_t>(record.requests.size()));
  text.key("merged");
  text.value(static_cast<std::int64_t>(merged));
  write_limits(record, text);
  text.key("replicas");
  text.begin('[');
  for (std::uint32_t replica = 0; replica < record.replicas; ++replica) {
    text.element();
    text.value(std::string_view(replica_name(record, replica)));
  }
  text.end(']');
  text.end('}');
  return text.take();
}

}  // namespace

void write_serving_page(const ServingPageInput& input, const Sink& sink) {
  Page page;
  page.title = input.report.name.empty() ? "unnamed experiment" : input.report.name;
  page.scripts = {"timeline_spans.js", "timeline_lanes.js",    "timeline.js",        "run_figures.js",
                  "serving_model.js",  "serving_timelines.js", "serving_figures.js", "serving.js"};
  page.data = "{" + result_data(input.report, input.resolved) + ",\"serving\":";
  if (input.record.duration_ps > 0) {
    page.data += facts_of(input, add_iterations(input.record, input.max_spans, page));
    add_requests(input.record, input.max_requests, page);
    add_states(input.record, page);
    add_latencies(input.record, page);
  } else {
    page.data += "null";
  }
  page.data += "}";
  write_page(page, sink);
}

}  // namespace orrery
