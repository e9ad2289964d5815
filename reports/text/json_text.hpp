// Writes JSON as text, from front to back, for every writer of it: a batch writes thousands of results a
// second, so no tree of them is built first. The text is that of nlohmann's dump(), but for numbers that take
// fewer digits than that writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace orrery {

/// Appends the text in quotes, escaped; invalid UTF-8 becomes U+FFFD.
void append_json(std::string_view text, std::string& out);
/// Appends the fewest digits that distinguish the number from its neighbours, at times one more; null if it
/// is not finite.
void append_json(double value, std::string& out);
void append_json(std::int64_t value, std::string& out);
void append_json(bool value, std::string& out);
void append_json(std::nullptr_t, std::string& out);

/// Objects and lists, each member announced by key() or element().
class JsonText {
 public:
  /// Writes members on lines of their own if `indent` >= 0.
  explicit JsonText(int indent) : indent_(indent) {}

  void begin(char bracket);
  void end(char bracket);
  void key(std::string_view name);
  void element();
  template <class Scalar>
  void value(const Scalar& scalar) {
    append_json(scalar, text_);
  }
  /// Returns all of the text, and the end of the line.
  [[nodiscard]] std::string take() { return std::move(text_) + '\n'; }

 private:
  void break_line();

  int indent_;
  int depth_ = 0;
  bool empty_ = true;  ///< the innermost object or list, up to here
  std::string text_;
};

}  // namespace orrery
