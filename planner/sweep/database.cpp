#include "planner/sweep/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>

namespace orrery {
namespace {

using Blob = std::array<unsigned char, 2 * sizeof(std::uint64_t)>;

/// The most significant byte first, whatever the machine, so that files travel.
Blob blob_of(const ContentHash& content) {
  Blob blob{};
  for (std::size_t i = 0; i < blob.size(); ++i) {
    const std::uint64_t half = i < 8 ? content.a : content.b;
    blob[i] = static_cast<unsigned char>(half >> (8 * (7 - i % 8)));
  }
  return blob;
}

ContentHash content_of_blob(const void* bytes, int size) {
  ContentHash content{0, 0};
  Blob blob{};
  if (size != static_cast<int>(blob.size())) return content;
  std::memcpy(blob.data(), bytes, blob.size());
  for (std::size_t i = 0; i < blob.size(); ++i) {
    std::uint64_t& half = i < 8 ? content.a : content.b;
    half = (half << 8) | blob[i];
  }
  return content;
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(const Database& database, sqlite3_stmt* statement)
    : database_(&database), statement_(statement) {}

void Statement::check(int status) const {
  if (status != SQLITE_OK) database_->fail(status);
}

Statement& Statement::bind(int at, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), at, value));
  return *this;
}

Statement& Statement::bind(int at, double value) {
  check(sqlite3_bind_double(statement_.get(), at, value));
  return *this;
}

Statement& Statement::bind(int at, std::string_view value) {
  check(sqlite3_bind_text(statement_.get(), at, value.data(), static_cast<int>(value.size()), SQLITE_STATIC));
  return *this;
}

Statement& Statement::bind(int at, const ContentHash& value) {
  const Blob blob = blob_of(value);
  check(sqlite3_bind_blob(statement_.get(), at, blob.data(), static_cast<int>(blob.size()),
                          SQLITE_TRANSIENT));  // NOLINT: SQLite's own cast
  return *this;
}

Statement& Statement::bind(int at, const ResultScalar& value) {
  std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>)
          check(sqlite3_bind_null(statement_.get(), at));
        else if constexpr (std::is_same_v<Held, bool>)
          bind(at, std::int64_t{held});
        else if constexpr (std::is_same_v<Held, std::string>)
          bind(at, std::string_view(held));
        else
          bind(at, held);
      },
      value);
  return *this;
}

bool Statement::step() {
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  sqlite3_reset(statement_.get());
  if (status != SQLITE_DONE) database_->fail(status);
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double Statement::number(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

ContentHash Statement::content(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_.get(), column);
  return content_of_blob(bytes, bytes == nullptr ? 0 : sqlite3_column_bytes(statement_.get(), column));
}

ResultScalar Statement::scalar(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      return integer(column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement_.get(), column);
    case SQLITE_NULL:
      return {};
    default:
      return text(column);
  }
}

Database::Database(std::string path, Access access, std::chrono::milliseconds lock_wait)
    : path_(std::move(path)) {
  const int flags =
      access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  // "./" before the name, so that none has a meaning of its own, such as ":memory:".
  const std::string name = path_.starts_with('/') ? path_ : "./" + path_;
  const int status = sqlite3_open_v2(name.c_str(), &connection_, flags, nullptr);
  try {
    if (status != SQLITE_OK) fail(status);
    sqlite3_extended_result_codes(connection_, 1);
    set_lock_wait(lock_wait);
  } catch (...) {
    close();
    throw;
  }
}

Database::~Database() { close(); }

void Database::close() { sqlite3_close_v2(connection_); }

void Database::set_lock_wait(std::chrono::milliseconds wait) {
  lock_wait_ = wait;
  sqlite3_busy_timeout(connection_, static_cast<int>(wait.count()));
}

void Database::run(const std::string& sql) {
  if (const int status = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
      status != SQLITE_OK)
    fail(status);
}

Statement Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int status =
      sqlite3_prepare_v2(connection_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (status != SQLITE_OK) fail(status);
  return {*this, statement};
}

std::int64_t Database::number(std::string_view sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Database::fail(int status) const {
  const int kind = status & 0xff;
  if (kind == SQLITE_NOMEM) throw std::bad_alloc();
  if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED)
    throw DatabaseLocked(fmt::format("{} is locked by another process, and was for {:.3g} s", path_,
                                     static_cast<double>(lock_wait_.count()) / 1000));
  if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB)
    throw InputError({Diagnostic{path_, 0, 0, "", "the file is damaged: allowed a file of orrery sweep"}});
  std::string why = connection_ != nullptr ? sqlite3_errmsg(connection_) : sqlite3_errstr(status);
  const int system = connection_ != nullptr ? sqlite3_system_errno(connection_) : 0;
  const bool of_system = kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR || kind == SQLITE_PERM;
  if (of_system && system != 0) why = std::generic_category().message(system);
  throw RunError(fmt::format("cannot use {}: {}", path_, why));
}

Transaction::Transaction(Database& database) : database_(&database) { database_->run("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (database_ == nullptr) return;
  try {
    database_->run("ROLLBACK");
  } catch (const std::exception&) {  // SQLite has rolled back of itself, as after a full disk
  }
}

void Transaction::commit() {
  database_->run("COMMIT");
  database_ = nullptr;
}

std::string sql_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace orrery
