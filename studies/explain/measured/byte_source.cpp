#include "studies/explain/measured/byte_source.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "orrery/error.hpp"

namespace orrery {

void refuse_file(const std::string& path, const std::string& message) {
  throw InputError({Diagnostic{path, 0, 0, "", message}});
}

ByteSource::ByteSource(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
  if (file_ == nullptr) refuse_file(path, std::string("cannot be read: ") + std::strerror(errno));
  gzbuffer(file_, static_cast<unsigned>(block_.size()));
  try {
    underflow();
  } catch (...) {
    gzclose(file_);
    throw;
  }
}

ByteSource::~ByteSource() { gzclose(file_); }

ByteSource::int_type ByteSource::underflow() {
  if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
  const int read = gzread(file_, block_.data(), static_cast<unsigned>(block_.size()));
  int error = Z_OK;
  const char* const message = gzerror(file_, &error);
  if (read < 0)
    refuse_file(path_, error == Z_ERRNO ? std::strerror(errno) : std::string("broken: ") + message);
  if (error == Z_BUF_ERROR) refuse_file(path_, "the compressed file breaks off");
  if (read == 0) return traits_type::eof();
  bytes_ += static_cast<std::uint64_t>(read);
  if (bytes_ > kMostBytes) refuse_file(path_, "holds more than 16 GB; record fewer steps");
  measure_texts({block_.data(), static_cast<std::size_t>(read)});
  setg(block_.data(), block_.data(), block_.data() + read);
  return traits_type::to_int_type(*gptr());
}

void ByteSource::measure_texts(std::string_view block) {
  const std::size_t last = block.find_last_of("\"\n");
  const std::size_t first = block.find_first_of("\"\n");
  text_ += first == std::string_view::npos ? block.size() : first;
  if (text_ > kLongestText) refuse_file(path_, "has a text or a number of more than 4 MB");
  if (last != std::string_view::npos) text_ = block.size() - last - 1;
}

bool read_line(ByteSource& from, std::string& line) {
  line.clear();
  for (int c = from.sbumpc(); c != std::char_traits<char>::eof(); c = from.sbumpc()) {
    if (c == '\n') return true;
    if (c != '\r') line += static_cast<char>(c);
  }
  return !line.empty();
}

}  // namespace orrery
