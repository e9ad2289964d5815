// Writes a folder of files that appears whole or not at all.
#pragma once

#include <string>

namespace orrery {

/// Gathers files in a hidden folder beside the target, which `put_in_place` renames; without it nothing is
/// left behind, unless the process is killed. The target may be there if it is empty. Every failure throws
/// RunError with the path and the system's reason.
class OutputFolder {
 public:
  explicit OutputFolder(const std::string& path);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

  /// Returns the path at which a file of that name is to be written, before put_in_place().
  [[nodiscard]] std::string file(const std::string& name) const { return temporary_ + "/" + name; }
  /// Call once its files are finished.
  void put_in_place();
  /// Removes the files that put_in_place() has moved.
  void take_back() noexcept;

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::string target_;     ///< path_ without slashes at its end, links followed
  std::string temporary_;  ///< "": it is in place
  bool was_there_ = false;
};

}  // namespace orrery
