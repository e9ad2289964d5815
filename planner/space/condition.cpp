#include "planner/space/condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "config/schema/aliases.hpp"

namespace orrery {

enum class ConditionStep : std::uint8_t {
  value,
  key,
  either,
  both,
  opposite,
  one_of,
  compare,
  compute,
  minus
};

struct Condition::Node {
  ConditionStep step = ConditionStep::value;
  std::size_t at = 0;      ///< where it stands, for errors
  ConditionValue value{};  ///< of a constant
  std::size_t key = 0;     ///< in keys()
  std::string_view sign{};
  std::vector<Node> parts{};
};

namespace {

using Step = ConditionStep;
using Node = Condition::Node;

constexpr std::size_t kMostBytes = 10'000;
constexpr int kMostDepth = 50;

constexpr std::array<std::string_view, 6> kComparisons{"==", "!=", "<=", ">=", "<", ">"};
constexpr std::array<std::string_view, 2> kSums{"+", "-"};
constexpr std::array<std::string_view, 3> kProducts{"*", "/", "%"};

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// Reads a condition by recursive descent, a function per strength of binding.
class ConditionReader {
 public:
  ConditionReader(std::string_view text, std::vector<std::string>& keys) : text_(text), keys_(keys) {}

  Node read() {
    Node all = alternatives();
    skip_blanks();
    if (at_ < text_.size()) refuse("allowed an operator, such as and, or, ==, or the end");
    return all;
  }

 private:
  [[noreturn]] void refuse(const std::string& allowed) const {
    const std::string found =
        at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 1)) : std::string("the end");
    throw ConditionError{at_, fmt::format("found {} at character {}, {}", found, at_ + 1, allowed)};
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool take(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word) || (rest.size() > word.size() && is_of_name(rest[word.size()]))) return false;
    at_ += word.size();
    return true;
  }

  template <class Signs>
  std::string_view take_one(const Signs& signs) {
    const auto found = std::ranges::find_if(signs, [this](std::string_view sign) { return take(sign); });
    return found == signs.end() ? std::string_view{} : *found;
  }

  /// Operands of equal strength, from left to right.
  template <class Signs, class Operand>
  Node chain(Step step, const Signs& signs, Operand operand) {
    Node left = operand();
    for (std::size_t at = at_; true; at = at_) {
      const std::string_view sign = take_one(signs);
      if (sign.empty()) return left;
      Node both{step, at, {}, 0, sign, {}};
      both.parts.push_back(std::move(left));
      both.parts.push_back(operand());
      left = std::move(both);
    }
  }

  template <class Operand>
  Node words(Step step, std::string_view word, Operand operand) {
    Node first = operand();
    if (!take_word(word)) return first;
    Node all{step, at_, {}, 0, word, {}};
    all.parts.push_back(std::move(first));
    do all.parts.push_back(operand());
    while (take_word(word));
    return all;
  }

  Node alternatives() {
    return words(Step::either, "or", [this] { return conjunction(); });
  }
  Node conjunction() {
    return words(Step::both, "and", [this] { return negation(); });
  }

  Node negation() {
    if (!take_word("not")) return comparison();
    Node node{Step::opposite, at_, {}, 0, "not", {}};
    const Depth depth(*this);
    node.parts.push_back(negation());
    return node;
  }

  Node comparison() {
    Node left = sum();
    const std::size_t at = at_;
    const bool listed = take_word("in");
    const std::string_view sign = listed ? "in" : take_one(kComparisons);
    if (sign.empty()) return left;
    Node node{listed ? Step::one_of : Step::compare, at, {}, 0, sign, {}};
    node.parts.push_back(std::move(left));
    if (listed)
      list_into(node);
    else
      node.parts.push_back(sum());
    return node;
  }

  void list_into(Node& node) {
    if (!take("[")) refuse("allowed a list, such as [1, 2]");
    do node.parts.push_back(sum());
    while (take(","));
    if (!take("]")) refuse("allowed ',' or ']'");
  }

  Node sum() {
    return chain(Step::compute, kSums, [this] { return product(); });
  }
  Node product() {
    return chain(Step::compute, kProducts, [this] { return signed_value(); });
  }

  Node signed_value() {
    if (!take("-")) return value();
    Node node{Step::minus, at_, {}, 0, "-", {}};
    const Depth depth(*this);
    node.parts.push_back(signed_value());
    return node;
  }

  Node value() {
    skip_blanks();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (take("(")) return bracket();
    if (c == '"' || c == '\'') return text(c);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return number();
    if (is_of_name(c)) return name();
    refuse("allowed a key, a number, a text in quotes or '('");
  }

  Node bracket() {
    const Depth depth(*this);
    Node inner = alternatives();
    if (!take(")")) refuse("allowed ')'");
    return inner;
  }

  Node text(char mark) {
    const std::size_t begin = at_;
    const std::size_t end = text_.find(mark, begin + 1);
    if (end == std::string_view::npos) refuse("allowed a text that ends with the same quote");
    at_ = end + 1;
    return {Step::value, begin, std::string(text_.substr(begin + 1, end - begin - 1))};
  }

  Node number() {
    const std::size_t begin = at_;
    double value = 0;
    const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    at_ = static_cast<std::size_t>(result.ptr - text_.data());
    if (result.ec != std::errc() || (at_ < text_.size() && is_of_name(text_[at_])))
      refuse("allowed a number");
    return {Step::value, begin, value};
  }

  Node name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "true" || name == "false") return {Step::value, begin, name == "true"};
    if (name == "and" || name == "or" || name == "in" || name == "not") {
      at_ = begin;
      refuse("allowed a value there");
    }
    std::string key = full_key(name);
    const auto known = std::ranges::find(keys_, key);
    const auto index = static_cast<std::size_t>(known - keys_.begin());
    if (known == keys_.end()) keys_.push_back(std::move(key));
    return {Step::key, begin, {}, index};
  }

  /// Counts the nesting, so that no text overflows the stack.
  class Depth {
   public:
    explicit Depth(ConditionReader& reader) : reader_(reader) {
      if (++reader_.depth_ > kMostDepth) reader_.refuse("allowed at most 50 brackets or signs in each other");
    }
    ~Depth() { --reader_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    ConditionReader& reader_;
  };

  std::string_view text_;
  std::vector<std::string>& keys_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// The value of a node, for some values of keys.
class ConditionCheck {
 public:
  ConditionCheck(const Condition& condition, std::span<const ConditionValue> values)
      : condition_(condition), values_(values) {}

  [[nodiscard]] bool truth(const Node& node) const {
    const ConditionValue found = value(node);
    if (const bool* truth = std::get_if<bool>(&found)) return *truth;
    throw ConditionError{node.at, fmt::format("found {}, allowed true or false there", words(found))};
  }

 private:
  static std::string words(const ConditionValue& value) {
    if (const auto* number = std::get_if<double>(&value)) return fmt::format("the number {}", *number);
    if (const auto* text = std::get_if<std::string>(&value)) return "the text \"" + *text + "\"";
    if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
    return "no value, a list or an object";
  }

  [[nodiscard]] ConditionValue value(const Node& node) const {
    const auto is_true = [this](const Node& part) { return truth(part); };
    switch (node.step) {
      case Step::value:
        return node.value;
      case Step::key:
        return values_[node.key];
      case Step::either:
        return std::ranges::any_of(node.parts, is_true);
      case Step::both:
        return std::ranges::all_of(node.parts, is_true);
      case Step::opposite:
        return !truth(node.parts.front());
      case Step::one_of:
        return one_of(node);
      case Step::compare:
        return compare(node);
      case Step::compute:
        return compute(node.sign, number(node.parts[0]), number(node.parts[1]));
      case Step::minus:
        return -number(node.parts.front());
    }
    return {};
  }

  [[nodiscard]] double number(const Node& node) const {
    const ConditionValue found = value(node);
    if (const double* number = std::get_if<double>(&found)) return *number;
    throw ConditionError{node.at, fmt::format("found {}, allowed a number{}", words(found), of(node))};
  }

  /// Which key it is about.
  [[nodiscard]] std::string of(const Node& node) const {
    return node.step == Step::key ? " for " + condition_.keys()[node.key] : "";
  }

  static double compute(std::string_view sign, double a, double b) {
    if (sign == "+") return a + b;
    if (sign == "-") return a - b;
    if (sign == "*") return a * b;
    return sign == "/" ? a / b : std::fmod(a, b);
  }

  [[nodiscard]] bool equal(const ConditionValue& a, const ConditionValue& b, std::size_t at) const {
    if (a.index() == b.index()) return a == b;
    // A key that takes numbers and names is compared with either.
    const bool comparable = a.index() == 0 || b.index() == 0 || std::holds_alternative<std::string>(a) ||
                            std::holds_alternative<std::string>(b);
    if (comparable) return false;
    throw ConditionError{at, fmt::format("found {} compared with {}", words(a), words(b))};
  }

  [[nodiscard]] bool one_of(const Node& node) const {
    const ConditionValue left = value(node.parts.front());
    return std::any_of(node.parts.begin() + 1, node.parts.end(),
                       [&](const Node& item) { return equal(left, value(item), node.at); });
  }

  [[nodiscard]] bool compare(const Node& node) const {
    if (node.sign == "==" || node.sign == "!=") {
      const bool same = equal(value(node.parts[0]), value(node.parts[1]), node.at);
      return same == (node.sign == "==");
    }
    const double a = number(node.parts[0]);
    const double b = number(node.parts[1]);
    if (node.sign == "<") return a < b;
    if (node.sign == "<=") return a <= b;
    return node.sign == ">" ? a > b : a >= b;
  }

  const Condition& condition_;
  std::span<const ConditionValue> values_;
};

}  // namespace

Condition::Condition(std::string text) : text_(std::move(text)) {
  if (text_.size() > kMostBytes)
    throw ConditionError{0, fmt::format("found {} bytes, allowed at most {}", text_.size(), kMostBytes)};
  root_ = std::make_shared<const Node>(ConditionReader(text_, keys_).read());
}

bool Condition::holds(std::span<const ConditionValue> values) const {
  return ConditionCheck(*this, values).truth(*root_);
}

}  // namespace orrery
