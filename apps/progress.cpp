#include "apps/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace orrery {

std::function<void(std::size_t done, std::size_t total)> progress_on_terminal(const CommonOptions& common) {
  if (common.quiet || isatty(STDERR_FILENO) == 0) return {};
  return [](std::size_t done, std::size_t total) {
    std::fprintf(stderr, "\r%zu of %zu", done, total);
    if (done == total) std::fprintf(stderr, "\r\x1b[K");
  };
}

}  // namespace orrery
