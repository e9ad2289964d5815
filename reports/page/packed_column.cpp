#include "reports/page/packed_column.hpp"

#include <zlib.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <new>

namespace orrery {
namespace {

constexpr double kMostExact = 4503599627370496.0;  // 2^52: differences of two are exact too

std::uint64_t number_at(const std::string& bytes, std::size_t at, std::size_t width) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < width; ++i)
    number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return number;
}

void put_number(std::string& bytes, std::size_t at, std::size_t width, std::uint64_t number) {
  for (std::size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<char>(number >> (8 * i) & 0xFFU);
}

bool are_exact(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(double)) {
    const auto number = std::bit_cast<double>(number_at(bytes, at, sizeof(double)));
    if (!(std::abs(number) < kMostExact) || number != std::trunc(number) || std::signbit(number))
      return false;
  }
  return true;
}

/// Differences of integers, modulo the size of their type.
std::string integer_differences(const std::string& bytes, std::size_t width) {
  std::string out(bytes.size(), '\0');
  std::uint64_t before = 0;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    const std::uint64_t number = number_at(bytes, at, width);
    put_number(out, at, width, number - before);
    before = number;
  }
  return out;
}

std::string double_differences(const std::string& bytes) {
  std::string out(bytes.size(), '\0');
  double before = 0;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(double)) {
    const auto number = std::bit_cast<double>(number_at(bytes, at, sizeof(double)));
    put_number(out, at, sizeof(double), std::bit_cast<std::uint64_t>(number - before));
    before = number;
  }
  return out;
}

/// The first bytes of all numbers, then the second ones, and so on.
std::string by_weight(const std::string& bytes, std::size_t width) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t weight = 0; weight < width; ++weight)
    for (std::size_t at = weight; at < bytes.size(); at += width) out += bytes[at];
  return out;
}

std::string deflated(const std::string& bytes) {
  constexpr int kRaw = -15;
  constexpr int kMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kRaw, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  std::string in = bytes;  // zlib takes no constant text
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::size_t bytes_of_number(std::string_view array_type) {
  std::size_t bits = 0;
  const std::string_view digits = array_type.substr(array_type.find_first_of("0123456789"));
  std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  return bits / 8;
}

PackedColumn packed(const PageColumn& column) {
  const std::size_t width = bytes_of_number(column.type);
  if (!column.type.starts_with("Float"))
    return {deflated(by_weight(integer_differences(column.bytes, width), width)), true};
  if (column.type == "Float64Array" && are_exact(column.bytes))
    return {deflated(by_weight(double_differences(column.bytes), width)), true};
  return {deflated(by_weight(column.bytes, width)), false};
}

}  // namespace orrery
