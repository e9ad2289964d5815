#include "studies/explain/measured/measured.hpp"

#include <algorithm>

#include "studies/explain/measured/chrome_profile.hpp"
#include "studies/explain/measured/nsys_profile.hpp"

namespace orrery {
namespace {

bool is_json(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (head[first] == '{') return true;
  // A list of events, not a line of a log that begins with its date.
  const std::size_t next = head.find_first_not_of(" \t\r\n", first + 1);
  return head[first] == '[' && next != std::string_view::npos && (head[next] == '{' || head[next] == ']');
}

bool is_of_serving(std::string_view head) {
  return head.find("\"request_throughput\"") != std::string_view::npos ||
         head.find("ttft") != std::string_view::npos;
}

/// Text is read as a log of training, of collectives and of a server at once.
void add_text(ByteSource& bytes, const std::string& path, Measurements& to) {
  TrainingLogReader training(path);
  CollectiveLogReader collectives(path);
  ServerLogReader server(path);
  std::string line;
  while (read_line(bytes, line)) {
    training.read(line);
    collectives.read(line);
    server.read(line);
  }
  TrainingLog log = std::move(training).finish();
  CollectiveLog rows = std::move(collectives).finish();
  if (!log.empty()) return to.training.push_back(std::move(log));
  if (!server.empty()) return to.serving.push_back(std::move(server).finish());
  if (!rows.rows.empty() && rows.ranks > 1) return to.collectives.push_back(std::move(rows));
  refuse_file(
      path,
      "found text without measurements, allowed the log of a training framework with times of steps, of "
      "nccl-tests, a trace of PyTorch's profiler, an export of Nsight Systems, results of vLLM's benchmark");
}

void add_profile(Profile profile, Measurements& to) {
  if (profile.rank < 0) profile.rank = static_cast<std::int64_t>(to.profiles.size());
  const auto known = std::ranges::find(to.profiles, profile.rank, &Profile::rank);
  if (known != to.profiles.end())
    refuse_file(profile.source, "is of rank " + std::to_string(profile.rank) + ", as is " + known->source);
  to.profiles.push_back(std::move(profile));
}

}  // namespace

void add_measurements(const std::string& path, Measurements& to) {
  ByteSource bytes(path);
  const std::string_view head = bytes.head();
  if (head.empty()) refuse_file(path, "is empty");
  if (head.starts_with(std::string_view("SQLite format 3\0", 16))) {
    for (Profile& profile : read_nsys_profiles(path)) add_profile(std::move(profile), to);
  } else if (is_json(head)) {
    if (is_of_serving(head)) return to.serving.push_back(read_serving_results(bytes, path));
    add_profile(read_chrome_profile(bytes, path), to);
  } else if (head.find('\0') != std::string_view::npos) {
    refuse_file(path, "is no text, no JSON and no database");
  } else {
    add_text(bytes, path, to);
  }
}

Measurements read_measurements(const std::vector<std::string>& paths) {
  Measurements all;
  for (const std::string& path : paths) add_measurements(path, all);
  std::ranges::stable_sort(all.profiles, {}, &Profile::rank);
  return all;
}

}  // namespace orrery
