// Evaluates a condition between the keys of a space, such as
//   plan.tensor_parallel * plan.pipeline_parallel <= 64 and plan.recompute != "none"
// From weak to strong: or; and; not; == != < <= > >= and `in [a, b]`; + -; * / %; a minus sign; brackets.
// Names are dotted keys; texts stand in single or double quotes, and are only compared by == != and in.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace orrery {

/// A value as conditions see it; a list or an object is nothing.
using ConditionValue = std::variant<std::monostate, double, bool, std::string>;

/// Says why a text is no condition, or cannot be evaluated for some values.
struct ConditionError {
  std::size_t at = 0;  ///< byte of the text
  std::string message;
};

class Condition {
 public:
  /// @throws ConditionError: longer than 10,000 bytes, brackets deeper than 50, or not written as above.
  explicit Condition(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The keys it names, each once, in the order in which they first stand.
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }
  /// @param values  of keys(), in their order. Division is that of floating point: 1 / 0 is infinite.
  /// @throws ConditionError where values of different kinds meet.
  [[nodiscard]] bool holds(std::span<const ConditionValue> values) const;

  struct Node;

 private:
  std::string text_;
  std::vector<std::string> keys_;
  std::shared_ptr<const Node> root_;
};

}  // namespace orrery
