// Runs independent pieces of work on several threads. For callers that simulate many experiments; it knows
// nothing of the pieces.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace orrery {

/// Calls `work` with 0 to `count` - 1, each once, in that order of starts, on at most `threads` threads.
/// `work` must not throw.
inline void for_each_index(std::size_t count, unsigned threads,
                           const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) helpers.emplace_back(run);
  run();
}

}  // namespace orrery
