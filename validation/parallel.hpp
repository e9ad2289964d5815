// Independent pieces of work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace orrery {

/// Calls `work` with 0 to `count` - 1, each once, in that order of starts, on at most `threads` threads.
/// `work` must not throw.
void for_each_index(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace orrery
