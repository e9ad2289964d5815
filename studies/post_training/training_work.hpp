// Prices the work of a step on samples that are there: forward passes of all roles, and updates.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "orrery/report.hpp"
#include "orrery/simulate.hpp"
#include "sim/step/memo.hpp"
#include "studies/post_training/packing.hpp"
#include "studies/post_training/post_training.hpp"
#include "studies/post_training/samples.hpp"

namespace orrery {

struct TrainingWork {
  PhaseTimes phases{};
  Picoseconds experience_ps = 0;  ///< forward passes, from the first to the last
  Picoseconds update_ps = 0;
  PackedSamples first_update;

  [[nodiscard]] Picoseconds total_ps() const { return experience_ps + update_ps; }
};

/// Work of equal shape is priced once.
class TrainingPricer {
 public:
  TrainingPricer(const PostTrainingExperiment& experiment, Memo& memo)
      : experiment_(experiment), memo_(memo) {}

  /// @param samples  in the order of their updates
  [[nodiscard]] TrainingWork work(const std::vector<Sample>& samples);
  /// Returns the report on an update of a role with micro-batches of the most tokens.
  [[nodiscard]] Report largest_update(PostTrainingRole role);

 private:
  using Key = std::tuple<PostTrainingRole, bool, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  [[nodiscard]] PackedSamples packed(PostTrainingRole role, bool forward_alone,
                                     std::vector<std::int64_t> lengths) const;
  Picoseconds priced(PostTrainingRole role, bool forward_alone, const TrainingShape& shape);
  Picoseconds swap_time();
  Picoseconds forward(PostTrainingRole role, const std::vector<std::int64_t>& lengths);
  Picoseconds updates(PostTrainingRole role, const std::vector<std::int64_t>& lengths, PackedSamples* first);

  const PostTrainingExperiment& experiment_;
  Memo& memo_;
  Simulator simulator_;
  std::map<Key, Picoseconds> known_;
  Picoseconds swap_ps_ = -1;  ///< not computed yet
};

}  // namespace orrery
