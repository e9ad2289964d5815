// Writes a file that appears whole or not at all. Used by everything that writes results.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace orrery {

/// The file that a path means once symbolic links are followed, whether it is there or not; two paths of one
/// file that is yet to be made give the same text.
std::string file_behind(const std::string& path);

/// Returns true if two paths lead to one regular file, or to one that neither of them has created yet.
/// Standard output, devices and pipes are never the same file.
bool same_file(const std::string& a, const std::string& b);

/// Writes to a file without a name in the folder of the target, which `put_in_place` names; without it
/// nothing is left behind. Symbolic links stay: the file they lead to is written, and made if it is missing.
/// A name that ends in .gz is compressed, with a fixed header, so that equal output gives equal bytes. "-" is
/// standard output; it, devices and pipes are written directly. A file that cannot be written, is read-only
/// or has a name that its folder cannot hold fails at once. Every failure throws RunError with the path and
/// the system's reason.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  void write(std::string_view text);
  /// Writes all that waits; the file is complete beside its target. No `write` may follow.
  void finish();
  /// Moves the finished file to its target; the old file is kept until the end.
  void put_in_place();
  /// Restores the file from before put_in_place().
  void take_back() noexcept;
  /// finish() and put_in_place().
  void commit();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace orrery
