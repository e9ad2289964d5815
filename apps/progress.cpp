#include "apps/progress.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

namespace orrery {
namespace {

/// Writes a line again and again in a thread of its own, and takes it away at the end.
class ProgressLine {
 public:
  ProgressLine() : writer_([this](const std::stop_token& end) { write(end); }) {}

  void report(std::size_t done, std::size_t total) {
    done_ = done;
    total_ = total;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void write(const std::stop_token& end) {
    constexpr std::chrono::seconds kQuiet{2};
    constexpr std::chrono::milliseconds kBetween{500};
    const Clock::time_point begin = Clock::now();
    std::unique_lock lock(mutex_);
    const auto ends = [] { return false; };
    ended_.wait_until(lock, end, begin + kQuiet, ends);
    bool shown = false;
    while (!end.stop_requested()) {
      const std::chrono::duration<double> taken = Clock::now() - begin;
      std::fprintf(stderr, "\r%s\x1b[K", progress_text(done_, total_, taken.count()).c_str());
      shown = true;
      ended_.wait_for(lock, end, kBetween, ends);
    }
    if (shown) std::fprintf(stderr, "\r\x1b[K");
  }

  std::atomic<std::size_t> done_ = 0;
  std::atomic<std::size_t> total_ = 0;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread writer_;  ///< ends before the members it uses
};

}  // namespace

ProgressReport progress_on_terminal(const CommonOptions& common) {
  if (common.quiet || isatty(STDERR_FILENO) == 0) return {};
  return [line = std::make_shared<ProgressLine>()](std::size_t done, std::size_t total) {
    line->report(done, total);
  };
}

}  // namespace orrery
