// libFuzzer harness of the reader of traces, not part of the build:
// clang++ -std=c++20 -g -fsanitize=fuzzer,address,undefined -I include -I .
//   tests/studies/explain/fuzz/chrome_profile_fuzz.cpp studies/explain/measured/*.cpp
//   studies/explain/account.cpp studies/explain/line_up.cpp -lz -lsqlite3
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "orrery/error.hpp"
#include "studies/explain/account.hpp"
#include "studies/explain/measured/chrome_profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::stringbuf bytes(std::string(reinterpret_cast<const char*>(data), size), std::ios::in);
  try {
    const std::vector<orrery::Profile> profiles{orrery::read_chrome_profile(bytes, "fuzz")};
    static_cast<void>(orrery::account_for(profiles, orrery::line_up(profiles)));
  } catch (const orrery::InputError&) {
  }
  return 0;
}
