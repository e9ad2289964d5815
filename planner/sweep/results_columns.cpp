// Manages the columns of a file of results, and their values.
#include <fmt/format.h>

#include <algorithm>

#include "planner/sweep/results_file.hpp"

namespace orrery {
namespace {

constexpr std::string_view kOfSpace = "space";
constexpr std::string_view kOfResult = "result";

struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::unknown;
  std::int64_t generation = 0;
};

std::vector<Column> columns_of(const Database& database, std::string_view part) {
  Statement rows = database.prepare("SELECT name, kind, generation FROM columns WHERE part = ? ORDER BY id");
  rows.bind(1, part);
  std::vector<Column> columns;
  while (rows.step()) columns.push_back({rows.text(0), column_kind(rows.text(1)), rows.integer(2)});
  return columns;
}

void add_column(Database& database, std::string_view part, const Column& column) {
  database.prepare("INSERT INTO columns (name, part, kind, generation) VALUES (?, ?, ?, ?)")
      .bind(1, std::string_view(column.name))
      .bind(2, part)
      .bind(3, kColumnKindNames[static_cast<std::size_t>(column.kind)])
      .bind(4, column.generation)
      .run();
  const std::string_view table = part == kOfSpace ? "points" : "results";
  database.run(fmt::format("ALTER TABLE {} ADD COLUMN {} {}", table, sql_name(column.name),
                           kColumnTypes[static_cast<std::size_t>(column.kind)]));
}

void set_kind(Database& database, std::string_view part, const Column& column) {
  database.prepare("UPDATE columns SET kind = ? WHERE name = ? AND part = ?")
      .bind(1, kColumnKindNames[static_cast<std::size_t>(column.kind)])
      .bind(2, std::string_view(column.name))
      .bind(3, part)
      .run();
}

std::string parameters(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += i == 0 ? "?" : ", ?";
  return text;
}

std::string listed(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += ", " + sql_name(key);
  return text;
}

/// Columns of a row that are to be those of the row that met it.
std::string renewed(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += fmt::format(", {0} = excluded.{0}", sql_name(key));
  return text;
}

}  // namespace

void ResultsFile::add_space_columns(const Space& space) {
  const std::vector<Column> there = columns_of(database_, kOfSpace);
  space_keys_.clear();
  space_kinds_.clear();
  for (const SpaceKey& key : space.keys()) {
    space_keys_.push_back(key.key);
    space_kinds_.push_back(kind_of_texts(key.values));
    const auto found = std::ranges::find(there, key.key, &Column::name);
    if (found == there.end())
      add_column(database_, kOfSpace, {key.key, space_kinds_.back(), 0});
    else
      set_kind(database_, kOfSpace, {key.key, common_kind(found->kind, space_kinds_.back()), 0});
  }
}

void ResultsFile::add_result_columns(std::span<const std::string> keys) {
  std::vector<Column> columns = columns_of(database_, kOfResult);
  std::int64_t latest = 0;
  for (const Column& column : columns) latest = std::max(latest, column.generation);
  for (const std::string& key : keys) {
    if (std::ranges::find(columns, key, &Column::name) != columns.end()) continue;
    columns.push_back({key, ColumnKind::unknown, latest + 1});
    add_column(database_, kOfResult, columns.back());
  }
  needed_ = 0;
  generation_ = 0;
  keys_.clear();
  kinds_.clear();
  for (const std::string_view name : row_names({})) {
    const auto column = std::ranges::find(columns, name, &Column::name);
    if (column == columns.end()) continue;
    keys_.emplace_back(name);
    kinds_.push_back(column->kind);
    generation_ = std::max(generation_, column->generation);
    if (std::ranges::find(keys, name) != keys.end()) needed_ = std::max(needed_, column->generation);
  }
}

void ResultsFile::make_view() {
  std::string columns = "p.sweep, p.point, p.content, r.state, r.reason";
  std::vector<std::string> of_space;
  for (const Column& column : columns_of(database_, kOfSpace)) {
    of_space.push_back(column.name);
    columns += ", p." + sql_name(column.name);
  }
  for (const Column& column : columns_of(database_, kOfResult))
    if (std::ranges::find(of_space, column.name) == of_space.end()) columns += ", r." + sql_name(column.name);
  database_.run("DROP VIEW IF EXISTS plans");
  database_.run("CREATE VIEW plans AS SELECT " + columns +
                " FROM points p JOIN sweeps s ON s.id = p.sweep JOIN results r ON r.content = p.content AND "
                "r.version = s.version");
}

void ResultsFile::prepare_inserts() {
  insert_point_ = database_.prepare(fmt::format(
      "INSERT INTO points (sweep, point, content{}) VALUES ({}) ON CONFLICT (sweep, point) DO UPDATE SET "
      "content = excluded.content{} WHERE content <> excluded.content",
      listed(space_keys_), parameters(3 + space_keys_.size()), renewed(space_keys_)));
  // Another process's result of the same content is equal, unless it knows fewer keys.
  insert_result_ = database_.prepare(fmt::format(
      "INSERT INTO results (content, version, generation, state, reason{}) VALUES ({}) ON CONFLICT (content, "
      "version) DO UPDATE SET generation = excluded.generation, state = excluded.state, reason = "
      "excluded.reason{} WHERE excluded.generation > generation",
      listed(keys_), parameters(5 + keys_.size()), renewed(keys_)));
  insert_removed_ = database_.prepare(
      "INSERT INTO removed (sweep, block, because, message, points) VALUES (?, ?, ?, ?, ?) ON CONFLICT "
      "(sweep, "
      "block, because) DO UPDATE SET points = excluded.points WHERE points <> excluded.points");
}

std::vector<ContentHash> ResultsFile::new_contents() {
  Statement rows = database_.prepare(
      "SELECT id, content FROM results WHERE id > ? AND version = ? AND generation >= ? ORDER BY id");
  rows.bind(1, last_row_).bind(2, std::string_view(version_)).bind(3, needed_);
  std::vector<ContentHash> contents;
  while (rows.step()) {
    last_row_ = rows.integer(0);
    contents.push_back(rows.content(1));
  }
  return contents;
}

void ResultsFile::insert(std::span<const SweptPoint> points, std::span<const RemovedPoints> removed) {
  Transaction transaction(database_);
  std::vector<ColumnKind> kinds = kinds_;
  for (const SweptPoint& point : points) {
    insert_point_->bind(1, sweep_).bind(2, static_cast<std::int64_t>(point.index)).bind(3, point.content);
    std::vector<ResultScalar> values;
    for (std::size_t k = 0; k < space_keys_.size(); ++k)
      values.push_back(scalar_of_text(point.values[k], space_kinds_[k]));
    for (std::size_t k = 0; k < values.size(); ++k) insert_point_->bind(static_cast<int>(4 + k), values[k]);
    insert_point_->run();
    if (!point.result) continue;
    insert_result(point);
    for (std::size_t k = 0; k < kinds.size(); ++k)
      kinds[k] = common_kind(kinds[k], kind_of(point.result->figures[k]));
  }
  for (const RemovedPoints& some : removed) {
    insert_removed_->bind(1, sweep_)
        .bind(2, static_cast<std::int64_t>(some.block))
        .bind(3, std::string_view(some.by))
        .bind(4, std::string_view(some.message))
        .bind(5, static_cast<std::int64_t>(some.points))
        .run();
  }
  widen_kinds(kinds);
  transaction.commit();
  kinds_ = std::move(kinds);
}

void ResultsFile::insert_result(const SweptPoint& point) {
  const PointResult& result = *point.result;
  insert_result_->bind(1, point.content)
      .bind(2, std::string_view(version_))
      .bind(3, generation_)
      .bind(4, kPointStateNames[static_cast<std::size_t>(result.state)]);
  result.reason.empty() ? insert_result_->bind(5, ResultScalar())
                        : insert_result_->bind(5, std::string_view(result.reason));
  for (std::size_t k = 0; k < keys_.size(); ++k)
    insert_result_->bind(static_cast<int>(6 + k), result.figures[k]);
  insert_result_->run();
}

/// Merges the kinds of columns into those that other processes have met.
void ResultsFile::widen_kinds(const std::vector<ColumnKind>& met) {
  if (met == kinds_) return;
  const std::vector<Column> there = columns_of(database_, kOfResult);
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const auto column = std::ranges::find(there, keys_[k], &Column::name);
    if (met[k] == kinds_[k] || column == there.end()) continue;
    set_kind(database_, kOfResult, {keys_[k], common_kind(column->kind, met[k]), 0});
  }
}

void ResultsFile::finish() noexcept {
  try {
    database_.set_lock_wait(std::chrono::milliseconds{0});
    // The file holds all rows by itself even if the journal stays: who copies the file alone loses none.
    database_.run("PRAGMA wal_checkpoint(PASSIVE)");
    database_.run("PRAGMA journal_mode = DELETE");
  } catch (const std::exception&) {  // others have it open: the next that ends alone removes the journal
  }
}

}  // namespace orrery
