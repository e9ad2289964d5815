#include "planner/sweep/results_file.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "orrery/error.hpp"
#include "tests/planner/sweep/sweep_support.hpp"

namespace orrery {
namespace {

constexpr std::chrono::milliseconds kShortWait{50};

/// Returns the error for a file, which is left as it was; "" for a file that is accepted.
std::string refusal_of(const std::string& path) {
  const std::string before = bytes_of(path);
  std::string said;
  try {
    const ResultsFile file(path, kShortWait);
  } catch (const InputError& error) {
    said = error.diagnostics().front().text();
  } catch (const RunError& error) {
    said = error.what();
  }
  if (!said.empty()) CHECK(bytes_of(path) == before);
  return said;
}

void finished_sweep(const std::string& path) {
  Simulator simulator;
  static_cast<void>(sweep(swept_space(), swept_into(path), simulator));
}

TEST_CASE("files of something else are left alone") {
  const ResultsFolder folder;
  const std::string path = folder.file();
  std::ofstream(path) << "plan,time\n1,2\n";
  CHECK(refusal_of(path) == path + ": found a file that is no database, allowed a file of orrery sweep");
  std::filesystem::remove(path);
  Database(path, Database::Access::write, kShortWait).run("CREATE TABLE t (x); INSERT INTO t VALUES (1)");
  CHECK(refusal_of(path) == path + ": found a database of something else, allowed a file of orrery sweep");
}

TEST_CASE("a file of another layout is left alone") {
  const ResultsFolder folder;
  finished_sweep(folder.file());
  Database(folder.file(), Database::Access::write, kShortWait).run("PRAGMA user_version = 7");
  CHECK(refusal_of(folder.file()).find("of layout 7, allowed layout 1") != std::string::npos);
}

TEST_CASE("damaged files are left alone") {
  const ResultsFolder folder;
  finished_sweep(folder.file());
  const std::string whole = bytes_of(folder.file());
  const auto damage = [&](const std::string& bytes) {
    std::ofstream(folder.file(), std::ios::binary | std::ios::trunc) << bytes;
    return refusal_of(folder.file());
  };
  CHECK(damage(whole.substr(0, 50)).find("something else") != std::string::npos);
  CHECK(damage(whole.substr(0, whole.size() / 2)).find("the file is damaged") != std::string::npos);
  std::string garbled = whole;
  for (std::size_t i = 4096; i < garbled.size(); ++i) garbled[i] = static_cast<char>(i * 31);
  CHECK(damage(garbled).find("the file is damaged") != std::string::npos);
  CHECK(damage(whole).empty());
}

TEST_CASE("a locked file is left alone, and read again when it is free") {
  const ResultsFolder folder;
  finished_sweep(folder.file());
  Database other(folder.file(), Database::Access::write, kShortWait);
  other.run("BEGIN EXCLUSIVE");
  CHECK(refusal_of(folder.file()) == folder.file() + " is locked by another process, and was for 0.05 s");
  other.run("COMMIT");
  CHECK(refusal_of(folder.file()).empty());
}

TEST_CASE("files that cannot be made or read say why") {
  const ResultsFolder folder;
  CHECK(refusal_of(folder.file("none/r.db")).find("cannot use") == 0);
  CHECK_THROWS_WITH_AS(ResultsTable(folder.file("none.db"), 0), doctest::Contains("No such file"),
                       InputError);
  const ResultsFile empty(folder.file());
  CHECK_THROWS_WITH_AS(ResultsTable(folder.file(), 0), doctest::Contains("no sweep"), InputError);
}

TEST_CASE("columns have the type of all their values") {
  CHECK(kind_of_texts({"1", "2"}) == ColumnKind::count);
  CHECK(kind_of_texts({"1", "2.5"}) == ColumnKind::number);
  CHECK(kind_of_texts({"true", "false"}) == ColumnKind::flag);
  CHECK(kind_of_texts({"8", "auto"}) == ColumnKind::text);
  CHECK(kind_of_texts({"none", "{\"layers\":1}"}) == ColumnKind::text);
  CHECK(scalar_of_text("8", ColumnKind::text) == ResultScalar(std::string("8")));
  CHECK(scalar_of_text("\"8\"", ColumnKind::text) == ResultScalar(std::string("8")));
  CHECK(scalar_of_text("", ColumnKind::text) == ResultScalar());
  CHECK(scalar_of_text("8", ColumnKind::count) == ResultScalar(std::int64_t{8}));
}

TEST_CASE("exports have the types of the result") {
  const ResultsFolder folder;
  Simulator simulator;
  static_cast<void>(sweep(swept_space(R"({"plan.zero_group_size": [8, "auto"], "plan.zero_stage": [1]})"),
                          swept_into(folder.file()), simulator));
  const auto columns = nlohmann::json::parse(exported(folder.file(), ExportFormat::columns));
  CHECK(columns["plan.zero_group_size"] == nlohmann::json({"8", "auto"}));
  CHECK(columns["point"] == nlohmann::json({0, 1}));
  CHECK(columns["feasible"] == nlohmann::json({true, true}));
  CHECK(columns["reason"] == nlohmann::json({nullptr, nullptr}));
  CHECK(columns["mfu"][0].is_number_float());
  CHECK_FALSE(columns.contains("stats.wall_s"));
}

TEST_CASE("the best and the front are those of all feasible points") {
  const ResultsFolder folder;
  Simulator simulator;
  const Space space = swept_space(R"({"plan.tensor_parallel": [1, 2, 4, 8], "plan.pipeline_parallel": [1, 2],
      "plan.recompute": ["none", "full"]})");
  static_cast<void>(sweep(space, swept_into(folder.file()), simulator));
  const ResultsTable table(folder.file(), 0);
  const auto figures = nlohmann::json::parse(exported(folder.file(), ExportFormat::columns));
  const auto time = figures["step_time_s"].get<std::vector<double>>();
  const auto memory = figures["memory.peak_gb"].get<std::vector<double>>();
  REQUIRE(time.size() == 16);  // all are feasible, so rows are points
  std::vector<std::uint64_t> front;
  for (std::uint64_t i = 0; i < 16; ++i) {
    bool beaten = false;
    for (std::uint64_t j = 0; j < 16; ++j)
      beaten = beaten ||
               (time[j] <= time[i] && memory[j] <= memory[i] && (time[j] < time[i] || memory[j] < memory[i]));
    if (!beaten) front.push_back(i);
  }
  std::ranges::sort(front, {}, [&](std::uint64_t i) { return time[i]; });
  CHECK(table.pareto(std::vector{parse_aim("step_time_s"), parse_aim("memory.peak_gb")}) == front);
  CHECK(table.best(parse_aim("step_time_s"), 1).front() == front.front());
  CHECK(table.best(parse_aim("memory.peak_gb"), 1).front() == front.back());
  CHECK(table.best(parse_aim("mfu"), 100).size() == 16);
  CHECK(table.best(parse_aim("tokens_per_s"), 2) == table.best(parse_aim("step_time_s"), 2));
  CHECK(table.best(parse_aim("max:step_time_s"), 16).back() == front.front());
  CHECK_THROWS_WITH_AS(static_cast<void>(table.best(parse_aim("step_tim_s"), 1)),
                       doctest::Contains("did you mean \"step_time_s\"?"), InputError);
  // No length of a training is given, so that no point has days to weigh.
  const std::string says = "none of the 16 feasible points has a value of \"training_days\"";
  CHECK_THROWS_WITH_AS(static_cast<void>(table.best(parse_aim("training_days"), 1)),
                       doctest::Contains(says.c_str()), InputError);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(table.pareto(std::vector{parse_aim("step_time_s"), parse_aim("training_days")})),
      doctest::Contains(says.c_str()), InputError);
}

TEST_CASE("a figure that only another sweep of the file has values of is none of this one") {
  const ResultsFolder folder;
  Simulator simulator;
  static_cast<void>(sweep(swept_space(R"({"training.tokens": [1000000000, 2000000000]})"),
                          swept_into(folder.file()), simulator));
  static_cast<void>(sweep(swept_space(), swept_into(folder.file()), simulator));
  CHECK(ResultsTable(folder.file(), 1).pareto(std::vector{parse_aim("training_days")}).size() == 1);
  CHECK(ResultsTable(folder.file(), 1).has_figure("training_days"));
  CHECK_FALSE(ResultsTable(folder.file(), 2).has_figure("training_days"));
  CHECK_THROWS_AS(
      static_cast<void>(ResultsTable(folder.file(), 2).pareto(std::vector{parse_aim("training_days")})),
      InputError);
}

}  // namespace
}  // namespace orrery
