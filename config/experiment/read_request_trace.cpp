// A file of requests: CSV with a row each and a line of names before them, those of ours or of the traces
// that are published: Azure's (Patel et al. 2024, "Splitwise"), Vidur's (Agrawal et al. 2024), BurstGPT's
// (Wang et al. 2024); or Mooncake's (Qin et al. 2024), an object in JSON a line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/experiment/read_parts.hpp"
#include "config/text/document.hpp"
#include "config/text/table_text.hpp"
#include "config/text/wording.hpp"
#include "orrery/units.hpp"

namespace orrery {
namespace {

constexpr double kMostTraceSeconds = 1e6;  // from the first arrival to the last one; 2^63 ps are 9.2e6 s
constexpr std::size_t kColumns = 3;
constexpr std::string_view kBurstOutputs =
    "Response tokens";  // of BurstGPT, which has 0 where a request failed
constexpr std::array<std::array<std::string_view, 4>, kColumns> kNames{{
    {"arrival_s", "TIMESTAMP", "arrived_at", "Timestamp"},
    {"prompt_tokens", "ContextTokens", "num_prefill_tokens", "Request tokens"},
    {"output_tokens", "GeneratedTokens", "num_decode_tokens", kBurstOutputs},
}};

constexpr const char* kHashes =
    "found hash_ids, allowed only with prefix_reuse, the share of prompts that is in the cache: blocks that "
    "requests share are not looked for by their hashes; orrery import computes that share";

using Cells = std::vector<std::string_view>;

class TraceReader {
 public:
  TraceReader(const std::string& file, std::int64_t context, bool reuse_is_known, Findings& findings)
      : file_(file), context_(context), reuse_is_known_(reuse_is_known), findings_(findings) {}

  std::vector<RequestSpec> read(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    while (sound_ && !text.empty()) {
      const std::size_t end = text.find('\n');
      ++line_;
      take(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (sound_ && requests_.empty()) refuse("found no requests, allowed one at least");
    return std::move(requests_);
  }

 private:
  void take(std::string_view line) {
    line_begin_ = line.data();
    if (trimmed_cell(line).empty()) return;
    if (columns_ == 0 && trimmed_cell(line).starts_with('{')) return take_object(line);
    split_cells(line, cells_);
    if (columns_ == 0) return find_columns();
    if (cells_.size() != columns_)
      return refuse(fmt::format("found {} values, allowed {} as in the first line", cells_.size(), columns_));
    if (leaves_out_failures_ && cells_[at_[2]] == "0") return;
    const auto arrival = arrival_of(cells_[at_[0]]);
    const auto prompt = tokens_of(1);
    const auto output = tokens_of(2);
    if (!sound_ || !arrival || !prompt || !output) return;
    add(*arrival, *prompt, *output);
  }

  void add(Picoseconds arrival, std::int64_t prompt, std::int64_t output) {
    if (prompt + output > context_)
      return refuse(fmt::format("found a request of {} + {} tokens, allowed {} (max_model_len)", prompt,
                                output, context_),
                    cells_.empty() ? std::string_view{} : cells_[at_[1]]);
    requests_.push_back({arrival, prompt, output});
  }

  /// A line of Mooncake: milliseconds, tokens, and hashes of blocks of the prompt.
  void take_object(std::string_view line) {
    const Json object = Json::parse(line, nullptr, false);
    const auto number = [&object](const char* key) {
      const auto found = object.is_object() ? object.find(key) : object.end();
      return found != object.end() && found->is_number() ? found->get<double>() : -1;
    };
    const double milliseconds = number("timestamp"), prompt = number("input_length");
    const double output = number("output_length");
    if (milliseconds < 0 || prompt < 0 || output < 0)
      return refuse("found no object with timestamp, input_length and output_length, allowed one a line");
    if (object.contains("hash_ids") && !reuse_is_known_) return refuse(kHashes);
    const auto most = static_cast<double>(context_);
    if (!(prompt >= 1 && prompt <= most && output >= 1 && output <= most))
      return refuse(
          fmt::format("found {} and {} tokens, allowed 1 to {} (max_model_len)", prompt, output, context_));
    if (const auto arrival = arrival_at(milliseconds / 1000, trimmed_cell(line)))
      add(*arrival, static_cast<std::int64_t>(prompt), static_cast<std::int64_t>(output));
  }

  void find_columns() {
    columns_ = cells_.size();
    leaves_out_failures_ = std::ranges::find(cells_, kBurstOutputs) != cells_.end();
    const auto hashes = std::ranges::find(cells_, "hash_ids");
    if (hashes != cells_.end() && !reuse_is_known_) return refuse(kHashes, *hashes);
    for (std::size_t column = 0; column < kColumns; ++column) {
      const std::span names(kNames[column]);
      const auto is_one = [&](std::string_view cell) {
        return std::ranges::find(names, cell) != names.end();
      };
      const auto at = std::ranges::find_if(cells_, is_one);
      if (at == cells_.end())
        return refuse(fmt::format("found no column {}{}", joined(names), nearest(names)));
      if (std::ranges::count_if(cells_, is_one) > 1)
        return refuse(fmt::format("found several columns {}, allowed one", joined(names)));
      at_[column] = static_cast<std::size_t>(at - cells_.begin());
    }
  }

  /// Returns a hint at a misspelt column: ", but ..." or "".
  [[nodiscard]] std::string nearest(std::span<const std::string_view> names) const {
    for (const std::string_view cell : cells_) {
      const std::string meant = hint(cell, names);
      if (!meant.empty()) return fmt::format(", but {}{}", quote(cell), meant);
    }
    return {};
  }

  /// From the first one, in order.
  std::optional<Picoseconds> arrival_of(std::string_view cell) {
    std::optional<double> seconds = number_of_cell<double>(cell);
    if (!seconds) seconds = seconds_of_date(cell);
    return arrival_at(seconds, cell);
  }

  std::optional<Picoseconds> arrival_at(std::optional<double> seconds, std::string_view cell) {
    if (!seconds || !std::isfinite(*seconds)) {
      refuse(fmt::format("found arrival {}, allowed seconds, or a date and a time", quote(cell)), cell);
      return std::nullopt;
    }
    if (requests_.empty()) first_s_ = *seconds;
    const double since = *seconds - first_s_;
    const Picoseconds before = requests_.empty() ? 0 : requests_.back().arrival_ps;
    if (!(since <= kMostTraceSeconds)) {
      refuse(fmt::format("found an arrival {} s after the first, allowed {}", since, kMostTraceSeconds),
             cell);
      return std::nullopt;
    }
    const auto arrival = static_cast<Picoseconds>(since * 1e12 + 0.5);
    if (since < 0 || arrival < before) {
      refuse(fmt::format("found arrival {} after a later one, allowed in order", quote(cell)), cell);
      return std::nullopt;
    }
    return arrival;
  }

  std::optional<std::int64_t> tokens_of(std::size_t column) {
    const std::string_view cell = cells_[at_[column]];
    const auto tokens = number_of_cell<std::int64_t>(cell);
    if (tokens && *tokens >= 1 && *tokens <= context_) return tokens;
    refuse(
        fmt::format("found {} {}, allowed 1 to {} (max_model_len)", kNames[column][0], quote(cell), context_),
        cell);
    return std::nullopt;
  }

  /// @param cell  that is wrong; null: the line as a whole
  void refuse(std::string message, std::string_view cell = {}) {
    sound_ = false;
    const int column = cell.data() == nullptr ? 1 : static_cast<int>(cell.data() - line_begin_) + 1;
    findings_.add_at({file_, line_, column, "", ""}, std::move(message));
  }

  const std::string& file_;
  std::int64_t context_;
  bool reuse_is_known_;
  Findings& findings_;
  bool leaves_out_failures_ = false;
  bool sound_ = true;
  int line_ = 0;
  const char* line_begin_ = nullptr;
  Cells cells_;
  std::size_t columns_ = 0;
  std::array<std::size_t, kColumns> at_{};
  double first_s_ = 0;
  std::vector<RequestSpec> requests_;
};

}  // namespace

RequestTrace read_request_trace(const std::string& file, std::int64_t context, bool reuse_is_known,
                                const Path& path, Scope& scope) {
  if (file == "-") {
    scope.findings.add(path, "found \"-\", allowed a number or a file");
    return {};
  }
  try {
    const std::string text = read_text(file);
    std::vector<RequestSpec> requests = TraceReader(file, context, reuse_is_known, scope.findings).read(text);
    if (!requests.empty()) return RequestTrace(std::move(requests), file);
  } catch (const InputError& error) {
    for (const Diagnostic& problem : error.diagnostics())
      scope.findings.add(path, fmt::format("{}: {}", quote(file), problem.message));
  }
  return {};
}

}  // namespace orrery
