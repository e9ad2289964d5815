#include "importers/common/shell_arithmetic.hpp"

#include <array>
#include <cctype>

namespace orrery::importers {
namespace {

constexpr int kDeepestNumber = 64;  ///< brackets within brackets

using ShellInteger = std::optional<std::int64_t>;

/// An operator, with its rank: those of a higher one bind closer.
struct Operator {
  std::string_view sign;
  int rank = 0;
};
constexpr std::array kOperators{Operator{"**", 7}, Operator{"||", 1}, Operator{"&&", 2}, Operator{"==", 3},
                                Operator{"!=", 3}, Operator{"<=", 4}, Operator{">=", 4}, Operator{"<", 4},
                                Operator{">", 4},  Operator{"+", 5},  Operator{"-", 5},  Operator{"*", 6},
                                Operator{"/", 6},  Operator{"%", 6}};

ShellInteger power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  if (exponent < 0 || exponent > 64) return std::nullopt;
  for (std::int64_t i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  return result;
}

ShellInteger divided(std::int64_t a, std::int64_t b, bool rest) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  return rest ? a % b : a / b;
}

ShellInteger apply(std::string_view sign, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (sign == "+") return __builtin_add_overflow(a, b, &result) ? ShellInteger() : result;
  if (sign == "-") return __builtin_sub_overflow(a, b, &result) ? ShellInteger() : result;
  if (sign == "*") return __builtin_mul_overflow(a, b, &result) ? ShellInteger() : result;
  if (sign == "**") return power(a, b);
  if (sign == "/" || sign == "%") return divided(a, b, sign == "%");
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<=") return a <= b;
  if (sign == ">=") return a >= b;
  if (sign == "<") return a < b;
  if (sign == ">") return a > b;
  if (sign == "&&") return a != 0 && b != 0;
  return a != 0 || b != 0;
}

class Arithmetic {
 public:
  Arithmetic(std::string_view text, const ShellNumber& variable) : text_(text), variable_(variable) {}

  ShellInteger whole() {
    const ShellInteger value = choice(0);
    skip();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool next(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] const Operator* ahead() {
    skip();
    for (const Operator& o : kOperators)
      if (text_.substr(at_, o.sign.size()) == o.sign) return &o;
    return nullptr;
  }
  ShellInteger choice(int depth) {
    const ShellInteger condition = binary(0, depth);
    if (!condition || !next('?')) return condition;
    const ShellInteger yes = choice(depth + 1);
    if (!next(':')) return std::nullopt;
    const ShellInteger no = choice(depth + 1);
    return *condition != 0 ? yes : no;
  }
  ShellInteger binary(int rank, int depth) {
    ShellInteger left = unary(depth);
    for (const Operator* o = ahead(); left && o != nullptr && o->rank > rank; o = ahead()) {
      at_ += o->sign.size();
      const ShellInteger right = binary(o->rank, depth + 1);
      left = right ? apply(o->sign, *left, *right) : std::nullopt;
    }
    return left;
  }
  ShellInteger unary(int depth) {
    if (depth > kDeepestNumber) return std::nullopt;
    skip();
    if (next('-')) {
      const ShellInteger value = unary(depth + 1);
      return value && *value != INT64_MIN ? ShellInteger(-*value) : std::nullopt;
    }
    if (next('+')) return unary(depth + 1);
    if (next('!')) {
      const ShellInteger value = unary(depth + 1);
      return value ? ShellInteger(*value == 0) : std::nullopt;
    }
    if (!next('(')) return primary();
    const ShellInteger value = choice(depth + 1);
    return next(')') ? value : std::nullopt;
  }
  ShellInteger primary() {
    skip();
    const bool dollar = at_ < text_.size() && text_[at_] == '$' && ++at_ > 0;
    const bool braced = at_ < text_.size() && text_[at_] == '{' && ++at_ > 0;
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (braced && !next('}')) return std::nullopt;
    if (name.empty()) return std::nullopt;
    const bool digits = std::isdigit(static_cast<unsigned char>(name[0])) != 0;
    return digits && !dollar ? number(name) : variable_(name);
  }
  static ShellInteger number(const std::string& digits) {
    std::int64_t value = 0;
    for (const char c : digits) {
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value))
        return std::nullopt;
    }
    return value;
  }

  std::string_view text_;
  const ShellNumber& variable_;
  std::size_t at_ = 0;
};

}  // namespace

ShellInteger shell_arithmetic(std::string_view expression, const ShellNumber& variable) {
  return Arithmetic(expression, variable).whole();
}

}  // namespace orrery::importers
