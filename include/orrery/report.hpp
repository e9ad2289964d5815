// Holds the result of one experiment: every figure that `orrery simulate` prints or writes as JSON. Made by
// sim/metrics/ from a timeline; times are exact picoseconds and become seconds on output.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/data_parallel_sync.hpp"
#include "orrery/plan.hpp"
#include "orrery/serving.hpp"
#include "orrery/software.hpp"
#include "orrery/topology.hpp"
#include "orrery/units.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Where the time of the step goes, summed over all GPUs; the parts add up to gpus * makespan.
/// A moment in which the compute stream runs counts as compute, host or optimizer. In any other the
/// GPU waits, and the wait belongs to the collective or message in flight on it: tensor, then
/// data, context, expert, pipeline, in this order; with nothing in flight it is data where the GPU waits for
/// its partners in a data-parallel communication, else bubble.
struct Breakdown {
  Int128 compute_ps = 0;
  std::array<Int128, kDimensionCount> exposed_ps{};
  Int128 optimizer_ps = 0;
  Int128 bubble_ps = 0;
  /// Kernel launch gaps within compute operations, and waits for the host to issue the next one (with
  /// nothing in flight).
  Int128 host_ps = 0;
};

/// Time along the chain of tasks that ends last; the parts add up to the makespan.
struct CriticalPath {
  Picoseconds compute_ps = 0;                                   ///< optimizer included
  std::array<Picoseconds, kDimensionCount> communication_ps{};  ///< as long as it takes alone
  Picoseconds host_ps = 0;  ///< the host works, or has not issued the next operation yet
  Picoseconds wait_ps = 0;  ///< longer than that, because links are shared
};

/// Compute by class of kernel, summed over all GPUs, launch gaps left out; the parts add up to
/// Breakdown::compute_ps.
using KernelTimes = std::array<Int128, kKernelClassCount>;

struct LinkUtilization {
  LinkKind kind{};
  double mean = 0;  ///< mean over the links of this kind of bytes carried / (bandwidth * makespan)
  double peak = 0;  ///< the same of the busiest link
};

/// Which figures of a report are measured; the others are left at 0.
struct Figures {
  bool breakdown = true;      ///< Report::breakdown, pipeline_bubble_fraction, gpu_utilization_mean and _min
  bool critical_path = true;  ///< Report::critical_path
  bool traffic = true;        ///< Report::links, bytes_per_gpu
  bool origin = true;  ///< Report::name to workers, reasons, assumptions, warnings: the origin of the figures
  bool range = true;   ///< Report::error_p10, error_p90
  bool process = true;  ///< the machine-dependent part of Report::stats, which the caller measures
  /// Times of plans that do not fit into memory; without them their reports are those of account_memory().
  bool of_infeasible = true;
  /// Serving::capacity, which takes a dozen runs: only where it is asked for.
  bool capacity = false;
  bool kernels = false;  ///< Report::kernels_ps: only where it is asked for, and with `breakdown`
  /// Report::long_run, which takes a hundred runs of weeks: only where it is asked for.
  bool long_run = false;
};

/// Holds the memory of a GPU from `at_ps` until the next point: the most it holds at that time.
struct MemoryPoint {
  Picoseconds at_ps = 0;
  Bytes bytes = 0;
};
using MemoryTimeline = std::vector<MemoryPoint>;

/// Says how far asynchronous workers diverge.
struct Asynchrony {
  std::int64_t fewest_steps = 0;  ///< local steps of the slowest worker
  std::int64_t most_steps = 0;    ///< and of the fastest one
  std::int64_t meetings = 0;      ///< of pairs, or of a worker with the centre
  /// Updates by other workers between the reading of a model and the update that rests on it.
  double mean_staleness = 0;
  std::int64_t most_staleness = 0;
};

/// Says how much faster the step gets if one bandwidth, latency, peak or host time of the experiment
/// improves.
struct WhatIf {
  std::string key;   ///< of the experiment
  std::string unit;  ///< of value, better and holds_until
  double value = 0;
  /// Derivative of the logarithm of the step time by that of the parameter, positive where an improvement
  /// helps: the share of the step time that operations of the critical path spend on it.
  double share = 0;
  double better = 0;  ///< twice the rate or half the time, or the best value that an experiment may have
  Picoseconds better_makespan_ps = 0;  ///< of all steps, simulated with it
  /// Length of the critical path as it is, at the prices with it; 0 where it has other tasks then.
  Picoseconds path_makespan_ps = 0;
  /// The better value up to which no other path becomes longest, so that steps follow the path's prediction;
  /// nullopt if that holds for values a thousand times better.
  std::optional<double> holds_until;
};

/// Sums up the weeks of training that the step is part of, where the experiment has them; means over
/// repetitions.
struct LongRunFigures {
  bool ends = true;  ///< false: something fails so often that it never ends, and the others are unknown
  double goodput = 0;
  double effective_training_time_ratio = 0;
  double days = 0;
  double days_p10 = 0;
  double days_p50 = 0;
  double days_p90 = 0;
  double interruptions = 0;
  double mfu = 0;
  double cost_usd = 0;                         ///< 0: unknown
  double energy_kwh = 0;                       ///< 0: unknown
  std::int64_t checkpoint_interval_steps = 0;  ///< 0: no checkpoints
  double checkpoint_interval_s = 0;
};

struct RunStats {
  std::uint64_t tasks = 0;   ///< simulated, after folding
  std::uint64_t events = 0;  ///< queue events
  std::uint64_t ranks = 0;   ///< simulated ranks; the others are copies of them
  double wall_s = 0;
  double tasks_per_s = 0;
  double peak_rss_mb = 0;
};

struct Report {
  std::string name;
  std::string model;  ///< catalog names, where there are some
  std::string cluster;
  Plan plan;
  std::string stack;                      ///< calibration of the software, where it has one
  std::string stack_reason;               ///< why that one, where the experiment names none
  Software software;                      ///< its settings beside the plan, such as overlap and widths
  double tensor_overlap = 0;              ///< share of sequence parallelism's collectives that products hide
  double communication_interference = 0;  ///< share of its pace that compute loses beside communication
  DataParallelSync data_parallel_sync;
  std::int64_t workers = 0;  ///< that it keeps in step: replicas, or nodes
  bool feasible = true;
  std::vector<std::string> reasons;      ///< why it is infeasible
  std::vector<std::string> assumptions;  ///< the assumptions behind the figures, a sentence each
  /// The warning on the differences beside the method between the step and one with an all-reduce: widths on
  /// the wire, overlap. "": there are none.
  std::string unlike_all_reduce;
  std::vector<std::string> warnings;  ///< avoidable costs, and figures that are not to be trusted
  std::int64_t gpus = 0;
  std::int64_t steps = 1;
  Picoseconds makespan_ps = 0;  ///< of all steps
  std::int64_t samples_per_step = 0;
  std::int64_t tokens_per_step = 0;
  std::int64_t parameters = 0;
  std::int64_t active_parameters = 0;  ///< without the experts that a token does not go to
  std::int64_t training_tokens = 0;    ///< of the whole run; 0 if not given
  /// Deciles of measured over predicted step time less one, as the calibration met them; 0: unknown.
  double error_p10 = 0;
  double error_p90 = 0;
  TotalFlops model_flops_per_step = 0;
  TotalFlops hardware_flops_per_step = 0;
  double peak_tflops_per_gpu = 0;  ///< in the plan's precision; mfu and hfu are shares of it
  double power_w = 0;              ///< the most that all GPUs draw together; 0: unknown
  double usd_per_hour = 0;         ///< rent of all of them; 0: unknown

  Breakdown breakdown;
  std::optional<KernelTimes> kernels_ps;  ///< where they were asked for
  /// Idle time of the pipeline over the time its passes keep a GPU busy: (p-1)/m for 1F1B.
  double pipeline_bubble_fraction = 0;
  double gpu_utilization_mean = 0;  ///< share of the step in which the compute stream runs
  double gpu_utilization_min = 0;
  std::vector<LinkUtilization> links;
  std::vector<StageMemory> stage_memory;  ///< per pipeline stage
  Bytes gpu_memory = 0;                   ///< of the smallest GPU; 0: unknown
  /// The time from the beginning of the run at which the fullest stage holds most; nullopt if that is not
  /// known.
  std::optional<Picoseconds> peak_memory_at_ps;
  std::vector<MemoryTimeline> memory_timeline;          ///< per pipeline stage, where it was asked for
  Bytes gpu_usable_memory = 0;                          ///< the part of it for StageMemory::reserved()
  std::array<double, kDimensionCount> bytes_per_gpu{};  ///< sent per GPU and step, mean over GPUs
  CriticalPath critical_path;                           ///< without `asynchrony`
  std::vector<WhatIf> what_if;                          ///< where it was asked for, the largest share first
  std::optional<Asynchrony> asynchrony;    ///< of methods whose workers keep no step with each other
  std::optional<Serving> serving;          ///< of requests, where the experiment serves: no step is simulated
  ServiceLevel slo;                        ///< limits of its latencies
  std::optional<LongRunFigures> long_run;  ///< where it was asked for and the experiment has `run`
  RunStats stats;

  [[nodiscard]] double step_time_s() const { return to_seconds(makespan_ps) / static_cast<double>(steps); }
  [[nodiscard]] bool has_spread() const { return error_p10 < error_p90; }
  [[nodiscard]] double step_time_s_p10() const { return step_time_s() * (1 + error_p10); }
  [[nodiscard]] double step_time_s_p90() const { return step_time_s() * (1 + error_p90); }
  [[nodiscard]] double training_days() const {
    return static_cast<double>(training_tokens) / tokens_per_s() / (24 * 3600);
  }
  /// Returns the energy of a step if `power_w` is drawn all the time, which is an upper bound.
  [[nodiscard]] double energy_kwh() const { return power_w / 1000 * step_time_s() / 3600; }
  [[nodiscard]] double cost_usd() const { return usd_per_hour * step_time_s() / 3600; }
  /// Returns the energy of the whole run, with the same upper bound of power.
  [[nodiscard]] double training_energy_kwh() const { return power_w / 1000 * 24 * training_days(); }
  [[nodiscard]] double training_cost_usd() const { return usd_per_hour * 24 * training_days(); }
  [[nodiscard]] double samples_per_s() const { return static_cast<double>(samples_per_step) / step_time_s(); }
  [[nodiscard]] double tokens_per_s() const { return static_cast<double>(tokens_per_step) / step_time_s(); }
  [[nodiscard]] double model_tflops_per_gpu() const { return tflops_per_gpu(model_flops_per_step); }
  [[nodiscard]] double hardware_tflops_per_gpu() const { return tflops_per_gpu(hardware_flops_per_step); }
  [[nodiscard]] double mfu() const { return model_tflops_per_gpu() / peak_tflops_per_gpu; }
  [[nodiscard]] double hfu() const { return hardware_tflops_per_gpu() / peak_tflops_per_gpu; }

 private:
  [[nodiscard]] double tflops_per_gpu(TotalFlops flops) const {
    return static_cast<double>(flops) * 1e-12 / step_time_s() / static_cast<double>(gpus);
  }
};

}  // namespace orrery
