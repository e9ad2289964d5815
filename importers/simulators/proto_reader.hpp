// Reads one message in the encoding of protocol buffers, field by field
// (https://protobuf.dev/programming-guides/encoding/).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery::importers::simulators {

struct ProtoField {
  std::uint32_t number = 0;
  std::uint32_t type = 0;    ///< 0 a varint, 1 and 5 of fixed length, 2 bytes
  std::uint64_t value = 0;   ///< of a varint or a fixed field
  std::string_view bytes{};  ///< of a text, a message or a packed list
};

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}

  /// Returns the next field; nothing at the end, or where the bytes are no field.
  [[nodiscard]] std::optional<ProtoField> next();
  /// Returns the bytes of a message that is preceded by its length; nothing where they are not all there.
  [[nodiscard]] std::optional<std::string_view> next_message();
  /// Returns true if all bytes were read.
  [[nodiscard]] bool done() const { return rest_.empty() && !broken_; }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  [[nodiscard]] std::optional<std::uint64_t> varint();
  [[nodiscard]] std::optional<std::string_view> take(std::uint64_t count);

  std::string_view rest_;
  bool broken_ = false;
};

}  // namespace orrery::importers::simulators
