#include "sim/long_run/make_run_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "orrery/require_training.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kMostRampLevels = 64;
constexpr std::int64_t kNodesOfLeaf =
    32;  // of a leaf switch whose fabric does not say; a DGX SuperPOD's unit

Picoseconds step_time_of(const Report& report) {
  return std::max<Picoseconds>(1, static_cast<Picoseconds>(divide_rounded(
                                      report.makespan_ps, std::max<std::int64_t>(1, report.steps))));
}

class RunModelMaker {
 public:
  RunModelMaker(const Experiment& experiment, const SimulateStep& simulate)
      : experiment_(experiment), run_(*experiment.run), simulate_(simulate) {}

  PreparedRun make() {
    prepared_.step = simulate_(experiment_);
    if (prepared_.step.makespan_ps == 0) return std::move(prepared_);  // nothing that could be run
    model().nodes = experiment_.cluster.nodes;
    add_levels();
    add_pauses();
    add_recovery();
    add_failures();
    add_checkpoints();
    return std::move(prepared_);
  }

 private:
  [[nodiscard]] RunModel& model() { return prepared_.model; }
  [[nodiscard]] Picoseconds full_step() const { return step_time_of(prepared_.step); }

  Picoseconds simulated(const Experiment& experiment) { return step_time_of(simulate_(experiment)); }

  // --- steps ----------------------------------------------------------------------------------------------

  void add_levels() {
    const Report& step = prepared_.step;
    const std::int64_t batch = step.samples_per_step;
    const std::int64_t sample_tokens =
        std::max<std::int64_t>(1, step.tokens_per_step / std::max<std::int64_t>(1, batch));
    std::int64_t ramp_steps = 0;
    std::int64_t ramp_samples = 0;
    if (run_.batch_ramp.start > 0) add_ramp(batch, ramp_steps, ramp_samples);
    std::int64_t steps = run_.steps - ramp_steps;
    if (run_.steps == 0) {
      const std::int64_t tokens = run_.tokens > 0 ? run_.tokens : step.training_tokens;
      if (tokens == 0)
        throw InputError("/run",
                         "found no length, allowed steps or tokens, or training with tokens or samples");
      const std::int64_t samples = (tokens + sample_tokens - 1) / sample_tokens - ramp_samples;
      steps = (samples + batch - 1) / batch;
    }
    if (steps < 1)
      throw InputError("/run/batch_ramp/samples",
                       "found a ramp that is longer than the run, allowed a shorter one");
    model().levels.push_back({steps, full_step(), batch});
  }

  /// Batches grow by the increment; each is used for an equal part of the samples.
  void add_ramp(std::int64_t batch, std::int64_t& steps, std::int64_t& samples) {
    const BatchRamp& ramp = run_.batch_ramp;
    const std::int64_t levels = (batch - ramp.start) / ramp.increment;
    if (ramp.start >= batch || levels < 1 || (batch - ramp.start) % ramp.increment != 0 ||
        levels > kMostRampLevels)
      throw InputError("/run/batch_ramp/start",
                       fmt::format("found a ramp from {} by {} to {}, allowed 1 to {} whole increments",
                                   ramp.start, ramp.increment, batch, kMostRampLevels));
    for (std::int64_t level = 0; level < levels; ++level) {
      const std::int64_t size = ramp.start + level * ramp.increment;
      const std::int64_t of_level = (ramp.samples / levels + size - 1) / size;
      const Experiment smaller = with_batch(size, "/run/batch_ramp/start");
      model().levels.push_back({std::max<std::int64_t>(1, of_level), simulated(smaller), size});
      steps += model().levels.back().steps;
      samples += model().levels.back().steps * size;
    }
  }

  /// The experiment with other samples in a step; `pointer`: the key that asks for them.
  [[nodiscard]] Experiment with_batch(std::int64_t samples, const char* pointer) const {
    Experiment changed = experiment_;
    Plan& plan = changed.plan;
    plan.global_batch_size = samples;
    const std::int64_t smallest = plan.data_parallel * plan.micro_batch_size;
    if (!plan.replica_batch_sizes.empty())
      throw InputError(pointer, "found with plan.replica_batch_sizes, allowed equal replicas");
    if (samples % (plan.balance_replica_batches ? plan.micro_batch_size : smallest) != 0 ||
        samples < smallest)
      throw InputError(pointer,
                       fmt::format("found a step of {} samples, allowed multiples of data_parallel {} x "
                                   "micro_batch_size {} = {}",
                                   samples, plan.data_parallel, plan.micro_batch_size, smallest));
    if (const auto obstacle = schedule_obstacle(plan))
      throw InputError(
          pointer, fmt::format("found a step of {} samples with {} {}, allowed {} for {}", samples,
                               obstacle->key, obstacle->found, obstacle->allowed, plan.pipeline_schedule));
    return changed;
  }

  void add_pauses() {
    model().warmup_steps = run_.warmup.steps;
    model().warmup_slowdown = run_.warmup.slowdown;
    model().evaluation_steps = run_.evaluation.interval_steps;
    model().evaluation_ps = ps_of_seconds(run_.evaluation.duration_s);
    if (run_.evaluation.samples > 0) {  // a forward pass is a third of the products of a step
      const Int128 time = Int128{full_step()} * run_.evaluation.samples;
      model().evaluation_ps =
          static_cast<Picoseconds>(divide_rounded(time, Int128{3} * prepared_.step.samples_per_step));
    }
    model().maintenance_interval_ps = run_.maintenance.interval_hours * kPicosecondsPerHour;
    model().maintenance_ps = static_cast<Picoseconds>(run_.maintenance.duration_hours * kPicosecondsPerHour);
  }

  // --- recovery -------------------------------------------------------------------------------------------

  void add_recovery() {
    const Recovery& recovery = run_.recovery;
    model().policy = recovery.policy;
    model().keep_batch = recovery.keep_batch;
    model().hot_spares = recovery.hot_spares;
    model().cold_spares = recovery.cold_spares;
    model().restart_ps = ps_of_seconds(recovery.restart_s);
    model().cold_start_ps = ps_of_seconds(recovery.cold_start_s);
    model().reconfigure_ps = ps_of_seconds(recovery.reconfigure_s);
    if (recovery.policy < RecoveryPolicy::shrink) return;
    const std::int64_t sharing = replicas_that_share_states();
    const Plan& plan = experiment_.plan;
    model().replicas = plan.data_parallel / sharing;
    check_replicas();
    const bool reroutes = recovery.policy == RecoveryPolicy::reroute;
    model().parts = reroutes ? plan.pipeline_parallel : model().replicas;
    place_nodes(reroutes, sharing);
    if (reroutes || recovery.keep_batch) add_steps_without();
  }

  /// Replicas that are lost together where the others go on: those that share the states of one copy.
  [[nodiscard]] std::int64_t replicas_that_share_states() const {
    const Plan& plan = experiment_.plan;
    if (run_.recovery.policy != RecoveryPolicy::per_replica || plan.zero_stage == 0) return 1;
    return plan.zero_group_size > 0 ? plan.zero_group_size : plan.data_parallel;
  }

  void check_replicas() {
    if (model().replicas >= 2) return;
    const std::string found =
        run_.recovery.policy == RecoveryPolicy::per_replica && experiment_.plan.data_parallel > 1
            ? "states sharded over all replicas, allowed plan.zero_group_size below "
              "data_parallel (HSDP), or zero_stage 0: a replica has to hold a whole copy"
            : "one replica, allowed data_parallel 2 or more";
    throw InputError(
        "/run/recovery/policy",
        fmt::format("found {} with {}", kRecoveryPolicyNames[static_cast<std::size_t>(run_.recovery.policy)],
                    found));
  }

  void place_nodes(bool by_stage, std::int64_t sharing) {
    const RankGrid grid(experiment_.plan);
    const std::int64_t per_node = experiment_.cluster.gpus_per_node;
    const auto ranks = static_cast<std::int64_t>(grid.ranks());
    model().parts_of_node = [grid, per_node, ranks, by_stage, sharing](std::int64_t node) {
      std::set<std::pair<std::int64_t, std::int64_t>> held;  // of a stage, or anywhere: a replica
      for (std::int64_t gpu = node * per_node; gpu < std::min(ranks, (node + 1) * per_node); ++gpu) {
        const auto rank = static_cast<std::uint32_t>(gpu);
        const std::int64_t replica = grid.place(rank, Axis::data) / sharing;
        held.emplace(by_stage ? grid.place(rank, Axis::pipeline) : replica, replica);
      }
      std::vector<std::int64_t> parts;
      for (const auto& [part, replica] : held) parts.push_back(part);
      return parts;
    };
  }

  /// The work of lost replicas goes to the others: the step of a replica with so many more micro-batches,
  /// which grows by a constant time for each.
  void add_steps_without() {
    const Plan& plan = experiment_.plan;
    const std::int64_t micro_batches = plan.micro_batches();
    const std::int64_t more = std::max<std::int64_t>(1, micro_batches / 8);
    const std::int64_t of_all = plan.micro_batch_size * plan.data_parallel;
    const std::int64_t batch = plan.global_batch_size + more * of_all;
    const Picoseconds longer = simulated(with_batch(batch, "/run/recovery/policy"));
    const Picoseconds step = full_step();
    const std::int64_t replicas = model().replicas;
    const std::vector<StepLevel> levels = model().levels;
    model().step_without = [=](std::size_t level, std::int64_t lost) {
      const std::int64_t of_level = std::max<std::int64_t>(1, levels[level].samples / of_all);
      const std::int64_t left = std::max<std::int64_t>(1, replicas - lost);
      const std::int64_t added = (of_level * replicas + left - 1) / left - of_level;
      return levels[level].step_ps + static_cast<Picoseconds>(Int128{longer - step} * added / more);
    };
  }

  // --- failures -------------------------------------------------------------------------------------------

  [[nodiscard]] std::int64_t nodes_of_switch() const {
    if (run_.failures.nodes_per_switch > 0) return run_.failures.nodes_per_switch;
    const Fabric& fabric = experiment_.cluster.fabric;
    const bool says = (fabric.kind == "fat-tree" || fabric.kind == "rail-optimized") && !fabric.shape.empty();
    return std::min(experiment_.cluster.nodes, says ? fabric.shape.front() : kNodesOfLeaf);
  }

  [[nodiscard]] std::int64_t units_of(FailureComponent component) {
    const Cluster& cluster = experiment_.cluster;
    switch (component) {
      case FailureComponent::gpu:
      case FailureComponent::memory:
        return cluster.gpus();
      case FailureComponent::nic:
      case FailureComponent::cable:
        return std::max<std::int64_t>(1, cluster.fabric.nics_per_node) * cluster.nodes;
      case FailureComponent::network_switch:
        return (cluster.nodes + model().nodes_per_group - 1) / model().nodes_per_group;
      case FailureComponent::host:
      case FailureComponent::software:
        break;
    }
    return cluster.nodes;
  }

  void add_failures() {
    model().nodes_per_group = nodes_of_switch();
    std::array<std::size_t, kFailureComponentCount> number{};
    for (std::size_t c = 0; c < kFailureComponentCount; ++c) {
      number[c] = model().kinds.size();
      model().kinds.push_back(kind_of(static_cast<FailureComponent>(c)));
    }
    const HiddenFault& gpu = run_.failures.slow_gpu;
    const HiddenFault& link = run_.failures.slow_link;
    if (gpu.mtbf_hours > 0) add_hidden("slow gpu", gpu, FailureComponent::gpu, slow_gpu_step());
    if (link.mtbf_hours > 0) add_hidden("slow link", link, FailureComponent::nic, slow_link_step());
    if (run_.failures.silent.mtbf_hours > 0)
      add_hidden("silent", run_.failures.silent, FailureComponent::gpu, 0);
    for (const RecordedFailure& failure : run_.failures.trace)
      model().trace.push_back({static_cast<LongPicoseconds>(failure.at_hours * kPicosecondsPerHour + 0.5),
                               number[static_cast<std::size_t>(failure.component)],
                               failure.node < model().nodes ? failure.node : -1,
                               static_cast<LongPicoseconds>(failure.repair_hours * kPicosecondsPerHour)});
  }

  FailureKind kind_of(FailureComponent component) {
    const ComponentFailures& of = run_.failures.of[static_cast<std::size_t>(component)];
    FailureKind kind;
    kind.name = kFailureComponentNames[static_cast<std::size_t>(component)];
    kind.law = of.law;
    kind.units = of.units > 0 ? of.units : units_of(component);
    kind.mean_ps = of.mtbf_hours * kPicosecondsPerHour;
    kind.shape = of.shape;
    kind.age_ps = of.age_hours * kPicosecondsPerHour;
    for (const double gap : of.gaps_hours) kind.gaps_ps.push_back(gap * kPicosecondsPerHour);
    kind.reach = of.reach;
    kind.repair_ps = static_cast<LongPicoseconds>(of.repair_hours * kPicosecondsPerHour);
    kind.detection_ps =
        ps_of_seconds(of.detection_s == kNotGiven ? run_.recovery.detection_s : of.detection_s);
    return kind;
  }

  void add_hidden(std::string name, const HiddenFault& fault, FailureComponent component,
                  Picoseconds slow_step) {
    FailureKind kind;
    kind.name = std::move(name);
    kind.effect = slow_step > 0 ? FailureKind::Effect::slows : FailureKind::Effect::spoils;
    kind.units = units_of(component);
    kind.mean_ps = fault.mtbf_hours * kPicosecondsPerHour;
    kind.found_after_ps = fault.found_after_hours * kPicosecondsPerHour;
    if (slow_step > 0) {
      kind.slow_num = std::max(slow_step, full_step());
      kind.slow_den = full_step();
    }
    model().kinds.push_back(std::move(kind));
  }

  Picoseconds slow_gpu_step() {
    Experiment slow = experiment_;
    slow.cluster.overrides.push_back({0, 1, run_.failures.slow_gpu.speed});
    return simulated(slow);
  }
  /// The slowest link sets the pace of a collective, so all have its rate.
  Picoseconds slow_link_step() {
    Experiment slow = experiment_;
    slow.cluster.fabric.nic_gbps *= run_.failures.slow_link.speed;
    return simulated(slow);
  }

  // --- checkpoints ----------------------------------------------------------------------------------------

  void add_checkpoints() {
    prepared_.writes_checkpoints = run_.checkpoint.has_value() || run_.failures.any();
    const CheckpointPolicy policy = run_.checkpoint.value_or(CheckpointPolicy{});
    prepared_.checkpoint = checkpoint_size(experiment_, prepared_.step, policy);
    model().checkpoint = checkpoint_costs(experiment_, prepared_.checkpoint, policy, full_step());
    if (policy.interval != CheckpointInterval::given) return;
    const double minutes = policy.interval_minutes;
    model().checkpoint.interval_steps =
        minutes > 0
            ? std::max<std::int64_t>(
                  1, static_cast<std::int64_t>(minutes * 60e12 / static_cast<double>(full_step()) + 0.5))
            : policy.interval_steps;
  }

  const Experiment& experiment_;
  const LongRun& run_;
  const SimulateStep& simulate_;
  PreparedRun prepared_;
};

}  // namespace

PreparedRun prepare_run(const Experiment& experiment, const SimulateStep& simulate) {
  require_training(experiment, "weeks of training");
  if (!experiment.run)
    throw InputError("/run",
                     "missing; weeks of training need it: an object with steps or tokens, failures, ...");
  return RunModelMaker(experiment, simulate).make();
}

}  // namespace orrery
