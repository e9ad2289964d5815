// A file that appears whole or not at all. Used by everything that writes results.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace orrery {

/// Writes to a file without a name in the folder of the target, which `commit` puts in place; without
/// `commit` nothing is left behind. A name that ends in .gz is compressed, with a fixed header, so
/// that equal output gives equal bytes. "-" is standard output; it, devices and pipes are written directly.
/// Every failure throws RunError with the path and the system's reason.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  void write(std::string_view text);
  /// Flushes, closes and puts the file in place; no `write` may follow.
  void commit();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace orrery
