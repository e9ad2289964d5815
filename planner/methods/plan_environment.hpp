// Presents the choice of a plan as an episode of reinforcement learning: key after key takes a value.
// Internal to planner/methods/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/methods/search_run.hpp"
#include "planner/space/space.hpp"

namespace orrery {

/// An episode ends, after a step per key, at one of the candidates that are left.
class PlanEnvironment {
 public:
  /// `candidates` by index.
  PlanEnvironment(const Space& space, std::vector<Candidate> candidates);

  /// Begins an episode. Requires left() > 0.
  void reset();
  [[nodiscard]] std::size_t keys() const { return strides_.size(); }
  /// Returns, per value of the next key, true if a remaining candidate has it beside the values chosen
  /// before.
  [[nodiscard]] std::vector<bool> mask() const;
  /// Chooses an unmasked value of the next key.
  void take(std::size_t value);
  /// Returns the number in candidates() at which the episode has ended.
  [[nodiscard]] std::size_t end() const { return first_at(index_); }

  void take_out(std::size_t candidate);
  void put_back(std::size_t candidate);

  [[nodiscard]] std::int64_t left() const { return left_; }
  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }
  /// Returns, per key, the number of the value that a point of the space has.
  [[nodiscard]] std::vector<std::size_t> values_at(std::uint64_t index) const;

 private:
  [[nodiscard]] std::size_t first_at(std::uint64_t index) const;
  [[nodiscard]] std::int64_t left_before(std::size_t candidate) const;
  void add(std::size_t candidate, bool is_left);

  std::vector<Candidate> candidates_;
  std::vector<std::int64_t> sums_;  ///< of those left, a binary indexed tree (Fenwick 1994)
  std::int64_t left_ = 0;
  std::vector<std::uint64_t> counts_;   ///< of the values of each key
  std::vector<std::uint64_t> strides_;  ///< points between neighbouring values of each key
  std::size_t key_ = 0;                 ///< that is next
  std::uint64_t index_ = 0;             ///< of the first point with the values chosen
};

}  // namespace orrery
