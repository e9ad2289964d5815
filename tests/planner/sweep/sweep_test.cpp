#include "planner/sweep/sweep.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "orrery/error.hpp"
#include "planner/space/points.hpp"
#include "tests/planner/sweep/sweep_support.hpp"

namespace orrery {
namespace {

TEST_CASE("a sweep has every point, equal ones once, and counts what was removed") {
  const ResultsFolder folder;
  const Space space = swept_space();
  Simulator simulator;
  const SweepSummary summary = sweep(space, swept_into(folder.file()), simulator);
  CHECK(summary.complete());
  CHECK(summary.points == 12);
  CHECK(summary.feasible == 8);
  CHECK(summary.distinct == 6);  // without pipelines, 2 orders are one
  REQUIRE(summary.removed.size() == 1);
  CHECK(summary.removed.at("plan.tensor_parallel").points == 4);
  CHECK(summary.removed.at("plan.tensor_parallel").message.find("found 3") != std::string::npos);
  CHECK(folder.files() == 1);  // no journal is left behind
}

TEST_CASE("figures are those of a simulation of the point alone") {
  const ResultsFolder folder;
  const Space space = swept_space();
  Simulator simulator;
  static_cast<void>(sweep(space, swept_into(folder.file()), simulator));
  std::istringstream lines(exported(folder.file(), ExportFormat::jsonl));
  PointReader reader(space);
  int checked = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    const auto row = nlohmann::json::parse(line);
    const auto point = std::get<Point>(reader.read(row["point"].get<std::uint64_t>()));
    const Report report = simulate(point.experiment);
    CHECK(row["step_time_s"] == report.step_time_s());
    CHECK(row["plan.tensor_parallel"] == point.experiment.plan.tensor_parallel);
    CHECK(row["plan.rank_order"] == point.values[1]);  // keys are in the order of their names
    CHECK(row["state"] == "feasible");
    CHECK(row["reason"].is_null());
    CHECK(row["plan.sequence_parallel"].is_boolean());
  }
  CHECK(checked == 8);
}

TEST_CASE("exports do not depend on threads, shards or how often a sweep was begun") {
  const ResultsFolder folder;
  const Space space = swept_space();
  Simulator simulator;
  static_cast<void>(sweep(space, swept_into(folder.file("one.db")), simulator));
  SweepOptions options = swept_into(folder.file("parts.db"));
  options.threads = 3;
  for (std::uint64_t part = 1; part <= 5; ++part) {
    options.shard = {part, 5};
    const SweepSummary summary = sweep(space, options, simulator);
    CHECK(summary.complete() == (part == 5));
  }
  for (const ExportFormat format : {ExportFormat::csv, ExportFormat::jsonl, ExportFormat::columns})
    CHECK(exported(folder.file("one.db"), format) == exported(folder.file("parts.db"), format));
}

TEST_CASE("parts of a space are all of it, each point in one") {
  const Space space = swept_space(R"({"plan.micro_batch_size": "1..3000"})");
  std::set<std::uint64_t> points;
  std::uint64_t count = 0;
  for (std::uint64_t part = 1; part <= 7; ++part) {
    const ShardBlocks blocks(space, {part, 7});
    count += blocks.points();
    for (std::uint64_t block = 0; block < blocks.count(); ++block)
      for (std::uint64_t i = blocks.range(block).begin; i < blocks.range(block).end; ++i) points.insert(i);
  }
  CHECK(count == 3000);
  CHECK(points.size() == 3000);
  CHECK(*points.rbegin() == 2999);
}

TEST_CASE("a sweep that is gone on with simulates only what is missing") {
  const ResultsFolder folder;
  const Space space = swept_space();
  Simulator simulator;
  SweepOptions options = swept_into(folder.file());
  std::atomic<bool> stop = false;
  options.stop = &stop;
  options.progress = [&stop](std::size_t done, std::size_t) { stop = done == 5; };
  const SweepSummary half = sweep(space, options, simulator);
  CHECK(half.valid() > 0);
  CHECK_FALSE(half.complete());
  // A figure that no simulation gives shows which points were not simulated again.
  Database(folder.file(), Database::Access::write, ResultsFile::kLockWait)
      .run("UPDATE results SET \"step_time_s\" = -1");
  CHECK(sweep(space, swept_into(folder.file()), simulator).complete());
  const Database file(folder.file(), Database::Access::read, ResultsFile::kLockWait);
  CHECK(file.number("SELECT count(*) FROM results WHERE \"step_time_s\" = -1") ==
        static_cast<std::int64_t>(half.distinct));
  CHECK(file.number("SELECT count(*) FROM results") == 6);
}

TEST_CASE("keys that results do not have yet are found for all of them") {
  const ResultsFolder folder;
  const Space space = swept_space();
  Simulator simulator;
  SweepOptions options = swept_into(folder.file());
  options.keys = {"step_time_s"};
  static_cast<void>(sweep(space, options, simulator));
  CHECK(exported(folder.file(), ExportFormat::csv).find("mfu") == std::string::npos);
  options.keys = {"mfu"};
  static_cast<void>(sweep(space, options, simulator));
  const Database file(folder.file(), Database::Access::read, ResultsFile::kLockWait);
  CHECK(file.number("SELECT count(*) FROM plans WHERE mfu IS NULL OR \"step_time_s\" IS NULL") == 0);
  CHECK(file.number("SELECT count(*) FROM results") == 6);
}

TEST_CASE("two spaces in a file share what they have in common") {
  const ResultsFolder folder;
  Simulator simulator;
  static_cast<void>(sweep(swept_space(), swept_into(folder.file()), simulator));
  const Space other = swept_space(R"({"plan.tensor_parallel": [2, 4], "plan.recompute": ["none", "full"]})");
  const SweepSummary summary = sweep(other, swept_into(folder.file()), simulator);
  CHECK(summary.sweep == 2);
  CHECK(summary.distinct == 4);
  const Database file(folder.file(), Database::Access::read, ResultsFile::kLockWait);
  CHECK(file.number("SELECT count(*) FROM results") == 6 + 3);  // 2 without recomputation is in both
  CHECK(ResultsTable(folder.file(), 1).summary().feasible == 8);
}

TEST_CASE("plans that do not fit are kept with their reason and without times") {
  const ResultsFolder folder;
  const Space space = swept_space(R"({"model": ["gpt3-1.3b", "gpt3-175b"], "plan.tensor_parallel": [1, 2]})");
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{}, {"step_time_s", "memory.peak_gb"}}) {
    Simulator simulator;
    SweepOptions options = swept_into(folder.file(keys.empty() ? "all.db" : "some.db"));
    options.keys = keys;
    const SweepSummary summary = sweep(space, options, simulator);
    CHECK(summary.infeasible == 2);
    const Database file(options.file, Database::Access::read, ResultsFile::kLockWait);
    CHECK(
        file.number("SELECT count(*) FROM plans WHERE state = 'infeasible' AND reason LIKE 'out of memory%' "
                    "AND \"step_time_s\" IS NULL AND \"memory.peak_gb\" > 80") == 2);
  }
}

TEST_CASE("results that were found elsewhere are put into the file") {
  const ResultsFolder folder;
  const Space space = swept_space();
  Simulator simulator;
  {
    ResultsFile file(folder.file());
    file.begin(space, default_sweep_keys(space));
    PointReader reader(space);
    std::vector<SweptPoint> points;
    for (const std::uint64_t i : {0, 1, 3, 4}) {  // without pipelines: 1 and 2 tensor ranks, in two orders
      const auto point = std::get<Point>(reader.read(i));
      points.push_back({point.index, point.values, point.content,
                        simulate_point(point.experiment, ResultSelection(file.keys()), simulator)});
    }
    file.insert(points);
    file.insert(points);  // a second time changes nothing
    CHECK(file.new_contents().size() == 2);
    CHECK(file.new_contents().empty());
  }
  static_cast<void>(sweep(space, swept_into(folder.file()), simulator));
  static_cast<void>(sweep(space, swept_into(folder.file("other.db")), simulator));
  CHECK(exported(folder.file(), ExportFormat::csv) == exported(folder.file("other.db"), ExportFormat::csv));
}

TEST_CASE("a space without a valid point says what removed how many") {
  const ResultsFolder folder;
  const Space space =
      swept_space(R"({"plan.tensor_parallel": [3, 5, 7], "where": "plan.tensor_parallel != 5"})");
  Simulator simulator;
  std::string said;
  try {
    static_cast<void>(sweep(space, swept_into(folder.file()), simulator));
  } catch (const InputError& error) {
    said = error.diagnostics().front().text();
  }
  CHECK(said.find("experiment.json: none of the 3 points of the space is an experiment: 2 removed by "
                  "plan.tensor_parallel (") == 0);
  CHECK(said.find("1 removed by plan.tensor_parallel != 5") != std::string::npos);
}

/// Returns the error that refuses a sweep; "" if none does.
std::string refusal(const Space& space) {
  const ResultsFolder folder;
  Simulator simulator;
  try {
    static_cast<void>(sweep(space, swept_into(folder.file()), simulator));
    return "";
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
}

TEST_CASE("a space of which no point can be simulated says what is wrong with them") {
  const std::string four_nodes = R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 4,
      "fabric": {"kind": "fat-tree", "shape": [2], "nic_gbps": 200}}, "plan": {"global_batch_size": 32}})";
  const std::string says = refusal(swept_space(R"({"plan.tensor_parallel": [1, 2, 3]})", four_nodes));
  CHECK(says.find("experiment.json: none of the 3 points of the space can be simulated: 2 fail (") == 0);
  CHECK(says.find("/cluster/fabric/shape: the tree has room for 2") != std::string::npos);
  CHECK(says.find("1 removed by plan.tensor_parallel (") != std::string::npos);
  // One point that can be simulated, or that does not fit, is an answer.
  CHECK(refusal(swept_space(R"({"cluster.fabric.shape": [[2], [4]]})", four_nodes)).empty());
  CHECK(refusal(swept_space(R"({"model": ["gpt3-175b"]})")).empty());
}

TEST_CASE("wrong keys and parts are refused") {
  const ResultsFolder folder;
  Simulator simulator;
  SweepOptions options = swept_into(folder.file());
  options.keys = {"step_tim_s"};
  CHECK_THROWS_WITH_AS(static_cast<void>(sweep(swept_space(), options, simulator)),
                       doctest::Contains("did you mean \"step_time_s\"?"), InputError);
  CHECK(folder.files() == 0);
  CHECK(parse_shard("2/4").index == 2);
  for (const char* wrong : {"", "1", "0/4", "5/4", "1/", "/4", "a/b", "1/4/2", "-1/4", "1/9999999999"})
    CHECK_THROWS_WITH_AS(static_cast<void>(parse_shard(wrong)), doctest::Contains("allowed I/N"), InputError);
}

}  // namespace
}  // namespace orrery
