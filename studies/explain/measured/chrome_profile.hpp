// Reads a trace of PyTorch's profiler (Kineto), or another one in Chrome's event format that marks work of
// the GPU by category: an object with `traceEvents` or a bare list of events, event by event, so that memory
// grows with the kernels alone.
#pragma once

#include "studies/explain/measured/byte_source.hpp"
#include "studies/explain/measured/profile.hpp"

namespace orrery {

/// Limit on kernels, messages and copies of a trace.
inline constexpr std::size_t kMostGpuSpans = 10'000'000;

/// @param source  name of the file in errors
/// @throws InputError where it breaks off, is no JSON, has no work of a GPU, or too much of it
[[nodiscard]] Profile read_chrome_profile(std::streambuf& bytes, const std::string& source);

}  // namespace orrery
