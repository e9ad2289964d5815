#include "importers/frameworks/layer_list.hpp"

#include <algorithm>
#include <cctype>

#include "importers/frameworks/arguments.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr int kDeepestList = 16;           ///< brackets within brackets
constexpr std::size_t kLongest = 400'000;  ///< characters of a layout when written out
const auto kMost = static_cast<std::size_t>(kMostLayers);

using List = std::vector<std::int64_t>;

/// Reads sums of products of lists, numbers and brackets. Stops at the first thing that is none of these.
class ListParser {
 public:
  explicit ListParser(std::string_view text) : text_(text) {}

  std::optional<List> whole() {
    const auto list = sum(0);
    skip();
    return list && at_ == text_.size() ? list : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool next(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<std::int64_t> number() {
    skip();
    std::int64_t value = 0;
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) && value <= kMostLayers)
      value = value * 10 + (text_[at_++] - '0');
    if (at_ == begin || value > kMostLayers) return std::nullopt;
    return value;
  }
  std::optional<List> sum(int depth) {
    auto list = product(depth);
    while (list && next('+')) {
      const auto more = product(depth);
      if (!more || list->size() + more->size() > kMost) return std::nullopt;
      list->insert(list->end(), more->begin(), more->end());
    }
    return list;
  }
  std::optional<List> product(int depth) {
    auto list = factor(depth);
    while (list && next('*')) {
      const auto times = number();
      if (!times || list->size() * static_cast<std::size_t>(*times) > kMost) return std::nullopt;
      const List once = *list;
      list->clear();
      for (std::int64_t i = 0; i < *times; ++i) list->insert(list->end(), once.begin(), once.end());
    }
    return list;
  }
  std::optional<List> factor(int depth) {
    if (depth > kDeepestList) return std::nullopt;
    if (next('[')) return elements(']');
    if (!next('(')) return std::nullopt;
    const std::size_t begin = at_;
    if (auto list = sum(depth + 1); list && next(')')) return list;
    at_ = begin;
    return elements(')');
  }
  std::optional<List> elements(char close) {
    List list;
    while (!next(close)) {
      const auto value = number();
      if (!value || list.size() >= kMost) return std::nullopt;
      list.push_back(*value);
      if (next(',')) continue;
      return next(close) ? std::optional(list) : std::nullopt;
    }
    return list;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_regular(const List& list, const RegularLayers& r) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(list.size()); ++i) {
    const bool has = i >= r.dense && (i - r.dense) % r.frequency == r.frequency - 1;
    if (has != (list[static_cast<std::size_t>(i)] != 0)) return false;
  }
  return true;
}

/// The number behind a * at `at`, 1 where there is none. Moves on behind it.
std::size_t times_at(std::string_view text, std::size_t& at) {
  if (at >= text.size() || text[at] != '*') return 1;
  std::size_t value = 0;
  for (++at; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) && value < kLongest; ++at)
    value = value * 10 + static_cast<std::size_t>(text[at] - '0');
  return value;
}

/// `Et*2|(tt|)*2` as Ett|tt|tt|. Nothing where brackets do not fit or it gets too long.
std::optional<std::string> written_out(std::string_view text, std::size_t& at, int depth) {
  std::string out;
  while (at < text.size() && text[at] != ')') {
    std::string part(1, text[at++]);
    if (part == "(") {
      const auto inner = depth < kDeepestList ? written_out(text, at, depth + 1) : std::nullopt;
      if (!inner || at >= text.size()) return std::nullopt;
      ++at;
      part = *inner;
    }
    const std::size_t times = times_at(text, at);
    if (times * part.size() + out.size() > kLongest) return std::nullopt;
    for (std::size_t i = 0; i < times; ++i) out += part;
  }
  return out;
}

}  // namespace

List python_list(std::string_view text) { return ListParser(text).whole().value_or(List{}); }

List layers_with_experts(const Json& value, std::int64_t layers) {
  if (value.is_array()) {
    List list;
    for (const Json& element : value) list.push_back(whole_number(element).value_or(0));
    return list;
  }
  const auto every = whole_number(value);
  if (!every) return value.is_string() ? python_list(value.get_ref<const std::string&>()) : List{};
  List list(static_cast<std::size_t>(layers), 0);
  if (*every < 1) return {};
  for (std::size_t i = 0; i < list.size(); i += static_cast<std::size_t>(*every)) list[i] = 1;
  return list;
}

std::optional<RegularLayers> regular_layers(const List& list) {
  const auto first = std::ranges::find_if(list, [](std::int64_t n) { return n != 0; });
  if (first == list.end()) return std::nullopt;
  const std::int64_t leading = first - list.begin();
  const auto second = std::find_if(first + 1, list.end(), [](std::int64_t n) { return n != 0; });
  const std::int64_t frequency = second == list.end() ? 1 : second - first;
  const RegularLayers regular{leading - frequency + 1, frequency};
  if (regular.dense < 0 || !is_regular(list, regular)) return std::nullopt;
  return regular;
}

Json pattern_of(const List& list) {
  Json pattern = Json::array();
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t end = begin;
    while (end < list.size() && (list[end] != 0) == (list[begin] != 0)) ++end;
    pattern.push_back({{"layers", end - begin}, {"mlp", list[begin] != 0 ? "experts" : "dense"}});
    begin = end;
  }
  return pattern;
}

HybridPattern hybrid_pattern(std::string_view text) {
  constexpr std::string_view kLetters = "MG*-E";
  HybridPattern pattern;
  pattern.stage_layers = {0};
  const std::size_t main = std::min(text.find('/'), text.size());
  pattern.further = std::ranges::count(text, '/');
  for (const char c : text.substr(0, std::min(main, kMost))) {
    if (c == '|') {
      pattern.stage_layers.push_back(0);
    } else if (kLetters.find(c) != std::string_view::npos) {
      pattern.letters += c;
      ++pattern.stage_layers.back();
    } else {
      return {};
    }
  }
  pattern.stages = pattern.stage_layers.size();
  return pattern;
}

List layout_layers(std::string_view layout) {
  std::size_t at = 0;
  const auto text = written_out(layout, at, 0);
  if (!text || at != layout.size()) return {};
  List layers{0};
  for (const char c : *text) {
    if (c == '|') {
      if (layers.size() >= kMost) return {};
      layers.push_back(0);
    } else if (c == 't') {
      ++layers.back();
    } else if (std::string_view("EmL,").find(c) == std::string_view::npos) {
      return {};
    }
  }
  return layers;
}

}  // namespace orrery::importers::frameworks
