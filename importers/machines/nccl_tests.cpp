#include "importers/machines/nccl_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/gpu_names.hpp"
#include "importers/common/text_lines.hpp"
#include "importers/machines/node_parts.hpp"

namespace orrery::importers::machines {
namespace {

constexpr double kSmallBytes = 4096;       ///< messages up to here take their latency alone
constexpr std::size_t kColumnsBehind = 8;  ///< time, two bandwidths and errors, out of place and in place

/// A row of a log: size count type [redop] [root], then out of place and in place.
struct Row {
  double bytes = 0;
  double time_us = 0;
  double algorithm_gb_per_s = 0;
  double bus_gb_per_s = 0;
  bool reduces = false;  ///< redop is sum, prod, ...
  int line = 0;
};

struct Log {
  std::vector<std::string> devices;  ///< a name for each rank
  std::map<std::string, int> hosts;  ///< ranks by host
  std::vector<Row> rows;
  bool old_header = false;  ///< a header without a column of errors named #wrong
  bool has_redop = false;   ///< the header has a column redop
  std::string command;      ///< the collective of a command line in the log, "" where there is none
  int first_device_line = 0;
};

bool is_nccl_tests(const SourceFile& file) {
  const std::string_view text = file.text();
  return text.find("busbw") != std::string_view::npos && text.find("algbw") != std::string_view::npos &&
         text.find("Rank ") != std::string_view::npos;
}

std::optional<Row> row_of(const TextLine& line) {
  const std::vector<std::string_view> words = words_of(line.text);
  if (words.size() < 3 + kColumnsBehind || !integer_of(words[0]) || !integer_of(words[1]))
    return std::nullopt;
  const std::size_t at = words.size() - kColumnsBehind;
  const auto bytes = number_of(words[0]), time = number_of(words[at]), algorithm = number_of(words[at + 1]),
             bus = number_of(words[at + 2]);
  if (at < 3 || !bytes || !time || !algorithm || !bus) return std::nullopt;
  const bool reduces = at > 3 && !number_of(words[3]) && words[3] != "none";
  return Row{*bytes, *time, *algorithm, *bus, reduces, line.number};
}

/// "#  Rank  0 Group 0 Pid 7 on host device 0 [0x07] NVIDIA H100".
void add_device(const TextLine& line, Log& log) {
  const std::vector<std::string_view> words = words_of(line.text);
  const auto rank = std::ranges::find(words, "Rank");
  const auto on = std::ranges::find(words, "on");
  const std::size_t bracket = line.text.find(']');
  if (rank == words.end() || on == words.end() || on + 1 == words.end() || bracket == std::string_view::npos)
    return;
  if (log.devices.empty()) log.first_device_line = line.number;
  log.devices.emplace_back(trimmed(line.text.substr(bracket + 1)));
  ++log.hosts[std::string(*(on + 1))];
}

/// The collective of "all_reduce_perf" somewhere in the log.
std::string command_of(std::string_view text) {
  constexpr std::array<std::array<std::string_view, 2>, 5> kPrograms{
      {{"all_reduce_perf", "all-reduce"},
       {"all_gather_perf", "all-gather"},
       {"reduce_scatter_perf", "reduce-scatter"},
       {"alltoall_perf", "all-to-all"},
       {"sendrecv_perf", "send-recv"}}};
  for (const auto& [program, collective] : kPrograms)
    if (text.find(program) != std::string_view::npos) return std::string(collective);
  return "";
}

Log log_of(const SourceFile& file) {
  Log log;
  for (const TextLine& line : lines_of(file)) {
    if (line.text.find("Rank ") != std::string_view::npos) add_device(line, log);
    if (const auto row = row_of(line)) log.rows.push_back(*row);
    if (log.command.empty()) log.command = command_of(line.text);
    if (line.text.find("algbw") == std::string_view::npos) continue;
    log.old_header = line.text.find("#wrong") == std::string_view::npos;
    log.has_redop = line.text.find("redop") != std::string_view::npos;
  }
  return log;
}

bool near(double a, double b) { return std::abs(a - b) <= 0.02 * b; }

constexpr const char* kEither = "all-gather or all-to-all";

/// All-gathers and all-to-alls have the same bandwidths. Old logs have no column redop for the first and an
/// empty one for the second; new ones have it for all.
std::string gather_or_exchange(const Log& log) {
  if (!log.old_header) return kEither;
  return log.has_redop ? "all-to-all" : "all-gather";
}

/// Tells the collective by what nccl-tests makes of its bandwidth: 2(n-1)/n for an all-reduce, (n-1)/n where
/// each rank gets or gives its part of the whole, 1 for the others.
std::string collective_of(const Log& log, const Row& largest) {
  if (!log.command.empty()) return log.command;
  const double n = static_cast<double>(log.devices.size());
  const double factor =
      largest.algorithm_gb_per_s > 0 ? largest.bus_gb_per_s / largest.algorithm_gb_per_s : 0;
  // Among two ranks an all-reduce has a factor of 1, as a broadcast does.
  if (largest.reduces && n > 2 && near(factor, 2 * (n - 1) / n)) return "all-reduce";
  if (n > 2 && near(factor, (n - 1) / n)) return largest.reduces ? "reduce-scatter" : gather_or_exchange(log);
  return "";
}

/// The least time of small messages that is not of no bytes.
double small_time_us(const std::vector<Row>& rows) {
  double least = 0;
  for (const Row& row : rows)
    if (row.bytes > 0 && row.bytes <= kSmallBytes && row.time_us > 0 && (least == 0 || row.time_us < least))
      least = row.time_us;
  return least;
}

void map_curve(const Log& log, const SourceFile& file, Draft& draft) {
  const Row& fastest = *std::ranges::max_element(log.rows, {}, &Row::bus_gb_per_s);
  const Row& largest = *std::ranges::max_element(log.rows, {}, &Row::bytes);
  const std::string collective = collective_of(log, largest);
  const SourceKey key = key_at(file, fastest.line, "busbw", fastest.bus_gb_per_s);
  if (collective.empty() || collective == "send-recv")
    return draft.ignore(key,
                        "the log does not say which collective this is, or it is one that gives no constant "
                        "of a ring");
  const bool either = collective == kEither;
  // Hops of a small message are those of the collective, so that nothing follows from its time where both may
  // be meant.
  const Json curve{{"ranks", log.devices.size()},
                   {"hosts", log.hosts.size()},
                   {"bus_gb_per_s", fastest.bus_gb_per_s},
                   {"small_us", either ? 0 : small_time_us(log.rows)}};
  draft.map(key, fmt::format("{}.{}", launch::kMeasured, either ? "all-gather" : collective), curve,
            fmt::format("{} among {} ranks of {} hosts, {} bytes", collective, log.devices.size(),
                        log.hosts.size(), fastest.bytes));
}

/// The nodes that the log ran on; other files may know more of them.
void default_nodes(const Log& log, Draft& draft) {
  const auto& [host, ranks] = *log.hosts.begin();
  const auto other = [ranks = ranks](const auto& entry) { return entry.second != ranks; };
  if (std::ranges::any_of(log.hosts, other)) return;
  draft.default_to("cluster.gpus_per_node", ranks, fmt::format("ranks of {} in the log", host));
  draft.default_to("cluster.nodes", log.hosts.size(), "hosts in the log");
}

void read_nccl_tests(const ImportContext& context, Draft& draft) {
  const Log log = log_of(context.file);
  if (log.devices.empty() || log.rows.empty())
    return draft.lack(key_at(context.file, 1, "nccl-tests", nullptr),
                      "the log has no lines of ranks, or none of sizes with their times");
  const SourceKey device = key_at(context.file, log.first_device_line, "device", log.devices.front());
  const GpuGuess guess = gpu_of_words(log.devices.front());
  if (guess.words.empty())
    draft.lack(device, "no GPU of the catalog is called so: --set cluster.gpu=NAME");
  else
    map_gpu(guess, device, draft);
  default_nodes(log, draft);
  map_curve(log, context.file, draft);
}

}  // namespace

const Importer kNcclTests{
    {"nccl-tests", "Log of nccl-tests: the curve of a collective"}, is_nccl_tests, read_nccl_tests};

}  // namespace orrery::importers::machines
