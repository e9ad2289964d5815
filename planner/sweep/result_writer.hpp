// Writes the results of several threads into a file of results, in a thread of its own. Internal to sweep/.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <unordered_set>
#include <vector>

#include "planner/sweep/results_file.hpp"

namespace orrery {

class ResultWriter {
 public:
  /// No other code may use `file` meanwhile.
  explicit ResultWriter(ResultsFile& file);

  /// Returns true if the point is the first of its content, in the file and in this process; the first caller
  /// simulates it.
  bool claim(const ContentHash& content);
  void add(SweptPoint point);
  void add(std::vector<RemovedPoints> removed);
  /// Returns true if writing has failed and nothing more can be written.
  [[nodiscard]] bool failed();
  /// Waits until all is written. @throws the first error of the writer
  void finish();

 private:
  struct Batch {
    std::vector<SweptPoint> points;
    std::vector<RemovedPoints> removed;
    [[nodiscard]] bool empty() const { return points.empty() && removed.empty(); }
  };
  void work(const std::stop_token& end);
  void write(const Batch& batch);

  ResultsFile& file_;
  std::mutex mutex_;
  std::condition_variable_any some_;
  Batch waiting_;
  std::unordered_set<ContentHash, ContentHasher> claimed_;
  std::exception_ptr error_;
  std::jthread thread_;  ///< ends before the members it uses
};

}  // namespace orrery
