#include "studies/calibrate/fit_files.hpp"

#include <zlib.h>

#include <fstream>

#include "orrery/error.hpp"

namespace orrery {
namespace {

void add_bytes(FitFile& file, const char* bytes, std::size_t count) {
  file.crc32 =
      static_cast<std::uint32_t>(crc32_z(file.crc32, reinterpret_cast<const unsigned char*>(bytes), count));
  file.bytes += count;
}

}  // namespace

FitFile fit_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw InputError({Diagnostic{path, 0, 0, "", "cannot be read"}});
  FitFile file{path, 0, 0};
  std::string block(1 << 20, '\0');
  while (stream.read(block.data(), static_cast<std::streamsize>(block.size())) || stream.gcount() > 0)
    add_bytes(file, block.data(), static_cast<std::size_t>(stream.gcount()));
  return file;
}

FitFile fit_file(const std::string& name, std::string_view content) {
  FitFile file{name, 0, 0};
  add_bytes(file, content.data(), content.size());
  return file;
}

}  // namespace orrery
