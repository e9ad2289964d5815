// Workers side by side. What is done for one reads what all share and writes what is its own, so results do
// not depend on the number of threads. Internal to convergence/.
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

namespace orrery {

/// Calls `work(i)` for every i below `count`. `work` throws nothing.
template <class Work>
void for_each_worker(std::int64_t count, unsigned threads, const Work& work) {
  const std::int64_t parts = std::min<std::int64_t>(count, std::max(1U, threads));
  const auto part = [&](std::int64_t p) {
    for (std::int64_t i = count * p / parts; i < count * (p + 1) / parts; ++i) work(i);
  };
  std::vector<std::jthread> helpers;
  for (std::int64_t p = 1; p < parts; ++p) helpers.emplace_back(part, p);
  part(0);
}

}  // namespace orrery
