#include "studies/compare/writers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orrery/error.hpp"
#include "reports/text/column_table.hpp"
#include "studies/compare/figures.hpp"
#include "tests/studies/compare/small_comparisons.hpp"

namespace orrery {
namespace {

using comparison_test::request;
using comparison_test::text_of;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("the table stays within its width and loses the least important columns first") {
  const Comparison comparison =
      compare(request({"plan.tensor_parallel=1,2,5", "plan.micro_batch_size=1,2"}), 2);
  const std::string wide = text_of(comparison, 200);
  for (const char* word : {"tensor_parallel", "micro_batch_size", "method", "topology", "comm.", "ms", "sent",
                           "step", "speed-up", "scaling", "feasible", "all-reduce", "1.000"}) {
    INFO(word);
    CHECK(wide.find(word) != std::string::npos);
  }
  for (const std::size_t width : {100U, 80U, 60U}) {
    const auto lines = lines_of(text_of(comparison, width));
    const auto header = std::ranges::find_if(lines, [](const std::string& line) {
      return line.find("speed-up") != std::string::npos && line.find("no room") == std::string::npos;
    });
    REQUIRE(header != lines.end());  // what a row is and its speed stay
    for (auto line = header; line != lines.end() && *line != "Not feasible"; ++line)
      CHECK(line->size() <= width);
  }
  CHECK(text_of(comparison, 100).find("in all rows with figures:") != std::string::npos);
  CHECK(text_of(comparison, 60).find("no room for:") != std::string::npos);
}

TEST_CASE("above the table stands in what methods differ beside the method") {
  const std::vector<ExperimentText> images{
      {"images.json", R"({"model": "resnet-50", "cluster": {"gpu": "v100",
      "nodes": 4, "gpus_per_node": 1, "fabric": {"kind": "star", "nic_gbps": 10}}})"}};
  const auto text = [&](const std::string& gossip, const std::vector<std::string>& overrides) {
    const std::string ways = "data_parallel_sync={method: all-reduce},{method: gossip" + gossip + "}";
    return text_of(compare(request({ways}, overrides, images), 2), 300);
  };
  CHECK(text("", {}).find("not like for like") == std::string::npos);
  CHECK(text(", overlap: none", {})
            .starts_with("  not like for like: gradients travel beside computing, models after it "
                         "(plan.overlap_gradient_reduce and data_parallel_sync.overlap set it)\n"));
  CHECK(text(", overlap: adapt-then-combine", {"plan.overlap_gradient_reduce=false"})
            .starts_with("  not like for like: gradients travel after computing, models beside it"));
  CHECK(text("", {"stack=nemo-2024"})
            .starts_with("  not like for like: gradients travel in fp16, models in fp32"));
}

TEST_CASE("below the table stands what times to a target assume, above it where widths differ") {
  const std::vector<std::string> ways{"data_parallel_sync.method=all-reduce,gossip"};
  const auto said = [&](const std::vector<std::string>& overrides, const std::string& sentence) {
    std::string text = text_of(compare(request(ways, overrides), 2), 300);
    return text.find(sentence) != std::string::npos;
  };
  const std::string unlike =
      "not like for like: gradients travel in bf16, models in fp32 (plan.wire_precision.data";
  CHECK(said({}, unlike));
  CHECK_FALSE(said({}, "to target"));
  CHECK_FALSE(said({"plan.precision=fp32"}, "not like for like"));
  CHECK(said(
      {"accuracy.target=0.01", "accuracy.noise=2"},
      "to target: steps by upper bounds of the literature with all constants 1, smoothness 1, noise 2 of a "
      "replica, heterogeneity 0: an order that tells rows apart, no forecast"));
  // Each method has a key of its own.
  const Comparison gossip =
      compare(request({}, {"data_parallel_sync.method=gossip", "plan.wire_precision.models=bf16"}), 1);
  CHECK(gossip.rows[0].sync.wire == "bf16");
  const Comparison compressed = compare(request({}, {"data_parallel_sync.compression=top-k"}), 1);
  CHECK(compressed.rows[0].sync.wire == "compressed");
  const auto narrow = lines_of(text_of(compare(request(ways, {"accuracy.target=0.01"}), 2), 60));
  const auto sentence = std::ranges::find_if(
      narrow, [](const std::string& line) { return line.starts_with("  to target: steps by"); });
  REQUIRE(sentence != narrow.end());
  CHECK(sentence->size() <= 60);
}

TEST_CASE("a run of known length has its time in hours, or in days where it takes weeks") {
  const auto training = [](const std::string& samples) {
    const auto lines = lines_of(text_of(compare(request({}, {"training.samples=" + samples}), 1)));
    REQUIRE(lines.size() == 3);
    const auto end = lines[0].find("training") + 8;
    REQUIRE(end > 8);
    return std::pair(lines[1].substr(0, end), std::stod(lines[2].substr(lines[2].rfind(' ', end - 1))));
  };
  const Comparison one = compare(request({}), 1);
  CHECK(lines_of(text_of(one))[0].find("training") == std::string::npos);
  const double hours = 1e8 / one.rows[0].report->samples_per_s() / 3600;
  CHECK(training("100000000").first.ends_with(" h"));
  CHECK(training("100000000").second == doctest::Approx(hours).epsilon(0.01));
  CHECK(training("100000000000").first.ends_with(" days"));
}

TEST_CASE("numbers of a column end alike") {
  const auto lines = lines_of(text_of(compare(request({"cluster.nodes=1,2,4"}), 2)));
  REQUIRE(lines.size() == 5);
  for (std::size_t i = 2; i < 5; ++i) CHECK(lines[i].find(" yes") == lines[2].find(" yes"));
  const auto end_of_step = lines[0].find("step") + 4;
  for (std::size_t i = 2; i < 5; ++i)
    CHECK(std::isdigit(static_cast<unsigned char>(lines[i][end_of_step - 1])));
}

TEST_CASE("keys are as short as they can be told apart") {
  CHECK(short_names({"plan.a", "b"}) == std::vector<std::string>{"a", "b"});
  CHECK(short_names({"cluster.node.kind", "cluster.fabric.kind"}) ==
        std::vector<std::string>{"node.kind", "fabric.kind"});
  CHECK(short_names({"name", "x.name"}) == std::vector<std::string>{"name", "x.name"});
}

TEST_CASE("JSON and CSV agree with each other and with the rows") {
  const Comparison comparison = compare(request({"plan.stage_layers=[12],[6]", "plan.bucket_mb=40,1e1"}), 1);
  std::string json;
  write_comparison_json(comparison, [&json](std::string_view part) { json += part; });
  const auto rows = nlohmann::json::parse(json)["rows"];
  REQUIRE(rows.size() == 4);
  CHECK(rows[1]["name"] == "small");
  CHECK(rows[1]["vary"]["plan.stage_layers"] == nlohmann::json::array({12}));
  CHECK(rows[1]["vary"]["plan.bucket_mb"] == 10);
  CHECK(rows[1]["result"]["step_time_s"] == comparison.rows[1].report->step_time_s());
  CHECK(rows[1]["ratio"]["speed_up"] == comparison.rows[1].ratios->speed_up.value());
  CHECK(rows[1]["method"] == "all-reduce");
  CHECK(rows[1]["workers"] == 8);
  CHECK(rows[2]["result"].is_null());  // 6 layers of 12
  CHECK(rows[2]["feasible"] == false);
  CHECK(rows[2]["reasons"].size() == 1);
  std::string csv;
  write_comparison_csv(comparison, [&csv](std::string_view part) { csv += part; });
  const auto lines = lines_of(csv);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].find(
            "name,plan.stage_layers,plan.bucket_mb,method,topology,wire,feasible,reasons,workers,") == 0);
  CHECK(lines[0].find(",step_time_s,") != std::string::npos);
  CHECK(lines[2].find("small,[12],1e1,all-reduce,auto,bf16,true,,8,") == 0);
}

/// Whole multiples of a trillionth, which seconds are in picoseconds.
std::int64_t picoseconds(const nlohmann::json& seconds) { return std::llround(seconds.get<double>() * 1e12); }

std::int64_t sum_of(const nlohmann::json& terms, const char* member, double unit) {
  std::int64_t sum = 0;
  for (const auto& term : terms) sum += std::llround(term[member].get<double>() / unit);
  return sum;
}

TEST_CASE("--why attributes the difference from the first row to the picosecond and the byte") {
  ComparisonRequest asked = request({"plan.tensor_parallel=1,2,5", "plan.micro_batch_size=2,4"});
  asked.why = true;
  const Comparison comparison = compare(asked, 2);
  std::string text;
  write_comparison_json(comparison, [&text](std::string_view part) { text += part; });
  const auto rows = nlohmann::json::parse(text)["rows"];
  REQUIRE(rows.size() == 6);
  CHECK(rows[0]["why"].is_null());  // the first itself
  CHECK(rows[5]["why"].is_null());  // 8 GPUs, tensor groups of 5
  for (const std::size_t i : {1U, 2U, 3U}) {
    CAPTURE(i);
    const auto& why = rows[i]["why"];
    CHECK(why["first"] == 0);
    const std::int64_t difference =
        picoseconds(rows[i]["result"]["step_time_s"]) - picoseconds(rows[0]["result"]["step_time_s"]);
    CHECK(difference != 0);
    CHECK(picoseconds(why["step_time_s"]) == difference);
    CHECK(sum_of(why["breakdown_s"], "difference", 1e-12) == difference);
    CHECK(sum_of(why["critical_path_s"], "difference", 1e-12) == difference);
    const auto peak = [&](std::size_t row) {
      return std::llround(rows[row]["result"]["memory"]["peak_gb"].get<double>() * 1e9);
    };
    CHECK(sum_of(why["memory_gb"], "difference", 1e-9) == peak(i) - peak(0));
    for (const auto& term : why["breakdown_s"])
      CHECK(term["row"].get<double>() ==
            doctest::Approx(rows[i]["result"]["breakdown_s"][term["term"].get<std::string>()].get<double>())
                .epsilon(1e-9));
  }
  CHECK(text_of(comparison).find("Why the step of tensor_parallel=1, micro_batch_size=4 is ") !=
        std::string::npos);
  CHECK(text_of(compare(request({}), 1)).find("Why") == std::string::npos);
}

TEST_CASE("a chart has a line per combination of the other keys") {
  const Comparison comparison = compare(request({"plan.zero_stage=0,1", "cluster.nodes=4,1,2"}), 2);
  const ChartLines chart = chart_lines(comparison, "nodes");
  CHECK(chart.x == "cluster.nodes");
  CHECK(chart.y == "samples_per_s");  // the cluster grows along x
  REQUIRE(chart.lines.size() == 2);
  CHECK(chart.lines[1].name == "zero_stage 1");
  REQUIRE(chart.lines[1].points.size() == 3);
  CHECK(chart.lines[1].points[0].first == 1);
  CHECK(chart.lines[1].points[2].second == comparison.rows[3].report->samples_per_s());
  CHECK(chart_lines(comparison, "").x == "plan.zero_stage");
  CHECK(chart_lines(comparison, ":mfu").y == "mfu");
  CHECK(chart_lines(comparison, "cluster.nodes:speed_up").lines[0].points[2].second == 1);
  CHECK_THROWS_AS(static_cast<void>(chart_lines(comparison, "node")), InputError);
  CHECK_THROWS_AS(static_cast<void>(chart_lines(comparison, ":step_tim_s")), InputError);
}

TEST_CASE("a chart is worth drawing along three numbers or more") {
  CHECK(deserves_chart(compare(request({"cluster.nodes=1,2,4"}), 2)));
  CHECK_FALSE(deserves_chart(compare(request({"cluster.nodes=1,2"}), 2)));
  CHECK_FALSE(deserves_chart(compare(request({"plan.recompute=none,selective,full"}), 2)));
  CHECK_FALSE(deserves_chart(compare(request({}), 2)));
}

}  // namespace
}  // namespace orrery
