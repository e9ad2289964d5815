// The page of a run: its timelines hold the run's time, all of it, and are the same again.
#include "reports/page/run_page.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "orrery/read.hpp"
#include "sim/run/run.hpp"
#include "tests/reports/page/page_data.hpp"
#include "tests/source_dir.hpp"

namespace orrery {
namespace {

Experiment experiment_of_page(const std::string& file, const std::vector<std::string>& overrides) {
  return read_experiment((test::source_dir() / "examples" / file).string(), {.overrides = overrides});
}

std::string page_of(const Experiment& experiment, const Run& run, std::uint64_t max_spans = 300'000) {
  const RunView view = run.view();
  const RankGrid grid(experiment.plan);
  std::string out;
  write_run_page({run.report, "{}\n", &view, &grid, max_spans},
                 [&out](std::string_view text) { out += text; });
  return out;
}

std::string part_of_page(const std::string& page, const std::string& begin) {
  const std::size_t from = page.find(begin);
  REQUIRE(from != std::string::npos);
  return page.substr(from + begin.size(), page.find("</script>", from) - from - begin.size());
}

nlohmann::json run_facts(const std::string& page) {
  return nlohmann::json::parse(part_of_page(page, "id=\"data\">")).at("run");
}

struct PageTimes {
  std::array<Int128, 8> waits{};  ///< of all GPUs, by cause
  Int128 work = 0;                ///< of their compute streams
};

PageTimes times_of(const std::string& page) {
  const nlohmann::json run = run_facts(page);
  PageTimes times;
  const auto of = page_test::column_of<std::uint32_t>(page, "wait.class");
  const auto cause = page_test::column_of<std::uint8_t>(page, "wait.cause");
  const auto wait_start = page_test::column_of<double>(page, "wait.start");
  const auto wait_finish = page_test::column_of<double>(page, "wait.finish");
  for (std::size_t i = 0; i < of.size(); ++i) {
    const auto length = static_cast<Picoseconds>(wait_finish[i] - wait_start[i]);
    CHECK(length > 0);
    times.waits[cause[i]] += Int128{length} * run["classes"][of[i]]["count"].get<std::int64_t>();
  }
  const auto stream = page_test::column_of<std::uint16_t>(page, "op.stream");
  const auto start = page_test::column_of<double>(page, "span.start");
  const auto finish = page_test::column_of<double>(page, "span.finish");
  for (const nlohmann::json& one : run["classes"]) {
    for (std::size_t k = 0; k < one["ops"].get<std::size_t>(); ++k) {
      if (stream[one["first_op"].get<std::size_t>() + k] != 0) continue;
      const std::size_t span = one["first_span"].get<std::size_t>() + k;
      times.work +=
          Int128{static_cast<Picoseconds>(finish[span] - start[span])} * one["count"].get<std::int64_t>();
    }
  }
  return times;
}

struct PageCase {
  const char* file;
  std::vector<std::string> overrides;
};

const std::vector<PageCase> kPageCases{
    {"pipeline-1f1b.json", {}},
    {"pipeline-1f1b.json", {"stack=nemo-2024", "plan.pipeline_schedule=zb-h1"}},
    {"megatron-145b.json", {"plan.global_batch_size=384"}},
    {"llama-13b-fsdp.json", {}},
    {"gossip-resnet-50.json", {}},
};

TEST_CASE("waits and operations of the timelines are the breakdown to the picosecond") {
  for (const PageCase& one : kPageCases) {
    CAPTURE(one.file);
    const Experiment experiment = experiment_of_page(one.file, one.overrides);
    const Run run = orrery::run(experiment);
    const std::string page = page_of(experiment, run, 1'000'000'000);
    const PageTimes times = times_of(page);
    const Breakdown& breakdown = run.report.breakdown;
    for (std::size_t d = 0; d < kDimensionCount; ++d) CHECK((times.waits[d] == breakdown.exposed_ps[d]));
    CHECK((times.waits[7] == breakdown.bubble_ps));
    // Launch gaps lie within operations: the rest of host time once the waits for it are taken off.
    CHECK((times.work == breakdown.compute_ps + breakdown.optimizer_ps + breakdown.host_ps - times.waits[6]));
  }
}

TEST_CASE("moments of all GPUs sum to the breakdown") {
  const Experiment experiment = experiment_of_page("megatron-145b.json", {"plan.global_batch_size=384"});
  const Run run = orrery::run(experiment);
  const auto course = page_test::column_of<float>(page_of(experiment, run), "course");
  double sum = 0;
  for (const float part : course) sum += part;
  const double whole = static_cast<double>(run.report.makespan_ps) * static_cast<double>(run.report.gpus);
  CHECK(sum == doctest::Approx(whole).epsilon(1e-5));  // sums of single precision
}

Experiment four_replicas() {
  return experiment_of_page("pipeline-1f1b.json",
                            {"cluster.nodes=4", "plan.data_parallel=4", "plan.global_batch_size=32"});
}

/// Returns the number of operations on the page of a complete run.
std::uint64_t all_operations(const Experiment& experiment, const Run& run) {
  return page_test::column_of<double>(page_of(experiment, run, 1'000'000'000), "span.start").size();
}

TEST_CASE("a page holds no more operations, passes and waits than it may") {
  const Experiment experiment = four_replicas();
  const Run run = orrery::run(experiment);
  for (const std::uint64_t most : {1U, 7U, 100U, 300U, 700U}) {
    CAPTURE(most);
    const std::string page = page_of(experiment, run, most);
    for (const char* column : {"span.start", "pass.start", "wait.start"}) {
      CAPTURE(column);
      CHECK(page_test::column_of<double>(page, column).size() <= most);
    }
  }
}

TEST_CASE("a page without room for all stages shows the first, the last and others evenly between them") {
  const Experiment experiment = four_replicas();
  const Run run = orrery::run(experiment);
  const nlohmann::json whole = run_facts(page_of(experiment, run, 1'000'000'000));
  std::uint64_t most = 0;  // of three stages
  for (const std::size_t stage : {0U, 1U, 3U}) most += whole["classes"][stage]["ops"].get<std::uint64_t>();
  const nlohmann::json facts = run_facts(page_of(experiment, run, most));
  CHECK(facts["stage_classes"] == nlohmann::json({0, 1, 4294967295, 2}));
  CHECK(facts["classes"].size() == 3);
  CHECK(facts["operations_until_ps"] == facts["makespan_ps"]);
  CHECK(facts["ranks"] == 16);
  CHECK(facts["max_spans"] == most);
}

TEST_CASE("a page without room for one stage shows the beginning of it, and says how much") {
  const Experiment experiment = four_replicas();
  const Run run = orrery::run(experiment);
  const std::uint64_t most = all_operations(experiment, run) / 16;
  const std::string page = page_of(experiment, run, most);
  const nlohmann::json facts = run_facts(page);
  REQUIRE(facts["classes"].size() == 1);
  CHECK(facts["classes"][0]["ops"] == most);
  const auto until = facts["operations_until_ps"].get<double>();
  CHECK(until < facts["makespan_ps"].get<double>());
  const auto start = page_test::column_of<double>(page, "span.start");
  const auto stream = page_test::column_of<std::uint16_t>(page, "op.stream");
  REQUIRE(stream.size() == start.size());
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (stream[i] == 0) CHECK(start[i] < until);
  }
}

TEST_CASE("a page is the same bytes whenever it is written") {
  const Experiment experiment = experiment_of_page("pipeline-1f1b.json", {});
  Run first = orrery::run(experiment);
  Run second = orrery::run(experiment);
  first.report.stats.wall_s = 1;
  second.report.stats.peak_rss_mb = 2;
  CHECK(page_of(experiment, first) == page_of(experiment, second));
}

TEST_CASE("a run without a timeline has a page that says so") {
  const Run run = orrery::run(experiment_of_page("pipeline-1f1b.json", {}));
  std::string page;
  write_run_page({run.report, ""}, [&page](std::string_view text) { page += text; });
  CHECK(nlohmann::json::parse(part_of_page(page, "id=\"data\">")).at("run").is_null());
  CHECK(page.find("data-name=\"span.start\"") == std::string::npos);
}

}  // namespace
}  // namespace orrery
