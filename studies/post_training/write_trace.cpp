// The phases of steps as a trace in Chrome's form, for Perfetto and other viewers.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "studies/post_training/post_training.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

double trace_us(Picoseconds time) { return static_cast<double>(time / 1000) * 1e-3; }

OrderedJson name_event(const char* kind, std::size_t pool, std::size_t phase, std::string_view name) {
  return {{"name", kind}, {"ph", "M"}, {"pid", pool}, {"tid", phase}, {"args", {{"name", name}}}};
}

OrderedJson slice(const PhaseSpan& span) {
  return {{"name", kPostTrainingPhaseNames[static_cast<std::size_t>(span.phase)]},
          {"cat", "phase"},
          {"ph", "X"},
          {"pid", static_cast<int>(span.pool)},
          {"tid", static_cast<int>(span.phase)},
          {"ts", trace_us(span.start_ps)},
          {"dur", trace_us(span.finish_ps) - trace_us(span.start_ps)},
          {"args", {{"step", span.step}}}};
}

}  // namespace

std::string post_training_trace(const PostTrainingResult& result) {
  OrderedJson events = OrderedJson::array();
  for (std::size_t pool = 0; pool < kGpuPoolNames.size(); ++pool) {
    for (std::size_t phase = 0; phase < kPostTrainingPhaseCount; ++phase) {
      const bool used = std::ranges::any_of(result.spans, [&](const PhaseSpan& span) {
        return static_cast<std::size_t>(span.pool) == pool && static_cast<std::size_t>(span.phase) == phase;
      });
      if (!used) continue;
      events.push_back(name_event("process_name", pool, phase, kGpuPoolNames[pool]));
      events.push_back(name_event("thread_name", pool, phase, kPostTrainingPhaseNames[phase]));
    }
  }
  for (const PhaseSpan& span : result.spans) events.push_back(slice(span));
  const OrderedJson trace{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return trace.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace orrery
