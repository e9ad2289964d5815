#include "planner/sweep/results_file.hpp"

#include <algorithm>
#include <thread>

#include "orrery/error.hpp"
#include "planner/sweep/results_layout.hpp"
#include "planner/sweep/space_text.hpp"

namespace orrery {
namespace {

/// Sets a journal that takes new data before it gets into the file: a killed process loses nothing that was
/// committed, readers never wait, and a commit does not wait for the disk.
void keep_journal_ahead(Database& database, std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kBetween{10};
  const auto end = std::chrono::steady_clock::now() + wait;
  for (bool done = false; !done;) {
    try {
      database.run("PRAGMA journal_mode = WAL");
      done = true;
    } catch (const DatabaseLocked&) {  // the mode changes between others' statements, for which SQLite
      if (std::chrono::steady_clock::now() > end) throw;  // does not wait of itself
      std::this_thread::sleep_for(kBetween);
    }
  }
  // The system keeps written data even if the process dies; a power cut may take the last commits, and leaves
  // the file whole.
  database.run("PRAGMA synchronous = NORMAL");
}

}  // namespace

std::uint64_t points_per_block(const Space& space) {
  return std::clamp<std::uint64_t>(space.size() / 1024, 1, 256);
}

ResultsFile::ResultsFile(const std::string& path, std::chrono::milliseconds lock_wait)
    : database_(checked_results_file(path), Database::Access::write, lock_wait), version_(ORRERY_VERSION) {
  make_results_tables(database_);
  check_results_layout(database_);
  keep_journal_ahead(database_, lock_wait);
}

void ResultsFile::begin(const Space& space, std::span<const std::string> keys) {
  Transaction transaction(database_);
  const SpaceText text = text_of(space);
  const ContentHash content = content_of(text.space, text.experiment, text.overrides, version_);
  database_
      .prepare(
          "INSERT OR IGNORE INTO sweeps (content, space, experiment, source, overrides, version, points, "
          "points_per_block) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(1, content)
      .bind(2, std::string_view(text.space))
      .bind(3, std::string_view(text.experiment))
      .bind(4, std::string_view(space.base().source))
      .bind(5, std::string_view(text.overrides))
      .bind(6, std::string_view(version_))
      .bind(7, static_cast<std::int64_t>(space.size()))
      .bind(8, static_cast<std::int64_t>(points_per_block(space)))
      .run();
  Statement find = database_.prepare("SELECT id FROM sweeps WHERE content = ?");
  if (find.bind(1, content).step()) sweep_ = find.integer(0);
  find.run();
  add_space_columns(space);
  add_result_columns(keys);
  make_view();
  transaction.commit();
  prepare_inserts();
}

}  // namespace orrery
