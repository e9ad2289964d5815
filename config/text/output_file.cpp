#include "config/text/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "orrery/error.hpp"

namespace orrery {
namespace {

constexpr std::size_t kBlock = 1 << 16;
constexpr int kGzipWindow = 15 + 16;  // zlib: largest window, gzip header

/// zlib's gzip stream, from text to blocks of bytes.
class Compressor {
 public:
  Compressor() {
    // NOLINTNEXTLINE: zlib's macro casts
    ready_ =
        deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    header_.os = 255;  // unknown, wherever it is built; mtime stays 0
    if (ready_) deflateSetHeader(&stream_, &header_);
  }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  ~Compressor() { deflateEnd(&stream_); }

  [[nodiscard]] bool ready() const { return ready_; }

  /// Hands compressed bytes to `sink`; `last` ends the stream.
  template <class Sink>
  void run(std::string_view text, bool last, Sink sink) {
    do {
      const std::string_view part = text.substr(0, 1 << 30);
      text.remove_prefix(part.size());
      // zlib does not write to its input, though its interface is not const.
      stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(part.data()));
      stream_.avail_in = static_cast<uInt>(part.size());
      const int flush = last && text.empty() ? Z_FINISH : Z_NO_FLUSH;
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
        stream_.avail_out = static_cast<uInt>(block_.size());
        deflate(&stream_, flush);
        sink(std::string_view(block_.data(), block_.size() - stream_.avail_out));
      } while (stream_.avail_out == 0);
    } while (!text.empty());
  }

 private:
  z_stream stream_{};
  gz_header header_{};
  bool ready_ = false;
  std::vector<char> block_ = std::vector<char>(kBlock);
};

}  // namespace

class OutputFile::Impl {
 public:
  explicit Impl(const std::string& path) : path_(path) {
    if (path.ends_with(".gz")) compressor_ = std::make_unique<Compressor>();
    if (compressor_ && !compressor_->ready()) fail("compress", ENOMEM);
    if (path == "-") {
      descriptor_ = STDOUT_FILENO;
    } else {
      open();
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (descriptor_ > STDOUT_FILENO) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void write(std::string_view text) {
    if (compressor_) {
      compressor_->run(text, false, [this](std::string_view bytes) { buffer(bytes); });
    } else {
      buffer(text);
    }
  }

  void commit() {
    if (compressor_) compressor_->run("", true, [this](std::string_view bytes) { buffer(bytes); });
    flush();
    if (unnamed_) give_name();
    close();
    if (temporary_.empty()) return;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("put in place", errno);
    temporary_.clear();
  }

 private:
  [[noreturn]] void fail(const char* action, int error) const {
    throw RunError("cannot " + std::string(action) + " " + (path_ == "-" ? "standard output" : path_) + ": " +
                   std::strerror(error));
  }

  void open() {
    struct stat status {};
    const bool exists = ::stat(path_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail("write", EISDIR);
    if (exists && !S_ISREG(status.st_mode)) {
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor_ < 0) fail("write", errno);
      return;
    }
    target_ = resolved();
    open_temporary(exists ? status.st_mode & 07777U : 0);
  }

  /// The file itself where the path is a symbolic link, so that the link survives.
  [[nodiscard]] std::string resolved() const {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(path_.c_str(), nullptr), std::free);
    return real ? real.get() : path_;
  }

  /// A file without a name, so that nothing stays behind however the program ends; with one where the
  /// file system has no such files. `mode` of the file that is replaced; 0: what the umask allows.
  void open_temporary(mode_t mode) {
    const std::size_t slash = target_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
    descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    unnamed_ = descriptor_ >= 0;
    if (!unnamed_) {
      std::string name = target_ + ".XXXXXX";
      descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
      if (descriptor_ < 0) fail("write", errno);
      temporary_ = name;
    }
    if (mode == 0) {
      const mode_t mask = ::umask(0);
      ::umask(mask);
      mode = 0666U & ~mask;
    }
    ::fchmod(descriptor_, mode);
  }

  void give_name() {
    const std::string file = "/proc/self/fd/" + std::to_string(descriptor_);
    const std::string stem = target_ + "." + std::to_string(::getpid()) + ".";
    for (int attempt = 0;; ++attempt) {
      const std::string name = stem + std::to_string(attempt);
      if (::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        temporary_ = name;
        return;
      }
      if (errno != EEXIST) fail("put in place", errno);
    }
  }

  void buffer(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kBlock) flush();
  }

  void flush() {
    std::string_view left = buffer_;
    while (!left.empty()) {
      const ssize_t count = ::write(descriptor_, left.data(), left.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("write", errno);
      left.remove_prefix(static_cast<std::size_t>(count));
    }
    buffer_.clear();
  }

  void close() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (descriptor <= STDOUT_FILENO) return;
    if (::close(descriptor) != 0) fail("write", errno);
  }

  std::string path_;
  std::string target_;     ///< path_ with links followed
  std::string temporary_;  ///< "" where the target is written directly
  bool unnamed_ = false;   ///< written to a file that gets a name at the end
  int descriptor_ = -1;
  std::string buffer_;
  std::unique_ptr<Compressor> compressor_;
};

OutputFile::OutputFile(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;
void OutputFile::write(std::string_view text) { impl_->write(text); }
void OutputFile::commit() { impl_->commit(); }

}  // namespace orrery
