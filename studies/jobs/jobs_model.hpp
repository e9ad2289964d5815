// Holds several jobs on one cluster as numbers: what arrives when, how long it takes alone, and how much
// longer where its messages move more slowly. Made by make_jobs_model(), read by simulate_jobs().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "orrery/jobs.hpp"
#include "orrery/topology.hpp"
#include "sim/long_run/run_model.hpp"

namespace orrery {

/// Returns the time of a step over that alone, where its messages between nodes take `stretch` times as long.
using StepSlowdown = std::function<double(double stretch)>;

struct ModelJob {
  LongPicoseconds arrival_ps = 0;
  LongPicoseconds work_ps = 1;  ///< all of its steps, alone on the cluster
  std::int64_t gpus = 1;
  std::int64_t priority = 0;
  double sending = 0;                            ///< share of a step alone in which it sends between nodes
  std::shared_ptr<const StepSlowdown> slowdown;  ///< null: that share grows as the stretch says
};

struct JobsModel {
  std::shared_ptr<const Topology> topology;
  std::int64_t nodes = 1;
  std::int64_t gpus_per_node = 1;
  std::int64_t nodes_per_leaf = 1;  ///< below a leaf switch
  JobPlacement placement = JobPlacement::packed;
  JobQueueing queueing = JobQueueing::fifo;
  LongPicoseconds checkpoint_ps = 0;
  LongPicoseconds restart_ps = 0;
  LongPicoseconds slice_ps = 0;
  std::vector<ModelJob> jobs;

  [[nodiscard]] std::int64_t gpus() const { return nodes * gpus_per_node; }
};

}  // namespace orrery
