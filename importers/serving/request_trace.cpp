#include "importers/serving/request_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "orrery/error.hpp"

namespace orrery::importers::serving {
namespace {

constexpr std::int64_t kBlock = 512;  ///< tokens that one of Mooncake's hashes stands for

std::string_view first_line(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text.substr(0, text.find_first_of("\r\n"));
}

bool has_all(std::string_view line, std::initializer_list<std::string_view> words) {
  return std::ranges::all_of(
      words, [line](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

bool is_lines(std::string_view line) {
  return line.starts_with('{') && has_all(line, {"\"input_length\"", "\"output_length\""});
}

bool recognises_trace(const SourceFile& file) {
  const std::string_view line = first_line(file.text());
  return is_lines(line) || has_all(line, {"ContextTokens", "GeneratedTokens"}) ||
         has_all(line, {"Request tokens", "Response tokens"}) ||
         has_all(line, {"num_prefill_tokens", "num_decode_tokens"}) ||
         has_all(line, {"arrival_s", "prompt_tokens", "output_tokens"});
}

/// Counts tokens of prompts, and those of blocks at their beginning that earlier prompts had.
class ReuseCount {
 public:
  void take(const Json& object) {
    const Json& hashes = member(object, "hash_ids");
    const Json& tokens = member(object, "input_length");
    const double length = tokens.is_number() ? tokens.get<double>() : 0;
    if (!hashes.is_array() || !(length >= 1)) return;
    const auto known =
        std::ranges::find_if(hashes, [this](const Json& hash) { return !seen_.contains(hash.dump()); });
    const auto blocks = static_cast<double>(known - hashes.begin());
    tokens_ += length;
    reused_ += std::min(length, blocks * static_cast<double>(kBlock));
    for (const Json& hash : hashes) seen_.insert(hash.dump());
    ++requests_;
  }
  [[nodiscard]] bool any() const { return requests_ > 0; }
  [[nodiscard]] double share() const { return std::round(reused_ / tokens_ * 1e4) / 1e4; }

 private:
  static const Json& member(const Json& object, const char* key) {
    static const Json kNone;
    const auto found = object.find(key);
    return found == object.end() ? kNone : *found;
  }

  std::unordered_set<std::string> seen_;
  double tokens_ = 0;
  double reused_ = 0;
  int requests_ = 0;
};

ReuseCount reuse_of(const SourceFile& file) {
  ReuseCount count;
  std::string_view text = file.text();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Json object = Json::parse(text.substr(0, end), nullptr, false);
    if (object.is_object()) count.take(object);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return count;
}

/// Columns that say nothing about when and how long requests are.
void ignore_columns(const SourceFile& file, Draft& draft) {
  constexpr std::array<std::string_view, 6> kIdle{"Model",      "Total tokens", "Log Type",
                                                  "Session ID", "Elapsed time", "Conversation"};
  const std::string_view line = first_line(file.text());
  for (const std::string_view column : kIdle)
    if (line.find(column) != std::string_view::npos)
      draft.ignore({std::string(column), "a column", {file.path(), 1}}, "requests are arrivals and lengths");
  if (line.find("Response tokens") != std::string_view::npos)
    draft.ignore({"Response tokens", 0, {file.path(), 1}},
                 "requests with an answer of 0 tokens failed, and are left out");
}

void read_trace(const ImportContext& context, Draft& draft) {
  const SourceFile& file = context.file;
  if (file.path() == "-")
    throw InputError(
        {Diagnostic{file.path(), 0, 0, "",
                    "found a trace on standard input, allowed is a file, which the experiment names"}});
  draft.map({"requests", file.path(), {file.path(), 1}}, "inference.requests", file.path(),
            "arrivals and lengths of its rows");
  ignore_columns(file, draft);
  if (!is_lines(first_line(file.text()))) return;
  const ReuseCount count = reuse_of(file);
  if (!count.any()) return;
  draft.map({"hash_ids", count.share(), {file.path(), 1}}, "inference.prefix_reuse", count.share(),
            fmt::format("the share of prompts in blocks of {} tokens that earlier ones began with", kBlock));
}

}  // namespace

const Importer kRequestTrace{
    {"request-trace",
     "requests with arrivals and lengths: Azure, BurstGPT, Vidur (CSV), Mooncake (JSON lines)"},
    recognises_trace,
    read_trace};

}  // namespace orrery::importers::serving
