#include "importers/simulators/proto_reader.hpp"

namespace orrery::importers::simulators {

namespace {

constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;
constexpr unsigned kMostBits = 64;

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

std::optional<std::uint64_t> ProtoReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < kMostBits && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return value;
  }
  broken_ = true;
  return std::nullopt;
}

std::optional<std::string_view> ProtoReader::take(std::uint64_t count) {
  if (count > rest_.size()) {
    broken_ = true;
    return std::nullopt;
  }
  const std::string_view bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return bytes;
}

std::optional<std::string_view> ProtoReader::next_message() {
  if (rest_.empty()) return std::nullopt;
  const auto length = varint();
  return length ? take(*length) : std::nullopt;
}

std::optional<ProtoField> ProtoReader::next() {
  if (rest_.empty() || broken_) return std::nullopt;
  const auto tag = varint();
  if (!tag) return std::nullopt;
  ProtoField field{static_cast<std::uint32_t>(*tag >> 3U), static_cast<std::uint32_t>(*tag & 7U)};
  std::optional<std::string_view> bytes;
  if (field.type == kVarint) {
    const auto value = varint();
    if (!value) return std::nullopt;
    field.value = *value;
    return field;
  }
  if (field.type == kBytes) {
    const auto length = varint();
    if (!length) return std::nullopt;
    bytes = take(*length);
  } else if (field.type == kFixed64 || field.type == kFixed32) {
    bytes = take(field.type == kFixed64 ? 8 : 4);
    if (bytes) field.value = little_endian(*bytes);
  } else {
    broken_ = true;
  }
  if (!bytes || field.number == 0) return std::nullopt;
  field.bytes = *bytes;
  return field;
}

}  // namespace orrery::importers::simulators
