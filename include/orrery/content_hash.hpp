// Computes hashes that stand for the content they were made of.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace orrery {

/// Holds 128 bits that identify the appended content. Among 10^7 contents of a thousand values each, two
/// different ones collide with a probability of about 10^-18.
struct ContentHash {
  std::uint64_t a = 0x9e3779b97f4a7c15;
  std::uint64_t b = 0xc2b2ae3d27d4eb4f;

  bool operator==(const ContentHash&) const = default;

  static std::uint64_t scramble(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  /// The mixing step of wyhash (W. Yi 2019).
  static std::uint64_t mix(std::uint64_t x, std::uint64_t y) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{x} * y;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  /// Appends a value; the order matters.
  void append(std::uint64_t value) {
    a = mix(a ^ value, 0xa0761d6478bd642f);
    b = mix(b + value, 0xe7037ed1a0b428db);
  }
  void append(const ContentHash& other) {
    append(other.a);
    append(other.b);
  }
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(a, b);
  }
  /// Adds a hash `times` times; the order does not matter.
  void add(ContentHash other, std::uint64_t times = 1) {
    a += times * scramble(other.a);
    b += times * scramble(other.b ^ 0x2545f4914f6cdd1d);
  }
};

/// Appends all that a value holds: numbers, names, lists, and structs that tell
/// their members(): they call a function with each member, since a tuple of them costs every includer its
/// instantiation.
template <class T>
void append_content(ContentHash& hash, const T& value);

namespace detail {

template <class T>
concept TellsMembers = requires(const T& value) {
  value.members([](const auto&...) {});
};
template <class T>
concept HasValue = requires(const T& value) {
  value.has_value();
  *value;
};

inline void append_text(ContentHash& hash, std::string_view text) {
  hash.append(text.size());
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    hash.append(word);
  }
  std::uint64_t rest = 0;
  if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
  hash.append(rest);
}

template <class T>
void append_all(ContentHash& hash, const T& list) {
  hash.append(list.size());
  for (const auto& item : list) append_content(hash, item);
}

}  // namespace detail

template <class T>
void append_content(ContentHash& hash, const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    hash.append(std::bit_cast<std::uint64_t>(value));
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    hash.append(static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    detail::append_text(hash, value);
  } else if constexpr (detail::TellsMembers<T>) {
    value.members([&hash](const auto&... member) { (append_content(hash, member), ...); });
  } else if constexpr (detail::HasValue<T>) {
    hash.append(value.has_value() ? 1 : 0);
    if (value.has_value()) append_content(hash, *value);
  } else {
    detail::append_all(hash, value);
  }
}

template <class... T>
[[nodiscard]] ContentHash content_of(const T&... values) {
  ContentHash hash;
  (append_content(hash, values), ...);
  return hash;
}

struct ContentHasher {
  std::size_t operator()(const ContentHash& content) const { return content.a; }
};

/// Numbers contents in the order in which they are first met. Open addressing; neighbours are often
/// alike, so the latest one is looked at first.
class ContentTable {
 public:
  std::uint32_t number(const ContentHash& content) {
    if (count_ > 0 && content == latest_) return latest_number_;
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = find(content);
    if (slot.number == kEmpty) slot = {content, count_++};
    latest_ = content;
    return latest_number_ = slot.number;
  }
  [[nodiscard]] std::uint32_t size() const { return count_; }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffff;
  struct Slot {
    ContentHash content;
    std::uint32_t number = kEmpty;
  };

  Slot& find(const ContentHash& content) {
    std::size_t at = (content.a ^ (content.b >> 1)) & (slots_.size() - 1);
    while (slots_[at].number != kEmpty && slots_[at].content != content) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kEmpty) find(slot.content) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::uint32_t count_ = 0;
  ContentHash latest_;
  std::uint32_t latest_number_ = 0;
};

}  // namespace orrery
