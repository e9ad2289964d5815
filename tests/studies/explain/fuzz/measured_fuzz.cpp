// libFuzzer harness of files of any kind, databases and compressed ones too, not part of the build; built
// like chrome_profile_fuzz.cpp.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "orrery/error.hpp"
#include "studies/explain/measured/measured.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = (std::filesystem::temp_directory_path() / "orrery-measured-fuzz").string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    static_cast<void>(orrery::read_measurements({path}));
  } catch (const orrery::InputError&) {
  }
  return 0;
}
