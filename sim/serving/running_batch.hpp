// Holds the requests of a batch that decode, one pass after the other. Without speculation a pass costs no
// work per request: all of them grow by a token, so sums do.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/inference.hpp"

namespace orrery {

/// A request that makes tokens.
struct RunningSequence {
  std::uint32_t request = 0;
  std::int64_t cached = 0;  ///< tokens whose keys and values are in the cache
  std::int64_t left = 0;    ///< tokens to make
  std::int64_t room = 0;    ///< tokens that its pages hold at least
};

class RunningBatch {
 public:
  /// @param keeps_rows  ended requests stay in the batch until all have ended
  RunningBatch(const Inference& inference, std::uint64_t seed);

  void add(std::uint32_t request, std::int64_t cached, std::int64_t left);

  /// Requests that make tokens.
  [[nodiscard]] std::int64_t live() const { return static_cast<std::int64_t>(members_.size()); }
  /// Requests in a pass.
  [[nodiscard]] std::int64_t rows() const { return live() + ended_rows_; }
  [[nodiscard]] std::int64_t tokens_per_row() const { return 1 + drafts_; }
  /// Tokens that a pass reads, its own among them.
  [[nodiscard]] std::int64_t context() const { return cached_ + rows() * tokens_per_row(); }
  /// Returns the pages that requests need for the next pass beside those they have.
  [[nodiscard]] std::int64_t new_pages() const;

  /// Runs a pass: each request gets its next tokens. Appends the requests that are complete. Their new pages
  /// must have been taken before.
  void step(std::vector<RunningSequence>& ended);
  /// The request that joined last, which leaves.
  RunningSequence remove_youngest();
  /// Rows of ended requests leave.
  void clear_ended();

 private:
  void catch_up();
  void step_drafted();
  void collect(std::vector<RunningSequence>& ended);
  [[nodiscard]] std::int64_t pages_of(std::int64_t tokens) const {
    return (tokens + page_tokens_ - 1) / page_tokens_;
  }
  [[nodiscard]] std::int64_t next_room(const RunningSequence& member) const;
  [[nodiscard]] std::int64_t made(const RunningSequence& member) const;
  [[nodiscard]] std::int64_t& full_with(const RunningSequence& member);
  void leave(const RunningSequence& member);

  std::int64_t page_tokens_;
  std::int64_t drafts_;
  bool keeps_rows_;
  std::uint64_t seed_;
  std::vector<double> taken_;  ///< probability that at least this many proposed tokens are accepted
  std::vector<RunningSequence> members_;  ///< in the order in which they joined, behind by `behind_` passes
  std::int64_t behind_ = 0;
  std::int64_t passes_ = 0;
  std::int64_t cached_ = 0;      ///< sum over rows
  std::int64_t least_left_ = 0;  ///< of members, as they were `behind_` passes ago
  std::int64_t ended_rows_ = 0;
  std::int64_t ended_cached_ = 0;  ///< sum over rows of ended requests
  /// Members whose last page is full before a pass, by number of the pass modulo the page's tokens.
  std::vector<std::int64_t> full_at_;
};

}  // namespace orrery
