#include "planner/space/space_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "config/schema/aliases.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_values(const std::string& what, const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", what + ": " + message}});
}

[[noreturn]] void refuse_keys(const std::string& message) { refuse_values("--vary", message); }

/// Finds the commas of a list that are outside brackets and quotes.
class ListReader {
 public:
  ListReader(std::string_view list, const std::string& what) : list_(list), what_(what) {}

  std::vector<std::string> values() {
    for (std::size_t i = 0; i < list_.size(); ++i) read(i);
    if (quote_ != 0) refuse(fmt::format("found {}, in which a quote is left open", quote(list_)));
    if (depth_ != 0) refuse(fmt::format("found {}, in which brackets do not match", quote(list_)));
    end_value(list_.size());
    return std::move(values_);
  }

 private:
  void read(std::size_t i) {
    const char c = list_[i];
    if (quote_ != 0) {
      if (c == '\\' && quote_ == '"')
        escaped_ = !escaped_;
      else if (c == quote_ && !escaped_)
        quote_ = 0;
      else
        escaped_ = false;
      return;
    }
    const bool at_start = i == begin_ || depth_ > 0;  // an apostrophe within a word is no quote
    if ((c == '"' || c == '\'') && at_start) quote_ = c;
    if (c == '[' || c == '{') ++depth_;
    if (c == ']' || c == '}') --depth_;
    if (depth_ < 0) refuse(fmt::format("found {}, in which brackets do not match", quote(list_)));
    if (c == ',' && depth_ == 0) end_value(i);
  }

  void end_value(std::size_t end) {
    if (end == begin_) refuse(fmt::format("found an empty value in {}", quote(list_)));
    values_.emplace_back(list_.substr(begin_, end - begin_));
    begin_ = end + 1;
  }

  [[noreturn]] void refuse(const std::string& message) const { refuse_values(what_, message); }

  std::string_view list_;
  const std::string& what_;
  std::vector<std::string> values_;
  std::size_t begin_ = 0;
  int depth_ = 0;
  char quote_ = 0;
  bool escaped_ = false;
};

/// A range FROM..TO, with +STEP or *FACTOR behind it.
struct Range {
  double from = 0;
  double to = 0;
  char sign = '+';
  double by = 1;
  bool whole = true;  ///< all of them integers
};

/// The number that `text` begins with, which is taken off.
std::optional<double> take_number(std::string_view& text, bool& whole) {
  const std::string_view digits = text.substr(0, text.find(".."));
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc() || !std::isfinite(value)) return {};
  const auto length = static_cast<std::size_t>(result.ptr - digits.data());
  whole = whole && digits.substr(0, length).find_first_of(".eE") == std::string_view::npos;
  text.remove_prefix(length);
  return value;
}

std::optional<Range> split_range(std::string_view text) {
  Range range;
  const auto from = take_number(text, range.whole);
  if (!from || !text.starts_with("..")) return {};
  text.remove_prefix(2);
  const auto to = take_number(text, range.whole);
  if (!to) return {};
  range.from = *from;
  range.to = *to;
  if (text.empty()) return range;
  range.sign = text.front();
  text.remove_prefix(1);
  const auto by = take_number(text, range.whole);
  if (!by || !text.empty() || (range.sign != '+' && range.sign != '*')) return {};
  range.by = *by;
  return range;
}

/// The numbers of a range as texts; nothing where `text` is none.
std::optional<std::vector<std::string>> parse_range(std::string_view text, const std::string& what) {
  constexpr std::size_t kMost = 100'000;
  const auto range = split_range(text);
  if (!range) return {};
  const bool grows = range->sign == '+' ? range->by > 0 : range->by > 1 && range->from > 0;
  if (!grows || range->from > range->to)
    refuse_values(
        what, fmt::format("found the range {}, allowed one that grows: 1..8, 1..8+2 or 1..8*2", quote(text)));
  std::vector<std::string> values;
  const double rounding = 1 + 1e-12;  // 0.1 + 0.2 is the 0.3 at the end of a range
  for (std::size_t i = 0; true; ++i) {
    const auto steps = static_cast<double>(i);
    const double value =
        range->sign == '+' ? range->from + steps * range->by : range->from * std::pow(range->by, steps);
    if (value > range->to * (range->to > 0 ? rounding : 1 / rounding)) return values;
    if (values.size() == kMost)
      refuse_values(what, fmt::format("found more than {} values in {}", kMost, quote(text)));
    values.push_back(range->whole ? fmt::format("{:.0f}", value) : fmt::format("{:.12g}", value));
  }
}

/// The interval FROM~TO; nothing where `text` is none.
std::optional<Interval> parse_interval(std::string_view text, const std::string& what) {
  const std::size_t sign = text.find('~');
  if (sign == std::string_view::npos) return {};
  std::string_view low = text.substr(0, sign);
  std::string_view high = text.substr(sign + 1);
  bool whole = true;
  const auto from = take_number(low, whole);
  const auto to = take_number(high, whole);
  if (!from || !to || !low.empty() || !high.empty()) return {};
  if (*from >= *to)
    refuse_values(what, fmt::format("found {}, allowed an interval that grows, such as 50~800", quote(text)));
  return Interval{*from, *to};
}

}  // namespace

std::string Interval::at(double share) const {
  const bool by_ratio = from > 0;
  const double between = by_ratio ? from * std::pow(to / from, share) : from + share * (to - from);
  const double value = std::clamp(whole ? std::round(between) : between, from, to);
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.9g}", value);
}

SpaceKey parse_values(const std::string& key, std::string_view values, const std::string& what) {
  SpaceKey read{full_key(key), {}, values == "auto"};
  if (read.automatic) return read;
  if (read.interval = parse_interval(values, what); read.interval) return read;
  for (std::string& value : ListReader(values, what).values()) {
    if (parse_interval(value, what))
      refuse_values(what,
                    fmt::format("found {} beside other values, allowed an interval alone", quote(value)));
    if (const auto range = parse_range(value, what))
      std::ranges::move(*range, std::back_inserter(read.values));
    else
      read.values.push_back(std::move(value));
  }
  return read;
}

SpaceKey parse_space_key(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    refuse_keys(fmt::format("found {}, allowed KEY=VALUE,VALUE,...", quote(text)));
  return parse_values(std::string(text.substr(0, equals)), text.substr(equals + 1), "--vary");
}

std::size_t count_combinations(const std::vector<SpaceKey>& keys, std::size_t most) {
  std::set<std::string> seen;
  std::size_t count = 1;
  for (const SpaceKey& key : keys) {
    if (!seen.insert(key.key).second) refuse_keys(fmt::format("found key {} twice", quote(key.key)));
    if (key.values.empty() && key.interval)
      refuse_keys(
          fmt::format("found all numbers from {} to {} for {}, allowed a list of values there, or a "
                      "range with steps, such as 1..8+1",
                      key.interval->from, key.interval->to, quote(key.key)));
    if (key.values.empty())
      refuse_keys(fmt::format("found auto for {}, allowed a list of values there", quote(key.key)));
    if (key.values.size() > most / count) {
      refuse_keys(fmt::format("found more than {} combinations of values", most));
    }
    count *= key.values.size();
  }
  return count;
}

bool drop_idle(const std::vector<Diagnostic>& diagnostics, const std::vector<SpaceKey>& keys,
               std::vector<std::string>& values) {
  std::vector<std::size_t> idle;
  for (const Diagnostic& diagnostic : diagnostics) {
    const auto of_problem = [&](const SpaceKey& key) {
      std::string pointer = "/" + key.key;
      std::ranges::replace(pointer, '.', '/');
      return pointer == diagnostic.pointer;
    };
    const auto found = std::ranges::find_if(keys, of_problem);
    if (!diagnostic.idle || found == keys.end()) return false;
    idle.push_back(static_cast<std::size_t>(found - keys.begin()));
  }
  for (const std::size_t k : idle) values[k].clear();
  return !idle.empty();
}

std::vector<std::string> overrides_of(const std::vector<SpaceKey>& keys,
                                      const std::vector<std::string>& values) {
  std::vector<std::string> overrides;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!values[k].empty()) overrides.push_back(keys[k].key + "=" + values[k]);
  return overrides;
}

std::vector<std::string> combination(const std::vector<SpaceKey>& keys, std::size_t index) {
  std::vector<std::string> values(keys.size());
  for (std::size_t i = keys.size(); i-- > 0;) {
    const std::vector<std::string>& choices = keys[i].values;
    values[i] = choices[index % choices.size()];
    index /= choices.size();
  }
  return values;
}

}  // namespace orrery
