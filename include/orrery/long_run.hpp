// Describes the weeks of training that a step is part of: its length, checkpoints, failures and how the run
// gets over them. Made by config/, read by sim/long_run/; a step does not depend on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Stands for a number that an experiment leaves to the simulator.
inline constexpr double kNotGiven = -1;

/// Says when training goes on after it has begun to write a checkpoint.
enum class CheckpointMode : std::uint8_t {
  sync,         ///< when the checkpoint is written
  async,        ///< when it is copied to the memory of hosts, which write it beside the next steps
  multi_level,  ///< the same, and only some of the checkpoints go on to a second, persistent level
};
inline constexpr std::array<std::string_view, 3> kCheckpointModeNames{"sync", "async", "multi-level"};

enum class CheckpointTarget : std::uint8_t {
  local,         ///< disks of the node itself
  memory,        ///< of the node's host
  peer,          ///< the same, and that of another node
  filesystem,    ///< a parallel file system that all nodes share
  object_store,  ///< likewise
};
inline constexpr std::array<std::string_view, 5> kCheckpointTargetNames{"local", "memory", "peer",
                                                                        "filesystem", "object-store"};

enum class CheckpointInterval : std::uint8_t {
  young_daly,  ///< sqrt(2 x stall x mean time between failures) (Young 1974)
  optimal,     ///< that of the shortest simulated run
  given,
};
inline constexpr std::array<std::string_view, 2> kCheckpointIntervalNames{"young-daly", "optimal"};

struct CheckpointPolicy {
  CheckpointInterval interval = CheckpointInterval::young_daly;
  std::int64_t interval_steps = 0;  ///< given: the interval in steps, or in minutes; the other is 0
  double interval_minutes = 0;
  CheckpointMode mode = CheckpointMode::sync;
  CheckpointTarget target = CheckpointTarget::filesystem;
  CheckpointTarget persistent_target = CheckpointTarget::filesystem;  ///< multi_level: of the second level
  std::int64_t persist_every = 10;  ///< multi_level: checkpoints of the first level to one of the second
  /// Copies to the host's memory run beside the next forward and backward passes (Gemini, ByteRobust).
  bool overlap_copy = false;
  double bytes_per_parameter = 0;  ///< 0: those of the memory model
  double stall_s = kNotGiven;      ///< of training, a checkpoint
  double save_s = kNotGiven;       ///< from the end of the stall until it can be read
  double load_s = kNotGiven;       ///< to read it into all GPUs

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(interval, interval_steps, interval_minutes, mode, target, persistent_target, persist_every,
                 overlap_copy, bytes_per_parameter, stall_s, save_s, load_s);
  }
  friend bool operator==(const CheckpointPolicy&, const CheckpointPolicy&) = default;
};

enum class FailureComponent : std::uint8_t { gpu, memory, nic, cable, network_switch, host, software };
inline constexpr std::size_t kFailureComponentCount = 7;
inline constexpr std::array<std::string_view, kFailureComponentCount> kFailureComponentNames{
    "gpu", "memory", "nic", "cable", "switch", "host", "software"};

/// Says how times between failures are distributed.
enum class FailureLaw : std::uint8_t {
  exponential,  ///< without memory
  weibull,      ///< of each component from its first hour on; one that failed is replaced by a new one
  empirical,    ///< drawn from `gaps_hours`, of all components of the kind together
  fixed,        ///< one failure of the kind as regularly as a clock
};
inline constexpr std::array<std::string_view, 4> kFailureLawNames{"exponential", "weibull", "empirical",
                                                                  "fixed"};

/// Says what a failure takes away.
enum class FailureReach : std::uint8_t {
  process,  ///< processes, which start again on the same nodes
  node,     ///< a node, with the memory of its host
  group,    ///< all nodes below a switch
};
inline constexpr std::array<std::string_view, 3> kFailureReachNames{"process", "node", "switch"};

struct ComponentFailures {
  double mtbf_hours = 0;  ///< mean time to failure of one component; 0: it does not fail
  FailureLaw law = FailureLaw::exponential;
  double shape = 1;                ///< weibull; below 1 the young fail more often
  double age_hours = 0;            ///< weibull: of all components as the run begins
  std::vector<double> gaps_hours;  ///< empirical
  std::int64_t units = 0;          ///< components of the kind; 0: those of the cluster
  FailureReach reach = FailureReach::node;
  double repair_hours = 0;         ///< that a node is out of service; 0: it serves again after the restart
  double detection_s = kNotGiven;  ///< else Recovery::detection_s

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(mtbf_hours, law, shape, age_hours, gaps_hours, units, reach, repair_hours, detection_s);
  }
  friend bool operator==(const ComponentFailures&, const ComponentFailures&) = default;
};

/// A fault that slows every step until it is found, or spoils all that is learnt from it on.
struct HiddenFault {
  double mtbf_hours = 0;  ///< of one GPU, or of one NIC; 0: there are none
  double found_after_hours = 1;
  double speed = 0.7;  ///< share of the speed that is left; of no meaning for silent faults

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(mtbf_hours, found_after_hours, speed);
  }
  friend bool operator==(const HiddenFault&, const HiddenFault&) = default;
};

/// A failure of a trace.
struct RecordedFailure {
  double at_hours = 0;
  FailureComponent component{};
  std::int64_t node = -1;  ///< -1: any
  double repair_hours = 0;

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(at_hours, component, node, repair_hours);
  }
  friend bool operator==(const RecordedFailure&, const RecordedFailure&) = default;
};

struct Failures {
  std::string preset;  ///< catalog entry that they are based on; "": none
  std::array<ComponentFailures, kFailureComponentCount> of{};
  std::int64_t nodes_per_switch = 0;  ///< that a switch takes with it; 0: as the fabric is wired
  HiddenFault slow_gpu;
  HiddenFault slow_link;
  HiddenFault silent;
  std::string trace_file;
  std::vector<RecordedFailure> trace;  ///< in order of time; beside the others

  [[nodiscard]] bool any() const {
    if (!trace.empty() || slow_gpu.mtbf_hours > 0 || slow_link.mtbf_hours > 0 || silent.mtbf_hours > 0)
      return true;
    for (const ComponentFailures& component : of)
      if (component.mtbf_hours > 0 || !component.gaps_hours.empty()) return true;
    return false;
  }

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(preset, of, nodes_per_switch, slow_gpu, slow_link, silent, trace_file, trace);
  }
  friend bool operator==(const Failures&, const Failures&) = default;
};

enum class RecoveryPolicy : std::uint8_t {
  restart,      ///< all stop until the node is back, and start from the last checkpoint
  spares,       ///< the same with another node in place of it
  shrink,       ///< start again without its replicas, and with them when it is back
  per_replica,  ///< the other replicas go on; the lost one comes back with the weights of a peer (FT-HSDP,
                ///< torchft)
  reroute,      ///< peers of its stage in other replicas do its work (ReCycle)
};
inline constexpr std::array<std::string_view, 5> kRecoveryPolicyNames{"restart", "spares", "shrink",
                                                                      "per-replica", "reroute"};

struct Recovery {
  RecoveryPolicy policy = RecoveryPolicy::restart;
  std::int64_t hot_spares = 0;   ///< nodes that are ready
  std::int64_t cold_spares = 0;  ///< nodes that have to boot and be checked first
  /// From a failure until the run knows of it: heartbeats and explicit errors take 2 to 60 s (ByteRobust),
  /// NCCL's watchdog 600 s.
  double detection_s = 60;
  double restart_s =
      300;  ///< scheduler, processes, communicators, first kernels; without loading: RSC's 5 min
  double cold_start_s = 600;  ///< of a cold spare; assumed
  double reconfigure_s =
      10;  ///< per_replica, reroute: all that go on wait for their new communicators; assumed
  bool keep_batch = false;  ///< shrink: the replicas that are left take the batch of all

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(policy, hot_spares, cold_spares, detection_s, restart_s, cold_start_s, reconfigure_s,
                 keep_batch);
  }
  friend bool operator==(const Recovery&, const Recovery&) = default;
};

/// The first steps after each start are slower: caches, compilation, data loaders.
struct WarmUp {
  std::int64_t steps = 0;
  double slowdown = 1;  ///< time of such a step over that of the others

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(steps, slowdown);
  }
  friend bool operator==(const WarmUp&, const WarmUp&) = default;
};

/// Megatron-LM's --rampup-batch-size.
struct BatchRamp {
  std::int64_t start = 0;      ///< samples of the first steps; 0: no ramp
  std::int64_t increment = 0;  ///< samples
  std::int64_t samples = 0;    ///< until the batch is that of the plan

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(start, increment, samples);
  }
  friend bool operator==(const BatchRamp&, const BatchRamp&) = default;
};

struct Evaluation {
  std::int64_t interval_steps = 0;  ///< 0: none
  std::int64_t samples = 0;         ///< whose forward passes take a third of their share of a step; or
  double duration_s = 0;

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(interval_steps, samples, duration_s);
  }
  friend bool operator==(const Evaluation&, const Evaluation&) = default;
};

struct Maintenance {
  double interval_hours = 0;  ///< 0: none
  double duration_hours = 0;

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(interval_hours, duration_hours);
  }
  friend bool operator==(const Maintenance&, const Maintenance&) = default;
};

struct LongRun {
  std::int64_t steps = 0;          ///< of the run, or
  std::int64_t tokens = 0;         ///< 0: `training` has them
  std::int64_t repetitions = 101;  ///< with other random numbers
  bool step_range = true;          ///< deciles of the days take in the stated range of the step time
  WarmUp warmup;
  BatchRamp batch_ramp;
  Evaluation evaluation;
  Maintenance maintenance;
  std::optional<CheckpointPolicy> checkpoint;
  Failures failures;
  Recovery recovery;

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(steps, tokens, repetitions, step_range, warmup, batch_ramp, evaluation, maintenance,
                 checkpoint, failures, recovery);
  }
  friend bool operator==(const LongRun&, const LongRun&) = default;
};

}  // namespace orrery
