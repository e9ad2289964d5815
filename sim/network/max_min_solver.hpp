// Computes max-min fair rates in whole numbers, by progressive filling (Bertsekas and Gallager, "Data
// Networks", 6.5.2). Knows links and flows as small indices and nothing of networks or time.
//
// Filling goes in rounds. The level of a link is the rate that it can still give each unit of open weight,
//   level = max(1, floor((capacity - sum of fixed rate * weight) / sum of open weight)).
// In a round, open flows whose own limit is at most the lowest level get their limit; if there are
// none, all open flows of all links at the lowest level get that level, together. Every round looks
// at sums and minima only, so the rates depend neither on the order of flows and links nor on the
// compiler; and as levels never fall, solving parts that share no link together or apart is the same.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

class MaxMinSolver {
 public:
  /// Forgets the problem, keeps the memory.
  void clear();
  /// capacity in units of rate * weight, below 2^63.
  std::uint32_t add_link(std::uint64_t capacity) {
    links_.push_back({capacity, 0});
    return static_cast<std::uint32_t>(links_.size() - 1);
  }
  /// A flow that never exceeds `limit` >= 1. The uses that follow are its own.
  std::uint32_t add_flow(std::uint64_t limit) {
    limit_.push_back(limit);
    use_begin_.push_back(static_cast<std::uint32_t>(uses_.size()));
    return static_cast<std::uint32_t>(limit_.size() - 1);
  }
  /// Weight of the latest flow on a link added before; the weights of a link sum to less than 2^63.
  void add_use(std::uint32_t link, std::uint64_t weight) {
    uses_.push_back({link, weight});
    links_[link].open_weight += weight;
  }

  void solve();

  [[nodiscard]] std::uint32_t flows() const { return static_cast<std::uint32_t>(limit_.size()); }
  /// Returns the rate, at least 1, even if links are too small for that.
  [[nodiscard]] std::uint64_t rate(std::uint32_t flow) const { return rate_[flow]; }

 private:
  struct Use {
    std::uint32_t link;
    std::uint64_t weight;
  };
  struct LinkState {
    std::uint64_t left;         ///< capacity not yet given away
    std::uint64_t open_weight;  ///< of flows without a rate
  };
  static constexpr std::uint64_t kStale = 0;
  static constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

  void prepare();
  void list_members();
  std::uint64_t lowest_level();
  bool fix_limited(std::uint64_t level);
  void fix_bottlenecks(std::uint64_t level);
  void fix(std::uint32_t flow, std::uint64_t rate);

  std::vector<LinkState> links_;
  std::vector<std::uint64_t> level_;  // per link; kStale: to be computed
  std::vector<std::uint32_t> stale_links_;
  std::vector<std::uint64_t> limit_;      // per flow
  std::vector<std::uint64_t> rate_;       // per flow, 0: open
  std::vector<std::uint32_t> use_begin_;  // per flow
  std::vector<Use> uses_;
  std::vector<std::uint32_t> member_begin_;  // per link + 1
  std::vector<std::uint32_t> members_;       // flows of each link
  std::vector<std::uint32_t> open_flows_;    // may hold fixed ones
  std::vector<std::uint32_t> bottlenecks_;   // links at the lowest level
  std::uint64_t least_limit_ = 0;            // no open flow has a lower limit
  std::uint32_t open_ = 0;
};

}  // namespace orrery
