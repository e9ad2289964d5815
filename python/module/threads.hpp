// Reads the argument `threads` of functions of the module.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>

#include "orrery/error.hpp"

namespace orrery::python {

/// Returns a number of threads; 0 stands for all cores. @throws InputError for any other value.
inline unsigned threads_of(std::int64_t threads) {
  constexpr std::int64_t kMost = 1024;
  if (threads < 0 || threads > kMost)
    throw InputError({Diagnostic{
        "threads", 0, 0, "", "found " + std::to_string(threads) + ", allowed are 0 (all cores) to 1024"}});
  return threads > 0 ? static_cast<unsigned>(threads) : std::max(std::thread::hardware_concurrency(), 1U);
}

}  // namespace orrery::python
