// Reads a file of unknown origin as a stream, compressed (gzip) or not, in bounded memory: measured files may
// be larger than memory, truncated, or made to do harm.
#pragma once

#include <array>
#include <cstdint>
#include <streambuf>
#include <string>
#include <string_view>

struct gzFile_s;

namespace orrery {

class ByteSource : public std::streambuf {
 public:
  /// Limit on what a file holds, uncompressed.
  static constexpr std::uint64_t kMostBytes = 16'000'000'000;
  /// Limit on a string of JSON or a line: bytes without a quote or the end of a line.
  static constexpr std::uint64_t kLongestText = 4'000'000;

  /// @throws InputError if it cannot be read
  explicit ByteSource(const std::string& path);
  ~ByteSource() override;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Returns the first bytes of the file, before anything is taken.
  [[nodiscard]] std::string_view head() const { return {gptr(), static_cast<std::size_t>(egptr() - gptr())}; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 protected:
  /// @throws InputError where the file breaks off, is too long, or has a text that is
  int_type underflow() override;

 private:
  void measure_texts(std::string_view block);

  std::string path_;
  gzFile_s* file_ = nullptr;
  std::array<char, 1 << 18> block_;
  std::uint64_t bytes_ = 0;
  std::uint64_t text_ = 0;  ///< bytes since the last quote or end of a line
};

/// Throws an InputError about the file.
[[noreturn]] void refuse_file(const std::string& path, const std::string& message);

/// Reads the next line without its end, of at most ByteSource::kLongestText bytes. Returns false at the end.
[[nodiscard]] bool read_line(ByteSource& from, std::string& line);

}  // namespace orrery
