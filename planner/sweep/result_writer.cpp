#include "planner/sweep/result_writer.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace orrery {

ResultWriter::ResultWriter(ResultsFile& file) : file_(file) {
  for (const ContentHash& content : file_.new_contents()) claimed_.insert(content);
  thread_ = std::jthread([this](const std::stop_token& end) { work(end); });
}

bool ResultWriter::claim(const ContentHash& content) {
  const std::lock_guard lock(mutex_);
  return claimed_.insert(content).second;
}

void ResultWriter::add(SweptPoint point) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) some_.notify_one();
  waiting_.points.push_back(std::move(point));
}

void ResultWriter::add(std::vector<RemovedPoints> removed) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) some_.notify_one();
  std::ranges::move(removed, std::back_inserter(waiting_.removed));
}

bool ResultWriter::failed() {
  const std::lock_guard lock(mutex_);
  return error_ != nullptr;
}

void ResultWriter::finish() {
  thread_.request_stop();
  thread_.join();
  if (error_) std::rethrow_exception(error_);
}

/// Collects results in a transaction for a while: a commit for every point would take longer than many points
/// do. The first result waits at most that long.
void ResultWriter::work(const std::stop_token& end) {
  constexpr std::chrono::milliseconds kBetween{300};
  std::unique_lock lock(mutex_);
  for (;;) {
    some_.wait(lock, end, [this] { return !waiting_.empty(); });
    some_.wait_for(lock, end, kBetween, [] { return false; });
    if (waiting_.empty()) return;  // only at the end
    const Batch batch = std::exchange(waiting_, {});
    lock.unlock();
    std::exception_ptr error;
    try {
      write(batch);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    if (error_) return;
  }
}

/// Writes a batch, and reads the results of other processes.
void ResultWriter::write(const Batch& batch) {
  file_.insert(batch.points, batch.removed);
  const std::vector<ContentHash> found = file_.new_contents();
  const std::lock_guard lock(mutex_);
  claimed_.insert(found.begin(), found.end());
}

}  // namespace orrery
