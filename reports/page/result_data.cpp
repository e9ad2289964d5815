#include "reports/page/result_data.hpp"

#include <functional>

#include "orrery/write.hpp"
#include "reports/summary/plan_lines.hpp"
#include "reports/text/json_text.hpp"

namespace orrery {
namespace {

std::string text_of(const std::function<void(const Sink&)>& write) {
  std::string text;
  write([&text](std::string_view part) { text += part; });
  return text;
}

/// Selects all keys of the result except those that depend on the machine it was simulated on.
ResultSelection lasting_keys() {
  std::vector<std::string> names;
  for (const std::string_view name : ResultSelection::names())
    if (!name.starts_with("stats")) names.emplace_back(name);
  return ResultSelection(names);
}

std::string plan_of(const Report& report) {
  JsonText text(-1);
  text.begin('[');
  for (const std::string& line : plan_lines(report)) {
    text.element();
    text.value(std::string_view(line));
  }
  text.end(']');
  return text.take();
}

}  // namespace

std::string result_data(const Report& report, const std::string& resolved) {
  std::string text;
  append_json(resolved, text);
  return "\"result\":" + text_of([&](const Sink& to) { write_json(report, lasting_keys(), -1, to); }) +
         ",\"plan\":" + plan_of(report) + ",\"resolved\":" + text;
}

}  // namespace orrery
