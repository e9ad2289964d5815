#include "planner/sweep/results_layout.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>

namespace orrery {
namespace {

/// The application id of SQLite in the header of the file, "Orry".
constexpr std::int64_t kApplication = 0x4f727279;
/// Version of the tables; a file of another layout is not touched.
constexpr std::int64_t kLayout = 1;

constexpr std::array kTables{
    "CREATE TABLE sweeps (id INTEGER PRIMARY KEY, content BLOB NOT NULL UNIQUE, space TEXT NOT NULL, "
    "experiment TEXT NOT NULL, source TEXT NOT NULL, overrides TEXT NOT NULL, version TEXT NOT NULL, "
    "points INTEGER NOT NULL, points_per_block INTEGER NOT NULL)",
    "CREATE TABLE points (sweep INTEGER NOT NULL, point INTEGER NOT NULL, content BLOB NOT NULL, "
    "PRIMARY KEY (sweep, point)) WITHOUT ROWID",
    "CREATE TABLE results (id INTEGER PRIMARY KEY, content BLOB NOT NULL, version TEXT NOT NULL, "
    "generation INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT, UNIQUE (content, version))",
    "CREATE TABLE removed (sweep INTEGER NOT NULL, block INTEGER NOT NULL, because TEXT NOT NULL, message "
    "TEXT, points INTEGER NOT NULL, PRIMARY KEY (sweep, block, because)) WITHOUT ROWID",
    "CREATE TABLE columns (id INTEGER PRIMARY KEY, part TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT "
    "NULL, generation INTEGER NOT NULL, UNIQUE (part, name))"};

[[noreturn]] void refuse_file(const std::string& path, const std::string& message) {
  throw InputError({Diagnostic{path, 0, 0, "", message}});
}

}  // namespace

const std::string& checked_results_file(const std::string& path) {
  constexpr std::size_t kHeader = 100;
  constexpr std::size_t kApplicationAt = 68;  // https://www.sqlite.org/fileformat.html
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  std::ifstream file(path, std::ios::binary);
  std::array<char, kHeader> header{};
  if (!file || !file.read(header.data(), 1)) return path;  // there is none, or an empty one
  file.read(header.data() + 1, kHeader - 1);
  if (std::string_view(header.data(), kMagic.size()) != kMagic)
    refuse_file(path, "found a file that is no database, allowed a file of orrery sweep");
  std::int64_t application = 0;
  for (std::size_t i = 0; i < 4; ++i)
    application = (application << 8) | static_cast<unsigned char>(header[kApplicationAt + i]);
  if (application != kApplication)
    refuse_file(path, "found a database of something else, allowed a file of orrery sweep");
  return path;
}

void check_results_layout(const Database& database) {
  if (const std::int64_t found = database.number("PRAGMA user_version"); found != kLayout)
    refuse_file(database.path(),
                fmt::format("found a file of orrery sweep of layout {}, allowed layout {}", found, kLayout));
  Statement check = database.prepare("PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok")
    refuse_file(database.path(), "the file is damaged: allowed a file of orrery sweep");
}

void make_results_tables(Database& database) {
  if (database.number("PRAGMA application_id") == kApplication) return;
  Transaction transaction(database);
  if (database.number("PRAGMA application_id") == kApplication) return;  // another process was faster
  database.run(fmt::format("PRAGMA application_id = {}", kApplication));
  database.run(fmt::format("PRAGMA user_version = {}", kLayout));
  for (const char* table : kTables) database.run(table);
  transaction.commit();
}

}  // namespace orrery
