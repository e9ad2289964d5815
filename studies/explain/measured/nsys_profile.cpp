#include "studies/explain/measured/nsys_profile.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "studies/explain/measured/byte_source.hpp"
#include "studies/explain/measured/profile_builder.hpp"

namespace orrery {
namespace {

struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};

class Database {
 public:
  explicit Database(const std::string& path) : path_(path) {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    database_.reset(opened);
    if (status != SQLITE_OK) refuse_file(path, "cannot be opened as a database");
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, 4'000'000);
  }

  /// True if it is a table: a view could compute anything, for as long as it likes.
  [[nodiscard]] bool has_table(const std::string& name) const {
    bool found = false;
    const std::string query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + name + "'";
    for_each(query, [&](sqlite3_stmt*) { found = true; });
    return found;
  }
  [[nodiscard]] bool has_column(const std::string& table, const std::string& column) const {
    bool found = false;
    for_each("SELECT 1 FROM pragma_table_info('" + table + "') WHERE name = '" + column + "'",
             [&](sqlite3_stmt*) { found = true; });
    return found;
  }
  void for_each(const std::string& query, const std::function<void(sqlite3_stmt*)>& take) const {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
      refuse_file(path_, std::string("is no export of Nsight Systems as expected: ") +
                             sqlite3_errmsg(database_.get()));
    const std::unique_ptr<sqlite3_stmt, CloseStatement> statement(prepared);
    int status = sqlite3_step(prepared);
    for (; status == SQLITE_ROW; status = sqlite3_step(prepared)) take(prepared);
    if (status != SQLITE_DONE)
      refuse_file(path_, std::string("the database is broken: ") + sqlite3_errmsg(database_.get()));
  }

 private:
  std::string path_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
};

std::string column_text(sqlite3_stmt* row, int column) {
  const auto* bytes = sqlite3_column_text(row, column);
  return bytes == nullptr ? "" : reinterpret_cast<const char*>(bytes);
}

/// Times beyond those of any clock stay what they are, unsound, without overflow.
std::int64_t within_reach(std::int64_t nanoseconds) {
  constexpr std::int64_t kFar = 2'400'000'000'000'000'000;
  return std::clamp(nanoseconds, -kFar, kFar);
}

class NsysReader {
 public:
  explicit NsysReader(const std::string& path) : path_(path), database_(path) {
    if (!database_.has_table("CUPTI_ACTIVITY_KIND_KERNEL") || !database_.has_table("StringIds"))
      refuse_file(
          path,
          "found a database without CUPTI_ACTIVITY_KIND_KERNEL and StringIds, allowed exports of Nsight "
          "Systems (nsys export --type sqlite) with CUDA kernels");
  }

  std::vector<Profile> read() {
    read_names();
    read_kernels();
    read_copies();
    read_launches();
    read_steps();
    std::vector<Profile> profiles;
    for (auto& [device, builder] : builders_) {
      Profile profile = std::move(builder).finish();
      profile.rank = static_cast<std::int64_t>(profiles.size());
      profile.world = static_cast<std::int64_t>(builders_.size());
      profiles.push_back(std::move(profile));
    }
    if (profiles.empty()) refuse_file(path_, "found an export without kernels");
    return profiles;
  }

 private:
  ProfileBuilder& of_device(std::int64_t device) {
    constexpr std::size_t kMostDevices = 64;
    const auto [builder, is_new] = builders_.try_emplace(device, path_, "Nsight Systems");
    if (builders_.size() > kMostDevices) refuse_file(path_, "has more than 64 GPUs");
    return builder->second;
  }

  void read_names() {
    constexpr std::size_t kMostNames = 2'000'000;
    database_.for_each("SELECT id, value FROM StringIds", [this](sqlite3_stmt* row) {
      if (names_.size() == kMostNames) refuse_file(path_, "has more than 2,000,000 names");
      names_[sqlite3_column_int64(row, 0)] = column_text(row, 1);
    });
  }

  /// Launches are numbered within a process, so they are looked up beside it.
  [[nodiscard]] static std::int64_t launch_of(std::int64_t correlation, std::int64_t process) {
    return (process >> 24 & 0xffffff) << 40 ^ correlation;
  }

  void read_kernels() {
    const char* const kTable = "CUPTI_ACTIVITY_KIND_KERNEL";
    const bool demangled = database_.has_column(kTable, "demangledName");
    const bool processes = database_.has_column(kTable, "globalPid");
    const std::string query =
        std::string("SELECT start, end, deviceId, correlationId, ") +
        (demangled ? "demangledName" : "shortName") + (processes ? ", globalPid" : ", 0") +
        (database_.has_column(kTable, "streamId") ? ", streamId" : ", 0") +
        (database_.has_column(kTable, "gridX") ? ", gridX, gridY, gridZ, blockX" : ", 0, 0, 0, 0") +
        " FROM " + kTable;
    database_.for_each(query, [this](sqlite3_stmt* row) {
      ProfileBuilder& to = of_device(sqlite3_column_int64(row, 2));
      const auto known = names_.find(sqlite3_column_int64(row, 4));
      const std::string_view name = known == names_.end() ? std::string_view{} : known->second;
      GpuSpan span = span_of(row);
      span.name = to.name(name);
      span.use = use_by_name(name);
      span.stream = sqlite3_column_int(row, 6);
      for (const int column : {7, 8, 9, 10})
        span.shape = span.shape * 0x9e3779b1U + static_cast<std::uint32_t>(sqlite3_column_int(row, column));
      if (span.use == KernelUse::communication) span.message = to.add_message(message_of(name));
      to.add(span, launch_of(sqlite3_column_int64(row, 3), sqlite3_column_int64(row, 5)));
    });
  }
  static GpuSpan span_of(sqlite3_stmt* row) {
    return {within_reach(sqlite3_column_int64(row, 0)), within_reach(sqlite3_column_int64(row, 1))};
  }
  static ProfiledMessage message_of(std::string_view name) {
    ProfiledMessage message;
    message.collective = collective_by_name(name).value_or(Collective::all_reduce);
    return message;
  }

  void read_copies() {
    if (!database_.has_table("CUPTI_ACTIVITY_KIND_MEMCPY")) return;
    const bool processes = database_.has_column("CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid");
    database_.for_each(std::string("SELECT start, end, deviceId, correlationId, ") +
                           (processes ? "globalPid" : "0") + " FROM CUPTI_ACTIVITY_KIND_MEMCPY",
                       [this](sqlite3_stmt* row) {
                         ProfileBuilder& to = of_device(sqlite3_column_int64(row, 2));
                         GpuSpan span = span_of(row);
                         span.name = to.name("memcpy");
                         span.use = KernelUse::copy;
                         to.add(span, launch_of(sqlite3_column_int64(row, 3), sqlite3_column_int64(row, 4)));
                       });
  }

  /// All devices look among the calls of all processes.
  void read_launches() {
    if (!database_.has_table("CUPTI_ACTIVITY_KIND_RUNTIME")) return;
    const bool threads = database_.has_column("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid");
    database_.for_each(std::string("SELECT start, end, correlationId, ") + (threads ? "globalTid" : "0") +
                           " FROM CUPTI_ACTIVITY_KIND_RUNTIME",
                       [this](sqlite3_stmt* row) {
                         const std::int64_t launch =
                             launch_of(sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3));
                         const ClockRange call{within_reach(sqlite3_column_int64(row, 0)),
                                               within_reach(sqlite3_column_int64(row, 1))};
                         for (auto& [device, builder] : builders_) builder.add_launch(launch, call);
                       });
  }

  /// Steps are ranges of NVTX that are named after them: "ProfilerStep#3", "step 3", "iteration3".
  void read_steps() {
    if (!database_.has_table("NVTX_EVENTS")) return;
    database_.for_each(
        "SELECT start, end, text FROM NVTX_EVENTS WHERE end IS NOT NULL AND text IS NOT NULL "
        "ORDER BY start",
        [this](sqlite3_stmt* row) {
          const std::string name = column_text(row, 2);
          const ClockRange range{within_reach(sqlite3_column_int64(row, 0)),
                                 within_reach(sqlite3_column_int64(row, 1))};
          const std::size_t digits = name.find_last_not_of("0123456789") + 1;
          const std::string_view stem = std::string_view(name).substr(0, digits);
          const bool step = digits < name.size() && digits + 9 > name.size() &&
                            (stem == "ProfilerStep#" || stem == "step " || stem == "step" ||
                             stem == "iteration" || stem == "iteration ");
          for (auto& [device, builder] : builders_) {
            if (step) builder.add_step({std::stoll(name.substr(digits)), range});
            if (name.find("DataLoader") != std::string::npos) builder.add_loading(range);
          }
        });
  }

  std::string path_;
  Database database_;
  std::map<std::int64_t, std::string> names_;
  std::map<std::int64_t, ProfileBuilder> builders_;  ///< by device
};

}  // namespace

std::vector<Profile> read_nsys_profiles(const std::string& path) { return NsysReader(path).read(); }

}  // namespace orrery
