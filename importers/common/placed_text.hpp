// Text with the place of each of its characters in a file, so that what variables are filled with keeps its
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::importers {

/// Longer texts come from variables that double each other again and again.
inline constexpr std::size_t kMostExpanded = 1'000'000;

class PlacedText {
 public:
  PlacedText() = default;
  /// All characters stand at `offset` and behind it.
  PlacedText(std::string_view text, std::size_t offset) {
    for (std::size_t i = 0; i < text.size(); ++i) push(text[i], offset + i);
  }

  void push(char c, std::size_t offset) {
    text_ += c;
    offsets_.push_back(static_cast<std::uint32_t>(offset));
  }
  void append(const PlacedText& more) {
    text_ += more.text_;
    offsets_.insert(offsets_.end(), more.offsets_.begin(), more.offsets_.end());
  }
  /// Appends text that all stands at `offset`.
  void append(std::string_view text, std::size_t offset) {
    for (const char c : text) push(c, offset);
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t size() const { return text_.size(); }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// Returns the place of the first character, 0 of an empty text.
  [[nodiscard]] std::size_t offset() const { return offsets_.empty() ? 0 : offsets_.front(); }
  [[nodiscard]] std::size_t offset_at(std::size_t i) const {
    return i < offsets_.size() ? offsets_[i] : offset();
  }
  [[nodiscard]] PlacedText part(std::size_t begin, std::size_t count) const {
    PlacedText cut;
    for (std::size_t i = begin; i < text_.size() && i - begin < count; ++i) cut.push(text_[i], offsets_[i]);
    return cut;
  }

 private:
  std::string text_;
  std::vector<std::uint32_t> offsets_;
};

/// Returns the words of a text, cut at blanks and ends of lines; quotes hold words together and are dropped.
[[nodiscard]] std::vector<PlacedText> words_in(const PlacedText& text);

}  // namespace orrery::importers
