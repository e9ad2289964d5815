// Holds a training run as numbers: steps, costs of checkpoints, kinds of failures, ways to recover, in
// picoseconds. Made by make_run_model() from an experiment and its simulated steps, read by RunSimulation; it
// knows no model, plan or cluster.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/long_run.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Time of a run, which may pass the 106 days of 2^63 ps.
using LongPicoseconds = Int128;

inline constexpr double kPicosecondsPerHour = 3.6e15;

/// Seconds as an experiment gives them, rounded half up; at most 9e6.
constexpr Picoseconds ps_of_seconds(double value) { return static_cast<Picoseconds>(value * 1e12 + 0.5); }

/// Says how the time of a run is used. Every picosecond of it is one of these.
enum class TimeUse : std::uint8_t {
  useful,    ///< steps that count, as long as they take on healthy hardware with all replicas
  degraded,  ///< what such steps take longer, or do less, with slow parts or fewer replicas
  warm_up,   ///< what steps after a start take longer
  evaluation,
  checkpoint,  ///< training waits for a checkpoint
  lost_steps,  ///< steps whose result is thrown away
  detection,
  restart,
  restore,  ///< reading a checkpoint
  waiting,  ///< for spares or repairs
  maintenance,
};
inline constexpr std::size_t kTimeUseCount = 11;
inline constexpr std::array<std::string_view, kTimeUseCount> kTimeUseNames{
    "useful",    "degraded", "warm_up", "evaluation", "checkpoint", "lost_steps",
    "detection", "restart",  "restore", "waiting",    "maintenance"};

/// Steps in a row with one batch.
struct StepLevel {
  std::int64_t steps = 0;
  Picoseconds step_ps = 0;
  std::int64_t samples = 0;  ///< of a step
};

/// A place that checkpoints lie at.
struct CheckpointStore {
  Picoseconds save_ps = 0;  ///< from the end of the stall until it can be read
  Picoseconds load_ps = 0;
  std::array<bool, kFailureReachNames.size()> survives{};  ///< by FailureReach
};

struct CheckpointModel {
  std::int64_t interval_steps = 0;  ///< 0: none are written
  Picoseconds stall_ps = 0;
  CheckpointStore first;
  Picoseconds peer_load_ps = 0;           ///< of a replica that gets the weights from another one
  std::optional<CheckpointStore> second;  ///< every persist_every-th goes there too
  std::int64_t persist_every = 1;
};

/// A kind of failure, or of hidden fault.
struct FailureKind {
  enum class Effect : std::uint8_t { stops, slows, spoils };
  std::string name;
  Effect effect = Effect::stops;
  FailureLaw law = FailureLaw::exponential;
  std::int64_t units = 1;
  double mean_ps = 0;  ///< of one unit
  double shape = 1;
  double age_ps = 0;
  std::vector<double> gaps_ps;
  FailureReach reach = FailureReach::node;
  LongPicoseconds repair_ps = 0;
  Picoseconds detection_ps = 0;
  double found_after_ps = 0;  ///< slows, spoils
  std::int64_t slow_num = 1;  ///< slows: of a step over that on healthy hardware, slow_num / slow_den
  std::int64_t slow_den = 1;
};

/// A failure of a trace, as it is replayed.
struct TracedFailure {
  LongPicoseconds at = 0;
  std::size_t kind = 0;
  std::int64_t node = -1;
  LongPicoseconds repair_ps = 0;
};

struct RunModel {
  std::vector<StepLevel> levels;
  std::int64_t replicas = 1;
  std::int64_t nodes = 1;
  std::int64_t nodes_per_group = 1;  ///< that fail together with a switch
  /// Time of a step of a level whose work `lost` of the replicas do not share; null: as with all of them,
  /// since each keeps its own batch.
  std::function<Picoseconds(std::size_t level, std::int64_t lost)> step_without;
  /// The replicas, or for reroute the stages, that a node is part of; null: node modulo replicas.
  std::function<std::vector<std::int64_t>(std::int64_t node)> parts_of_node;
  std::int64_t parts = 1;  ///< replicas, or stages for reroute
  std::int64_t warmup_steps = 0;
  double warmup_slowdown = 1;
  std::int64_t evaluation_steps = 0;  ///< from one evaluation to the next; 0: none
  Picoseconds evaluation_ps = 0;
  double maintenance_interval_ps = 0;  ///< 0: none
  Picoseconds maintenance_ps = 0;
  CheckpointModel checkpoint;
  std::vector<FailureKind> kinds;
  std::vector<TracedFailure> trace;
  RecoveryPolicy policy = RecoveryPolicy::restart;
  bool keep_batch = false;
  std::int64_t hot_spares = 0;
  std::int64_t cold_spares = 0;
  Picoseconds restart_ps = 0;
  Picoseconds cold_start_ps = 0;
  Picoseconds reconfigure_ps = 0;

  [[nodiscard]] std::int64_t steps() const {
    std::int64_t sum = 0;
    for (const StepLevel& level : levels) sum += level.steps;
    return sum;
  }
  /// The time of all steps without anything else.
  [[nodiscard]] LongPicoseconds ideal_ps() const {
    LongPicoseconds sum = 0;
    for (const StepLevel& level : levels) sum += LongPicoseconds{level.steps} * level.step_ps;
    return sum;
  }
  /// Failures that stop the run, per picosecond; by their mean times.
  [[nodiscard]] double stops_per_ps() const;
};

}  // namespace orrery
