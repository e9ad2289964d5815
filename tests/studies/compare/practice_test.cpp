// Published runs beside the bounds: which of them speak for an experiment, and what they say.
#include "studies/compare/practice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "config/catalog/practice.hpp"
#include "orrery/error.hpp"
#include "studies/compare/compare.hpp"
#include "studies/converge/rates.hpp"
#include "tests/studies/compare/small_comparisons.hpp"
#include "topologies/gossip/gossip.hpp"

namespace orrery {
namespace {

using comparison_test::request;
using comparison_test::text_of;

constexpr const char* kHead =
    "name,method,topology,workers,period,steps,all_reduce_steps,reached,value,all_reduce_value,unit,source\n";

std::string table_of(const std::string& lines) {
  std::string text = kHead;
  text += lines;
  return text;
}

std::vector<PublishedRun> runs(const std::string& lines) {
  return read_published_runs(table_of(lines), "table");
}

DataParallelSync gossip(const std::string& topology) {
  DataParallelSync sync;
  sync.method = SyncMethod::gossip;
  sync.topology = topology;
  return sync;
}

std::string problem_of(const std::string& text) {
  try {
    static_cast<void>(read_published_runs(text, "table"));
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST_CASE("runs of the method and the graph span the range") {
  const auto table = runs(
      "a,gossip,exponential,32,1,198,94,yes,75,76,% top-1,s\n"
      "b,gossip,exponential,8,1,76,68,yes,,,,s\nc,gossip,ring,8,1,300,100,yes,,,,s\n");
  const Practice practice = practice_of(gossip("exponential"), 16, table);
  REQUIRE(practice.range);
  CHECK(practice.range->least == doctest::Approx(1.11765));  // 76 / 68
  CHECK(practice.range->most == doctest::Approx(2.10638));   // 198 / 94
  CHECK(practice.runs ==
        "gossip over exponential of 8 to 32 workers 1.12 to 2.11 times, after equal steps -1.00 % top-1");
  CHECK(practice.unpublished.empty());
}

TEST_CASE("runs of fewer workers or of another graph say nothing, and are told as the nearest") {
  const auto table = runs("a,gossip,exponential,32,1,198,94,yes,,,,s\n");
  CHECK(practice_of(gossip("exponential"), 32, table).range);
  CHECK_FALSE(practice_of(gossip("exponential"), 33, table).range);
  const Practice ring = practice_of(gossip("ring"), 16, table);
  CHECK_FALSE(ring.range);
  CHECK(ring.unpublished == "gossip over ring of 16 workers");
  CHECK(ring.runs == "gossip over exponential of 32 workers 2.11 times");
  CHECK(practice_of(gossip("exponential"), 8, {}).runs.empty());
}

TEST_CASE("shorter periods are no harder, longer ones say nothing") {
  const auto table = runs("a,gossip-pga,ring,32,6,109,94,yes,,,,s\nb,local-sgd,,32,6,360,94,no,,,,s\n");
  DataParallelSync sync = gossip("ring");
  sync.method = SyncMethod::gossip_pga;
  sync.period = 6;
  CHECK(practice_of(sync, 8, table).range->least == doctest::Approx(1.1596));  // 109 / 94
  sync.period = 2;
  CHECK(practice_of(sync, 8, table).range->least == 1);
  CHECK(practice_of(sync, 8, table).range->most == doctest::Approx(1.1596));
  sync.period = 7;
  CHECK_FALSE(practice_of(sync, 8, table).range);
  CHECK(practice_of(sync, 8, table).unpublished == "gossip-pga over ring with period 7 of 8 workers");
  sync.method = SyncMethod::local_sgd;
  sync.period = 6;
  CHECK(practice_of(sync, 8, table).range->least == doctest::Approx(3.8298));  // 360 / 94
  CHECK(std::isinf(practice_of(sync, 8, table).range->most));
  CHECK(practice_of(sync, 8, table).runs == "local-sgd with period 6 of 32 workers more than 3.83 times");
  sync.period = 2;  // it may get there sooner, or not at all
  CHECK_FALSE(practice_of(sync, 8, table).range);
}

TEST_CASE("exact averages need the steps of all-reduce, compressed ones other steps") {
  DataParallelSync sync;
  CHECK(practice_of(sync, 1024, {}).range->most == 1);
  sync.method = SyncMethod::parameter_server;
  CHECK(practice_of(sync, 1024, {}).range->least == 1);
  sync.compression.method = Compression::Method::top_k;
  CHECK_FALSE(practice_of(sync, 8, {}).range);
  CHECK(practice_of(sync, 8, {}).unpublished == "parameter-server of 8 workers, compressed");
}

TEST_CASE("a wrong table is told with its place") {
  CHECK(problem_of("name,method\na,gossip\n") == "table:1:1: found no column \"topology\"");
  CHECK(problem_of(table_of("a,gossip,ring,many,1,,,,,,,s\n")) ==
        "table:2:15: workers: found \"many\", wanted a number");
}

TEST_CASE("the catalog's runs are of methods and graphs that there are") {
  const CatalogFiles tables = embedded_practice();
  const auto published = read_published_runs(tables.at("steps-to-accuracy"), "steps-to-accuracy");
  CHECK(published.size() >= 10);
  for (const PublishedRun& run : published) {
    CAPTURE(run.method);
    CAPTURE(run.topology);
    CHECK(std::ranges::find(kSyncMethodNames, run.method) != kSyncMethodNames.end());
    const auto is_its_graph = [&](const auto& row) { return row.name == run.topology; };
    const bool known = run.topology.empty() || std::ranges::any_of(gossip_topologies(), is_its_graph);
    CHECK(known);
    CHECK(run.workers > 0);
    const bool says_something = run.steps_ratio.has_value() || run.change.has_value();
    CHECK(says_something);
  }
}

// 8 replicas over one-peer-exponential: runs of 8 and 32 workers needed 76/68 and 198/94 of all-reduce's
// steps.
TEST_CASE("times in practice are all-reduce's steps times the published ratio times the step time") {
  const Comparison comparison =
      compare(request({"data_parallel_sync.method=all-reduce,gossip"}, {"accuracy.target=0.001"}), 2);
  const RateSetting setting{8, 1, 0, std::nullopt, 768};
  const double steps = rate_of(DataParallelSync{}, setting)->iterations(0.001);
  const ComparedRow& all_reduce = comparison.rows[0];
  REQUIRE(all_reduce.target->practice);
  CHECK(all_reduce.target->practice->most_s == doctest::Approx(all_reduce.target->time_s));
  const ComparedRow& gossip_row = comparison.rows[1];
  REQUIRE(gossip_row.target->practice);
  const double step_s = gossip_row.report->step_time_s();
  CHECK(gossip_row.target->practice->least_s == doctest::Approx(76.0 / 68 * steps * step_s));
  CHECK(gossip_row.target->practice->most_s == doctest::Approx(198.0 / 94 * steps * step_s));
  CHECK(comparison.practical_spot() == std::size_t{0});
  const std::string text = text_of(comparison, 400);
  CHECK(text.find("in practice: the steps of all-reduce to the target, times those") != std::string::npos);
  CHECK(text.find("decide by the times in practice where a row has one") != std::string::npos);
  CHECK(text.find("no published run") == std::string::npos);
}

}  // namespace
}  // namespace orrery
