// The page of served requests: its columns are the record, and stay within their bounds.
#include "reports/page/serving_page.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/reports/page/page_data.hpp"
#include "tests/reports/serving_records.hpp"

namespace orrery {
namespace {

std::string serving_page_of(const ServingRecord& record, const std::string& name, std::uint64_t max_spans,
                            std::uint64_t max_requests = 100) {
  Report report;
  report.name = name;
  report.serving = Serving{};
  report.serving->duration_ps = record.duration_ps;
  report.serving->times.idle_ps = report.serving->work.idle_ps = 1;
  std::string out;
  write_serving_page({report, "{}\n", record, max_spans, max_requests},
                     [&out](std::string_view text) { out += text; });
  return out;
}

nlohmann::json serving_facts(const std::string& page) {
  const std::string begin = "id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from)).at("serving");
}

template <class Number>
std::size_t length_of_column(const std::string& page, const std::string& name) {
  return page_test::column_of<Number>(page, name).size();
}

TEST_CASE("the page of served requests says what it shows") {
  const std::string page = serving_page_of(test::small_record(), "served", 1000);
  const nlohmann::json facts = serving_facts(page);
  CHECK(facts.at("duration_ps") == 40'000);
  CHECK(facts.at("stages") == 2);
  CHECK(facts.at("replicas") == nlohmann::json({"replica 0", "replica 1"}));
  CHECK(facts.at("merged") == 1);
  CHECK(facts.at("cache_bytes") == 160'000'000);
  CHECK(length_of_column<std::uint8_t>(page, "iteration.kind") == 4);
  CHECK(length_of_column<std::uint32_t>(page, "request.replica") == 2);
  CHECK(serving_page_of(test::small_record(), "served", 1000) == page);
}

TEST_CASE("neighbours of one kind are one span where there are more than fit") {
  const std::string page = serving_page_of(test::small_record(), "served", 4);
  CHECK(serving_facts(page).at("merged") == 2);
  CHECK(length_of_column<std::uint8_t>(page, "iteration.kind") ==
        3);                                       // 3 spans: both passes of outputs are one
  ServingRecord changing = test::small_record();  // where kinds change all the time, all of them
  changing.iterations[3].prompt_requests = 1;
  changing.iterations[3].prompt_tokens = 1;
  CHECK(length_of_column<std::uint8_t>(serving_page_of(changing, "served", 4), "iteration.kind") == 3);
  CHECK(length_of_column<std::uint32_t>(serving_page_of(test::small_record(), "", 100, 1),
                                        "request.replica") == 1);
}

TEST_CASE("a page of nothing served, and hostile names") {
  const std::string page = serving_page_of(ServingRecord{}, "</script><script>alert(1)</script>", 10);
  CHECK(serving_facts(page).is_null());
  CHECK(page.find("<script>alert") == std::string::npos);
}

}  // namespace
}  // namespace orrery
