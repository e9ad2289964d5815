#include "studies/explain/measured/collective_log.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "studies/explain/measured/kernel_names.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMostRows = 100'000;
constexpr std::size_t kLongestHost = 255;
constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;  ///< of a message
constexpr double kLongestUs = 86.4e9;                       ///< a day

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size() && words.size() < 64;) {
    const std::size_t begin = line.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    at = end;
  }
  return words;
}

template <class Number>
std::optional<Number> parsed_number(std::string_view word) {
  Number value{};
  const auto end = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end.ec != std::errc{} || end.ptr != word.data() + word.size()) return std::nullopt;
  return value;
}

std::int64_t count_after(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return 0;
  constexpr std::int64_t kMostGpus = 1'000'000;
  const std::vector<std::string_view> words = split_words(line.substr(at + label.size()));
  if (words.empty()) return 0;
  return std::clamp<std::int64_t>(parsed_number<std::int64_t>(words.front()).value_or(0), 0, kMostGpus);
}

/// nccl-tests writes rates of their own kind per collective, which tells those apart that nothing else does.
std::optional<Collective> collective_by_rates(double bus_share, bool reduces, std::int64_t ranks) {
  if (ranks < 2 || bus_share <= 0) return std::nullopt;
  const double ring = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  const auto near = [&](double share) { return std::abs(bus_share / share - 1) < 0.03; };
  if (reduces && near(2 * ring)) return Collective::all_reduce;
  if (reduces && near(ring)) return Collective::reduce_scatter;
  return std::nullopt;
}

}  // namespace

CollectiveLogReader::CollectiveLogReader(std::string source) {
  const std::size_t folder = source.find_last_of('/');
  const std::string_view name = std::string_view(source).substr(folder == std::string::npos ? 0 : folder + 1);
  log_.collective = collective_by_name(name);
  log_.source = std::move(source);
}

void CollectiveLogReader::read(std::string_view line) {
  if (line.find("_perf") != std::string_view::npos)
    if (const auto named = collective_by_name(line)) log_.collective = named;
  if (line.starts_with("# nThread")) {
    gpus_of_thread_ = std::max<std::int64_t>(count_after(line, "nThread"), 1) *
                      std::max<std::int64_t>(count_after(line, "nGpus"), 1);
    return;
  }
  const std::vector<std::string_view> words = split_words(line);
  if (words.size() > 3 && words[0] == "#" && words[1] == "Rank") {
    ++log_.ranks;
    const auto on = std::ranges::find(words, "on");
    if (on != words.end() && on + 1 != words.end() && hosts_.size() < kMostRows)
      hosts_.emplace((on + 1)->substr(0, kLongestHost));
  } else if (words.size() >= 7) {
    read_row(words);
  }
}

/// Size, elements and type, perhaps the operation and its root, then time, two rates and errors, out of place
/// and in place.
void CollectiveLogReader::read_row(const std::vector<std::string_view>& words) {
  const auto bytes = parsed_number<std::int64_t>(words[0]);
  if (!bytes || !parsed_number<std::int64_t>(words[1]) || parsed_number<double>(words[2])) return;
  std::size_t at = 3;
  while (at < words.size() && !parsed_number<double>(words[at]))
    reduces_ = reduces_ || words[at] != "none", ++at;
  if ((words.size() - at) % 4 == 1) ++at;  // the root
  std::optional<double> us;
  double algorithm = 0;
  double bus = 0;
  for (; at + 2 < words.size(); at += 4) {
    const auto time = parsed_number<double>(words[at]);
    if (!time || !(*time > 0) || *time > kLongestUs || (us && *us <= *time)) continue;
    us = time;
    algorithm = parsed_number<double>(words[at + 1]).value_or(0);
    bus = parsed_number<double>(words[at + 2]).value_or(0);
  }
  if (!us || *bytes <= 0 || *bytes > kMostBytes || log_.rows.size() == kMostRows) return;
  if (algorithm > 1) bus_share_ = bus / algorithm;
  log_.rows.push_back({*bytes, *us * 1e-6, bus});
}

CollectiveLog CollectiveLogReader::finish() && {
  if (log_.ranks == 0) log_.ranks = gpus_of_thread_;
  log_.nodes = std::max<std::int64_t>(static_cast<std::int64_t>(hosts_.size()), 1);
  if (!log_.collective) log_.collective = collective_by_rates(bus_share_, reduces_, log_.ranks);
  return std::move(log_);
}

}  // namespace orrery
