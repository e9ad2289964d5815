// Implements the append buffer of a streaming writer: text and numbers go into one block that is handed to
// the sink when full, so memory stays constant however long the output is.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "reports/writers.hpp"

namespace orrery {

class TextBuffer {
 public:
  /// Most bytes that may be appended after one `make_room`.
  static constexpr std::size_t kRoom = 1024;

  explicit TextBuffer(const Sink& sink) : sink_(sink), data_(kSize, '\0') {}

  /// Makes room for kRoom bytes. The appending functions below do not check.
  void make_room() {
    if (size_ + kRoom > kSize) flush();
  }
  void text(std::string_view text) {
    std::memcpy(data_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }
  void integer(std::int64_t value) {
    char* const begin = data_.data() + size_;
    size_ += static_cast<std::size_t>(std::to_chars(begin, begin + 20, value).ptr - begin);
  }
  /// `value` thousandths with exactly three decimals: ns as us. value >= 0.
  void thousandths(std::int64_t value) {
    integer(value / 1000);
    const auto rest = static_cast<int>(value % 1000);
    const auto digit = [](int d) { return static_cast<char>('0' + d); };
    const char decimals[4]{'.', digit(rest / 100), digit(rest / 10 % 10), digit(rest % 10)};
    text({decimals, 4});
  }
  /// `value` millionths without trailing zeros.
  void millionths(std::int64_t value) {
    if (value < 0) text("-");
    const std::int64_t size = value < 0 ? -value : value;
    integer(size / 1'000'000);
    char decimals[7]{'.'};
    std::int64_t rest = size % 1'000'000;
    for (int i = 6; i >= 1; --i, rest /= 10) decimals[i] = static_cast<char>('0' + rest % 10);
    std::size_t length = 7;
    while (length > 1 && decimals[length - 1] == '0') --length;
    if (length > 1) text({decimals, length});
  }
  /// Text of any length.
  void long_text(std::string_view text) {
    flush();
    sink_(text);
  }
  void flush() {
    if (size_ > 0) sink_({data_.data(), size_});
    size_ = 0;
  }

 private:
  static constexpr std::size_t kSize = 1 << 20;
  const Sink& sink_;
  std::string data_;
  std::size_t size_ = 0;
};

}  // namespace orrery
