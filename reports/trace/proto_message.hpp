// Bytes of one message in the encoding of protocol buffers
// (https://protobuf.dev/programming-guides/encoding/): fields by number, appended in any order.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

class ProtoMessage {
 public:
  using Field = std::uint32_t;

  void clear() { bytes_.clear(); }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

  /// Fields of int32, int64, uint64, bool or an enumeration.
  void integer(Field field, std::uint64_t value) {
    tag(field, kVarint);
    varint(value);
  }
  void signed_integer(Field field, std::int64_t value) { integer(field, static_cast<std::uint64_t>(value)); }
  void fixed(Field field, std::uint64_t value) {
    static_assert(std::endian::native == std::endian::little);
    tag(field, kFixed64);
    const auto bytes = std::bit_cast<std::array<char, sizeof value>>(value);
    bytes_.append(bytes.data(), bytes.size());
  }
  void text(Field field, std::string_view value) {
    tag(field, kLengthDelimited);
    varint(value.size());
    bytes_ += value;
  }
  void message(Field field, const ProtoMessage& value) { text(field, value.bytes()); }
  /// Appends the message behind its length, as streams of messages have them.
  void append_delimited(std::string& to) const {
    append_varint(to, bytes_.size());
    to += bytes_;
  }

 private:
  static constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kLengthDelimited = 2;

  void tag(Field field, std::uint32_t type) { varint(std::uint64_t{field} << 3U | type); }
  void varint(std::uint64_t value) { append_varint(bytes_, value); }
  static void append_varint(std::string& to, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) to += static_cast<char>(value | 0x80U);
    to += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace orrery
