#include "face/process_stats.hpp"

#include <sys/resource.h>

namespace orrery {

void measure_process(std::chrono::steady_clock::time_point begin, RunStats& stats) {
  stats.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  stats.tasks_per_s = static_cast<double>(stats.tasks) / stats.wall_s;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  stats.peak_rss_mb = static_cast<double>(usage.ru_maxrss) * 1024e-6;
}

}  // namespace orrery
