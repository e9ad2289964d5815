#include "studies/compare/variations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/schema/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_variation(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", "--vary: " + message}});
}

/// Finds the commas of a list that are outside brackets and quotes.
class ListReader {
 public:
  explicit ListReader(std::string_view list) : list_(list) {}

  std::vector<std::string> values() {
    for (std::size_t i = 0; i < list_.size(); ++i) read(i);
    if (quote_ != 0) refuse_variation(fmt::format("found {}, in which a quote is left open", quote(list_)));
    if (depth_ != 0) refuse_variation(fmt::format("found {}, in which brackets do not match", quote(list_)));
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
    if (depth_ < 0) refuse_variation(fmt::format("found {}, in which brackets do not match", quote(list_)));
    if (c == ',' && depth_ == 0) end_value(i);
  }

  void end_value(std::size_t end) {
    if (end == begin_) refuse_variation(fmt::format("found an empty value in {}", quote(list_)));
    values_.emplace_back(list_.substr(begin_, end - begin_));
    begin_ = end + 1;
  }

  std::string_view list_;
  std::vector<std::string> values_;
  std::size_t begin_ = 0;
  int depth_ = 0;
  char quote_ = 0;
  bool escaped_ = false;
};

}  // namespace

Variation parse_variation(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    refuse_variation(fmt::format("found {}, allowed KEY=VALUE,VALUE,...", quote(text)));
  }
  return {std::string(text.substr(0, equals)), ListReader(text.substr(equals + 1)).values()};
}

std::size_t count_combinations(const std::vector<Variation>& variations, std::size_t most) {
  std::set<std::string> seen;
  std::size_t count = 1;
  for (const Variation& variation : variations) {
    if (!seen.insert(variation.key).second)
      refuse_variation(fmt::format("found key {} twice", quote(variation.key)));
    if (variation.values.size() > most / count) {
      refuse_variation(fmt::format("found more than {} combinations of values", most));
    }
    count *= variation.values.size();
  }
  return count;
}

bool drop_idle(const std::vector<Diagnostic>& diagnostics, const std::vector<Variation>& variations,
               std::vector<std::string>& values) {
  std::vector<std::size_t> idle;
  for (const Diagnostic& diagnostic : diagnostics) {
    const auto of_problem = [&](const Variation& variation) {
      std::string pointer = "/" + variation.key;
      std::ranges::replace(pointer, '.', '/');
      return pointer == diagnostic.pointer;
    };
    const auto found = std::ranges::find_if(variations, of_problem);
    if (!diagnostic.idle || found == variations.end()) return false;
    idle.push_back(static_cast<std::size_t>(found - variations.begin()));
  }
  for (const std::size_t k : idle) values[k].clear();
  return !idle.empty();
}

std::vector<std::string> overrides_of(const std::vector<Variation>& variations,
                                      const std::vector<std::string>& values) {
  std::vector<std::string> overrides;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!values[k].empty()) overrides.push_back(variations[k].key + "=" + values[k]);
  return overrides;
}

std::vector<std::string> combination(const std::vector<Variation>& variations, std::size_t index) {
  std::vector<std::string> values(variations.size());
  for (std::size_t i = variations.size(); i-- > 0;) {
    const std::vector<std::string>& choices = variations[i].values;
    values[i] = choices[index % choices.size()];
    index /= choices.size();
  }
  return values;
}

}  // namespace orrery
