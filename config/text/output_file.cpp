#include "config/text/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/file_ending.hpp"

namespace orrery {
namespace {

constexpr std::size_t kBlock = 1 << 16;
constexpr int kGzipWindow = 15 + 16;  // zlib: largest window, gzip header

}  // namespace

/// zlib's gzip stream, from text to blocks of bytes.
class GzipStream {
 public:
  GzipStream() {
    // NOLINTNEXTLINE: zlib's macro casts
    ready_ =
        deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    header_.os = 255;  // unknown, wherever it is built; mtime stays 0
    if (ready_) deflateSetHeader(&stream_, &header_);
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() { deflateEnd(&stream_); }

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

std::string file_behind(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // as the system follows
  fs::path at = path;
  std::error_code error;
  for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(at, error)); ++links) {
    const fs::path to = fs::read_symlink(at, error);
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : ".", error);
  return error ? path : (folder / at.filename()).string();
}

bool same_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  struct stat of_a {};
  struct stat of_b {};
  const bool a_exists = ::stat(a.c_str(), &of_a) == 0;
  const bool b_exists = ::stat(b.c_str(), &of_b) == 0;
  if (!a_exists || !b_exists) return a_exists == b_exists && file_behind(a) == file_behind(b);
  return S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

class OutputFile::Impl {
 public:
  explicit Impl(const std::string& path) : path_(path) {
    if (has_ending(path, ".gz") || has_ending(path, ".svgz")) compressor_ = std::make_unique<GzipStream>();
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

  void finish() {
    if (compressor_) compressor_->run("", true, [this](std::string_view bytes) { buffer(bytes); });
    flush();
    if (unnamed_) give_name();
    close();
  }

  /// Exchanges the finished file with the one that is there, so that both exist until the end.
  void put_in_place() {
    if (temporary_.empty()) return;
    placed_ = true;
    exchanged_ = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0;
    if (exchanged_) return;
    created_ = errno == ENOENT;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
      placed_ = false;
      fail("put in place", errno);
    }
    temporary_.clear();
  }

  void take_back() noexcept {
    if (!std::exchange(placed_, false)) return;
    if (exchanged_) ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE);
    if (created_) ::unlink(target_.c_str());
  }

 private:
  [[noreturn]] void fail(const char* action, int error) const {
    throw RunError("cannot " + std::string(action) + " " + (path_ == "-" ? "standard output" : path_) + ": " +
                   std::strerror(error));
  }

  void open() {
    target_ = file_behind(path_);
    struct stat status {};
    const bool exists = ::stat(target_.c_str(), &status) == 0;
    if (!exists && errno != ENOENT) fail("write", errno);
    if (exists && S_ISDIR(status.st_mode)) fail("write", EISDIR);
    if (exists && !S_ISREG(status.st_mode)) {
      target_.clear();
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor_ < 0) fail("write", errno);
      return;
    }
    // A user who may write everywhere also learns that the file is read-only.
    if (exists && ((status.st_mode & 0222U) == 0 || ::access(target_.c_str(), W_OK) != 0))
      fail("write", (status.st_mode & 0222U) == 0 ? EACCES : errno);
    open_temporary(exists ? status.st_mode & 07777U : 0);
  }

  /// Beside the target.
  [[nodiscard]] std::string in_folder(const std::string& name) const {
    const std::size_t slash = target_.rfind('/');
    return (slash == std::string::npos ? "" : target_.substr(0, slash + 1)) + name;
  }

  /// Opens a file without a name, so that no file stays behind however the program ends; with a name if the
  /// file system has no such files. `mode` is that of the replaced file; 0: as the umask allows.
  void open_temporary(mode_t mode) {
    descriptor_ = ::open(in_folder(".").c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    unnamed_ = descriptor_ >= 0;
    if (!unnamed_) {
      std::string name = in_folder(".orrery.XXXXXX");
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
    const std::string stem = in_folder(".orrery." + std::to_string(::getpid()) + ".");
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
  std::string target_;      ///< path_ with links followed
  std::string temporary_;   ///< "" where the target is written directly
  bool unnamed_ = false;    ///< written to a file that gets a name at the end
  bool placed_ = false;     ///< the target is the new file
  bool exchanged_ = false;  ///< and `temporary_` is the old one
  bool created_ = false;    ///< and nothing was there before
  int descriptor_ = -1;
  std::string buffer_;
  std::unique_ptr<GzipStream> compressor_;
};

OutputFile::OutputFile(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;
void OutputFile::write(std::string_view text) { impl_->write(text); }
void OutputFile::finish() { impl_->finish(); }
void OutputFile::put_in_place() { impl_->put_in_place(); }
void OutputFile::take_back() noexcept { impl_->take_back(); }
void OutputFile::commit() {
  finish();
  put_in_place();
}

}  // namespace orrery
