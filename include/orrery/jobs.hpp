// Declares several jobs on one cluster: what arrives when, how it is placed and in which order it runs. Read
// by config/, simulated by studies/jobs/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace orrery {

/// Says which GPUs a job gets. A job of more GPUs than a node has gets whole nodes, and the rest of one.
enum class JobPlacement : std::uint8_t {
  packed,      ///< the fewest leaf switches, from the one with the most free nodes on
  best_fit,    ///< the tightest hole that it fits into, so that large holes are kept
  spread,      ///< nodes in turn from all leaf switches
  rail_aware,  ///< as few leaf switches, and so rails, as there can be: it waits until they are free
};
inline constexpr std::array<std::string_view, 4> kJobPlacementNames{"packed", "best-fit", "spread",
                                                                    "rail-aware"};

/// Says which job is next. Jobs of a higher priority come first in all of them.
enum class JobQueueing : std::uint8_t {
  fifo,
  shortest,  ///< the one with the least work left
  priority,  ///< fifo, and jobs of lower priority leave the cluster for it
  gang,      ///< fifo, and jobs that have run for a slice of time leave for those that wait
  backfill,  ///< fifo, and later jobs pass the first one where they do not delay it (EASY)
};
inline constexpr std::array<std::string_view, 5> kJobQueueingNames{"fifo", "shortest", "priority", "gang",
                                                                   "backfill"};

struct JobSpec {
  static constexpr std::size_t kNoExperiment = std::numeric_limits<std::size_t>::max();
  std::string name;
  double arrival_s = 0;
  std::size_t experiment = kNoExperiment;  ///< number of it
  std::int64_t gpus = 0;
  double step_s = 0;  ///< of a step alone; without an experiment
  std::int64_t steps = 1;
  double fabric_share = 0;  ///< of a step, that it sends between nodes and waits; without an experiment
  std::int64_t priority = 0;
};

struct JobsPolicy {
  JobPlacement placement = JobPlacement::packed;
  JobQueueing queueing = JobQueueing::fifo;
  double checkpoint_s = 60;  ///< that a job writes before it leaves; assumed
  double restart_s = 300;    ///< until it goes on: RSC's 5 minutes, as Recovery::restart_s
  double slice_s = 3600;     ///< gang
};

}  // namespace orrery
