// Guards the accuracy of the model: fails when the mean error of a table grows by more than half a point.
// The figures are in errors.txt (shipped tables) and external_errors.txt (tables in the folder that the
// environment variable ORRERY_MEASUREMENTS names); their heads say how to renew them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>
#include <thread>

#include "studies/validate/validate.hpp"
#include "tests/sanitized.hpp"
#include "tests/source_dir.hpp"
#include "tests/studies/validate/tables.hpp"

using namespace orrery;
using orrery::validation_test::context;

namespace {

constexpr double kAllowedGrowth = 0.5;  // percentage points
constexpr std::int64_t kManyGpus = 64;

/// By table; where rows serve requests by table and figure, with a dot between.
using Percentages = std::map<std::string, double>;

std::string table_of(const std::string& entry) { return entry.substr(0, entry.find('.')); }

std::filesystem::path file_named(const char* name) {
  return test::source_dir() / "tests/studies/validate" / name;
}

/// The recorded figures; the comment at the head of the file goes to `head`.
Percentages recorded(const char* name, std::string* head = nullptr) {
  std::ifstream file(file_named(name));
  Percentages out;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) {
      if (head != nullptr) *head += line + "\n";
      continue;
    }
    std::istringstream words(line);
    std::string table;
    double percentage = 0;
    if (words >> table >> percentage) out[table] = percentage;
  }
  return out;
}

Percentages errors_of(const std::vector<MeasuredTable>& tables) {
  Percentages out;
  for (const TableResult& result : validate(tables, std::max(1U, std::thread::hardware_concurrency()))) {
    for (const std::string& key : result.key_figures()) {
      const auto found = result.statistics.find(key);
      if (found == result.statistics.end()) continue;
      out[result.of_requests ? result.table + "." + key : result.table] = 100 * found->second.mean_abs_error;
    }
  }
  return out;
}

std::vector<MeasuredTable> shipped() {
  std::vector<MeasuredTable> tables;
  for (const ShippedTable& table : shipped_tables())
    tables.push_back(load_measured_table(table.name, context()));
  return tables;
}

/// The CSV files of the folder ORRERY_MEASUREMENTS that have recorded figures; none where it is not set.
std::vector<MeasuredTable> external() {
  const char* folder = std::getenv("ORRERY_MEASUREMENTS");
  std::vector<MeasuredTable> tables;
  if (folder == nullptr) return tables;
  for (const auto& [name, percentage] : recorded("external_errors.txt")) {
    const std::filesystem::path path = std::filesystem::path(folder) / (name + ".csv");
    if (std::filesystem::exists(path)) tables.push_back(load_measured_table(path.string(), context()));
  }
  return tables;
}

bool has_many_gpus(const MeasuredTable& table) {
  return std::ranges::any_of(table.rows,
                             [](const MeasuredRow& row) { return row.experiment.plan.gpus() > kManyGpus; });
}

void check(const Percentages& errors, const Percentages& limits) {
  for (const auto& entry : errors) {
    const std::string& table = entry.first;  // clang 14 captures no structured bindings
    const double percentage = entry.second;
    CAPTURE(table);
    REQUIRE_MESSAGE(limits.count(table) == 1, "no figure for this table; its mean error is ", percentage,
                    " %");
    CHECK_MESSAGE(percentage <= limits.at(table) + kAllowedGrowth, "mean error ", percentage, " %, recorded ",
                  limits.at(table), " %");
  }
}

void renew(const char* name, const Percentages& errors) {
  std::string head;
  static_cast<void>(recorded(name, &head));
  std::ofstream file(file_named(name));
  file << head << std::fixed << std::setprecision(1);
  for (const auto& [table, percentage] : errors) file << table << ' ' << percentage << '\n';
}

}  // namespace

TEST_CASE("mean errors of the shipped tables do not grow") {
  const Percentages limits = recorded("errors.txt");
  std::vector<MeasuredTable> tables = shipped();
  for (const auto& entry : limits) {
    const bool there = std::ranges::count(tables, table_of(entry.first), &MeasuredTable::name) == 1;
    CHECK_MESSAGE(there, entry.first, " has vanished");
  }
  if (test::kSanitized) {
    MESSAGE("sanitizer build: two rows of each table, and no table with rows of more than 64 GPUs");
    std::erase_if(tables, has_many_gpus);
    for (MeasuredTable& table : tables) table.rows.resize(std::min<std::size_t>(table.rows.size(), 2));
    CHECK_FALSE(errors_of(tables).empty());
    return;
  }
  const Percentages errors = errors_of(tables);
  check(errors, limits);
  for (const MeasuredTable& table : tables) {
    const auto is_of = [&](const auto& entry) { return table_of(entry.first) == table.name; };
    CHECK_MESSAGE((std::ranges::count_if(limits, is_of) == std::ranges::count_if(errors, is_of)), table.name,
                  " has no rows left");
  }
}

TEST_CASE("mean errors of external tables do not grow") {
  const std::vector<MeasuredTable> tables = external();
  if (tables.empty()) {
    MESSAGE("skipped: ORRERY_MEASUREMENTS names no folder with the tables of external_errors.txt");
    return;
  }
  check(errors_of(tables), recorded("external_errors.txt"));
}

TEST_CASE("renew the recorded errors" * doctest::skip()) {
  renew("errors.txt", errors_of(shipped()));
  if (const Percentages errors = errors_of(external()); !errors.empty()) renew("external_errors.txt", errors);
}
