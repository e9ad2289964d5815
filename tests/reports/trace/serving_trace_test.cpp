// Tests traces of serving runs: each moment appears in every viewer's format.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "reports/trace/serving_source.hpp"
#include "reports/writers.hpp"
#include "tests/reports/serving_records.hpp"

using namespace orrery;
using orrery::test::small_record;

namespace {

struct WrittenServing {
  TraceInfo info;
  std::string text;
};

WrittenServing serving_trace_of(const ServingRecord& record, const TraceOptions& options = {}) {
  WrittenServing out;
  out.info = write_serving_trace(record, options, [&out](std::string_view part) { out.text += part; });
  return out;
}

std::vector<nlohmann::json> events_of(const std::string& text, const std::string& kind) {
  std::vector<nlohmann::json> events;
  const nlohmann::json trace = nlohmann::json::parse(text);
  for (const nlohmann::json& event : trace.at("traceEvents"))
    if (event.at("ph") == kind) events.push_back(event);
  return events;
}

const nlohmann::json* find_event(const std::vector<nlohmann::json>& events, const std::string& name) {
  for (const nlohmann::json& event : events)
    if (event.at("name") == name) return &event;
  return nullptr;
}

}  // namespace

TEST_CASE("a serving trace has iterations on stages, requests on lanes, and counters") {
  const WrittenServing written = serving_trace_of(small_record());
  const auto slices = events_of(written.text, "X");
  // 4 iterations of 2 stages; of requests 2, the first with a prompt and an output, the second with a queue
  // and a prompt
  CHECK(slices.size() == 8 + 2 + 2 + 2);
  CHECK(written.info.spans == slices.size());
  CHECK(written.info.ranks == 2);
  CHECK(written.info.left_out == 0);
  const nlohmann::json* prompt = find_event(slices, "prefill 512");
  REQUIRE(prompt != nullptr);
  CHECK(prompt->at("ts") == 0.0);
  CHECK(prompt->at("dur") == doctest::Approx(0.010));
  CHECK(prompt->at("args").at("prompt_tokens") == 512);
  CHECK(find_event(slices, "prefill 64 + decode 3") != nullptr);
  CHECK(find_event(slices, "decode 1") != nullptr);
  const nlohmann::json* request = find_event(slices, "request 1");
  REQUIRE(request != nullptr);
  CHECK(request->at("args").at("preemptions") == 2);
  CHECK(request->at("args").at("replica") == 1);
  const auto counters = events_of(written.text, "C");
  CHECK(counters.size() == 2 * 4);
  const nlohmann::json* cache = find_event(counters, "KV cache GB");
  REQUIRE(cache != nullptr);
  CHECK(cache->at("args").at("held") == doctest::Approx(0.064));  // 4 pages of 16 tokens of 1 MB
}

TEST_CASE("slices of a thread of a serving trace do not overlap but for those they hold") {
  const WrittenServing written = serving_trace_of(small_record());
  std::map<std::pair<int, int>, double> free;
  std::map<std::pair<int, int>, double> held;
  double last = 0;
  for (const nlohmann::json& slice : events_of(written.text, "X")) {
    const std::pair<int, int> thread{slice.at("pid"), slice.at("tid")};
    const double start = slice.at("ts");
    const double end = start + slice.at("dur").get<double>();
    CHECK(start >= last);
    last = start;
    const bool outer =
        slice.at("cat") == "iteration" || slice.at("name").get<std::string>().starts_with("request");
    if (outer) {
      CHECK(start >= free[thread]);
      free[thread] = end;
      held[thread] = start;
    } else {
      CHECK(start >= held[thread]);
      CHECK(end <= free[thread]);
      held[thread] = end;
    }
  }
}

TEST_CASE("requests that overlap lie on lanes of their own, and lanes are used again") {
  ServingRecord record = small_record();
  RequestMoments third = record.requests[1];
  third.spec.arrival_ps = 21'000;
  third.start_ps = third.first_token_ps = 22'000;
  third.end_ps = 30'000;
  record.requests.push_back(third);
  ServingTrace trace(record, 1'000);
  CHECK(trace.processes() == 3);
  CHECK(trace.process(2).threads.size() == 2);
  CHECK(trace.process(0).name == "replica 0");
}

TEST_CASE("a serving trace has a bound, and counts what is left out") {
  TraceOptions options;
  options.max_spans = 6;
  const WrittenServing written = serving_trace_of(small_record(), options);
  CHECK(written.info.spans <= 6);
  CHECK(written.info.left_out > 0);
}

TEST_CASE("all formats hold the same slices") {
  const ServingRecord record = small_record();
  TraceOptions options;
  const std::uint64_t spans = serving_trace_of(record, options).info.spans;
  options.format = TraceFormat::perfetto;
  const WrittenServing perfetto = serving_trace_of(record, options);
  CHECK(perfetto.info.spans == spans);
  CHECK(perfetto.text.find("prefill 64 + decode 3") != std::string::npos);
  options.format = TraceFormat::speedscope;
  const WrittenServing speedscope = serving_trace_of(record, options);
  CHECK(speedscope.info.spans == spans);
  const auto json = nlohmann::json::parse(speedscope.text);
  CHECK(json.at("profiles").size() == 2 * 2 + 2);
  for (const nlohmann::json& profile : json.at("profiles")) {
    std::int64_t open = 0;
    std::int64_t at = 0;
    for (const nlohmann::json& event : profile.at("events")) {
      open += event.at("type") == "O" ? 1 : -1;
      CHECK(open >= 0);
      CHECK(event.at("at").get<std::int64_t>() >= at);
      at = event.at("at");
    }
    CHECK(open == 0);
  }
}

TEST_CASE("replicas of their own for prompts and outputs are called so") {
  ServingRecord record = small_record();
  record.prefill_replicas = 1;
  CHECK(ServingTrace(record, 100).process(0).name == "replica 0 (prefill)");
  CHECK(ServingTrace(record, 100).process(1).name == "replica 1 (decode)");
}
