// libFuzzer harness, not part of the build:
// clang++ -std=c++20 -g -fsanitize=fuzzer,address,undefined -I include -I . -I tests/io
//   tests/config/fuzz/read_experiment_fuzz.cpp config/*.cpp <build>/sim/io/embedded_catalog.cpp
//   -lyaml-cpp -lfmt -lz
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/config/support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* source : {"e.json", "e.yaml"}) orrery::io_test::diagnostics(text, {}, source);
  return 0;
}
