// Wraps SQLite as far as results need it. Internal to sweep/.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "orrery/content_hash.hpp"
#include "orrery/error.hpp"
#include "reports/result/result_row.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace orrery {

class Database;

/// A statement with its parameters, which count from 1, and the row that it stands at, whose columns count
/// from 0.
class Statement {
 public:
  Statement& bind(int at, std::int64_t value);
  Statement& bind(int at, double value);
  /// `value` must live until the statement is reset.
  Statement& bind(int at, std::string_view value);
  Statement& bind(int at, const ContentHash& value);
  Statement& bind(int at, const ResultScalar& value);

  /// Goes to the next row. False at the end, where the statement is ready to run again.
  bool step();
  /// Runs to the end.
  void run();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double number(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] ContentHash content(int column) const;
  /// Returns the value with its own type.
  [[nodiscard]] ResultScalar scalar(int column) const;

 private:
  friend class Database;
  Statement(const Database& database, sqlite3_stmt* statement);
  void check(int status) const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// Another process has the file locked.
class DatabaseLocked : public RunError {
 public:
  using RunError::RunError;
};

/// Wraps SQLite for one thread at a time. Every failure throws RunError, or InputError if the file itself is
/// wrong, in one line with its name.
class Database {
 public:
  enum class Access : std::uint8_t { read, write };
  /// `lock_wait`: how long to wait for other processes.
  Database(std::string path, Access access, std::chrono::milliseconds lock_wait);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void set_lock_wait(std::chrono::milliseconds wait);
  void run(const std::string& sql);
  [[nodiscard]] Statement prepare(std::string_view sql) const;
  /// The first column of the only row.
  [[nodiscard]] std::int64_t number(std::string_view sql) const;
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Throws the error that SQLite's `status` stands for.
  [[noreturn]] void fail(int status) const;

 private:
  void close();

  std::string path_;
  std::chrono::milliseconds lock_wait_;
  sqlite3* connection_ = nullptr;
};

/// Makes all changes of its lifetime atomic, up to commit(). Others may read meanwhile, and wait to write.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database* database_;
};

/// A name in double quotes, for statements.
[[nodiscard]] std::string sql_name(std::string_view name);

}  // namespace orrery
