// Writes the file of results of sweeps, an SQLite database. Tables:
//   sweeps   a space, its experiment and the version of the program that walks through it
//   points   the points of a sweep that are experiments: their values, and the content of the experiment
//   results  by content and version: its outcome, and a column per key of the result
//   removed  how many points no experiment, by the condition or key that stands against them
//   columns  the columns named by keys: whose, and which type their values have
// and the view plans: points with their results.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/content_hash.hpp"
#include "planner/space/space.hpp"
#include "planner/sweep/column_kind.hpp"
#include "planner/sweep/database.hpp"

namespace orrery {

enum class PointState : std::uint8_t {
  feasible,
  infeasible,  ///< does not fit into memory: its times are not known
  failed,      ///< cannot be simulated
};
inline constexpr std::array<std::string_view, 3> kPointStateNames{"feasible", "infeasible", "failed"};

struct PointResult {
  PointState state = PointState::feasible;
  std::string reason;                 ///< why it is not feasible
  std::vector<ResultScalar> figures;  ///< of ResultsFile::keys()
};

/// A point of the space that is an experiment. The result may be that of another point of equal content, in
/// the file or yet to come.
struct SweptPoint {
  std::uint64_t index = 0;
  std::vector<std::string> values;  ///< one per key of the space; "" where the key does nothing
  ContentHash content;
  std::optional<PointResult> result;
};

/// Neighbouring points that are none.
struct RemovedPoints {
  std::uint64_t block = 0;
  std::string by;       ///< a condition of the space, or a key
  std::string message;  ///< of the first of them; "" for a condition
  std::uint64_t points = 0;
};

/// Writes a results file from one thread at a time; several processes may have the file open.
class ResultsFile {
 public:
  static constexpr std::chrono::milliseconds kLockWait{10'000};

  /// Opens the file, or makes it; makes sure that all of it can be read.
  /// @throws InputError for a file of something else, a damaged one, or one of another layout. RunError where
  /// it cannot be written, or stays locked for longer than `lock_wait`.
  explicit ResultsFile(const std::string& path, std::chrono::milliseconds lock_wait = kLockWait);

  /// Begins the sweep of `space`, or goes on with it. `keys` of the result are to be known of every point.
  void begin(const Space& space, std::span<const std::string> keys);
  [[nodiscard]] std::int64_t sweep() const { return sweep_; }
  /// Returns the keys of begin(), and further ones that results in the file have.
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }

  /// Returns the contents with results of this version that were not returned before: at first all, later
  /// those that other processes, and insert(), have added.
  [[nodiscard]] std::vector<ContentHash> new_contents();

  /// Adds all of them or, on failure, none. Known results stay as they are.
  void insert(std::span<const SweptPoint> points, std::span<const RemovedPoints> removed = {});

  /// Puts all into the one file, unless others have it open too.
  void finish() noexcept;

  /// Returns the database for readers.
  [[nodiscard]] const Database& database() const { return database_; }

 private:
  void add_space_columns(const Space& space);
  void add_result_columns(std::span<const std::string> keys);
  void make_view();
  void prepare_inserts();
  void insert_result(const SweptPoint& point);
  void widen_kinds(const std::vector<ColumnKind>& met);

  Database database_;
  std::string version_;
  std::int64_t sweep_ = 0;
  std::int64_t needed_ = 0;      ///< generation of results that have all keys of begin()
  std::int64_t generation_ = 0;  ///< of results that have keys()
  std::int64_t last_row_ = 0;
  std::vector<std::string> keys_;
  std::vector<ColumnKind> kinds_;  ///< of keys_, as far as this process has told the file
  std::vector<std::string> space_keys_;
  std::vector<ColumnKind> space_kinds_;
  std::optional<Statement> insert_point_;
  std::optional<Statement> insert_result_;
  std::optional<Statement> insert_removed_;
};

/// Number of neighbouring points that are handed out together; all processes that sweep a space must use the
/// same.
[[nodiscard]] std::uint64_t points_per_block(const Space& space);

}  // namespace orrery
