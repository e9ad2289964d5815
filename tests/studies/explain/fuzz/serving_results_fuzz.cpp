// libFuzzer harness of the reader of vLLM's results, not part of the build; built like
// chrome_profile_fuzz.cpp.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "orrery/error.hpp"
#include "studies/explain/measured/serving_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::stringbuf bytes(std::string(reinterpret_cast<const char*>(data), size), std::ios::in);
  try {
    static_cast<void>(orrery::read_serving_results(bytes, "fuzz"));
  } catch (const orrery::InputError&) {
  }
  return 0;
}
