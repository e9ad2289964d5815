// Says of which files a fit was made and by which version, so that whoever finds the calibration can tell
// whether theirs are the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct FitFile {
  std::string name;  ///< as it was given
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  ///< as gzip and Python's zlib.crc32 count it
};

struct FitOrigin {
  std::string version;  ///< of Orrery
  std::vector<FitFile> files;
};

/// Reads a file for its size and checksum. @throws InputError if it cannot be read
[[nodiscard]] FitFile fit_file(const std::string& path);
[[nodiscard]] FitFile fit_file(const std::string& name, std::string_view content);

}  // namespace orrery
