// Declares the keys of `run`, the weeks of training that a step is part of, and of `cluster.storage`.
#include "config/schema/fields.hpp"
#include "orrery/long_run.hpp"

namespace orrery {
namespace {

constexpr double kMostSteps = 1e12;
constexpr double kMostSeconds = 9e6;
constexpr double kMostHours = 1e9;
constexpr double kMostNodes = 4e6;
constexpr double kMostGbPerS = 1e6;

}  // namespace

const std::vector<Field<LongRun>>& long_run_fields() {
  using R = LongRun;
  using T = FieldTable<R>;
  static const std::vector<Field<R>> fields{
      T::integer("steps", 1, kMostSteps, &R::steps, "those of tokens", "steps of the whole run"),
      T::integer("tokens", 1, 1e18, &R::tokens, "training.tokens", "tokens of the whole run"),
      T::integer("repetitions", 1, 10'001, &R::repetitions, "101",
                 "runs with other random failures, whose means and deciles are the result"),
      T::flag("step_range", &R::step_range, "true",
              "deciles of the days take in the stated range of the step time"),
      T::nested("warmup", "an object with steps and slowdown: the first steps after each start are slower"),
      T::nested("batch_ramp",
                "an object with start, increment, samples, as Megatron-LM's --rampup-batch-size"),
      T::nested("evaluation", "an object with interval_steps, and samples or duration_s"),
      T::nested("maintenance", "an object with interval_hours and duration_hours"),
      T::nested("checkpoint",
                "an object with interval_steps, interval_minutes or interval, mode, target, ...; or "
                "\"optimal\""),
      T::nested("failures",
                "the name of failure rates in the catalog, or an object with preset, components, ..."),
      T::nested("recovery", "an object with policy, hot_spares, cold_spares, detection_s, restart_s, ..."),
  };
  return fields;
}

const std::vector<Field<CheckpointPolicy>>& checkpoint_fields() {
  using C = CheckpointPolicy;
  using T = FieldTable<C>;
  static const std::vector<Field<C>> fields{
      T::integer("interval_steps", 1, kMostSteps, &C::interval_steps, "that of interval",
                 "steps from one checkpoint to the next"),
      T::number("interval_minutes", "min", 1e-3, 1e7, &C::interval_minutes, "that of interval",
                "the same as time of steps"),
      T::choice(
          "interval", {kCheckpointIntervalNames, nullptr, {}},
          +[](C& c, std::size_t i) { c.interval = static_cast<CheckpointInterval>(i); }, "young-daly",
          "how it is chosen: the square root of 2 x stall x time between failures, or the shortest "
          "simulated run"),
      T::choice(
          "mode", {kCheckpointModeNames, nullptr, {}},
          +[](C& c, std::size_t i) { c.mode = static_cast<CheckpointMode>(i); }, "sync",
          "when training goes on: after the write, or after the copy to the memory of hosts; multi-level: "
          "some go on to persistent_target"),
      T::choice(
          "target", {kCheckpointTargetNames, nullptr, {}},
          +[](C& c, std::size_t i) { c.target = static_cast<CheckpointTarget>(i); },
          "filesystem; memory for multi-level", "where checkpoints go"),
      T::choice(
          "persistent_target", {kCheckpointTargetNames, nullptr, {}},
          +[](C& c, std::size_t i) { c.persistent_target = static_cast<CheckpointTarget>(i); }, "filesystem",
          "multi-level: where some of them go on to"),
      T::integer("persist_every", 1, 1e9, &C::persist_every, "10",
                 "multi-level: checkpoints of the first level to one of the second"),
      T::flag("overlap_copy", &C::overlap_copy, "false",
              "copies to the memory of hosts run beside the next step"),
      T::number("bytes_per_parameter", "", 1e-3, 1e3, &C::bytes_per_parameter,
                "optimizer states, and weights where those hold no copy of them",
                "bytes of a checkpoint for each parameter"),
      T::number("stall_s", "s", 0, kMostSeconds, &C::stall_s, "from links and storage",
                "that training waits for a checkpoint"),
      T::number("save_s", "s", 0, kMostSeconds, &C::save_s, "from links and storage",
                "from the end of the stall until the checkpoint can be read"),
      T::number("load_s", "s", 0, kMostSeconds, &C::load_s, "from links and storage",
                "to read a checkpoint into all GPUs"),
  };
  return fields;
}

const std::vector<Field<ComponentFailures>>& component_failures_fields() {
  using C = ComponentFailures;
  using T = FieldTable<C>;
  static const std::vector<Field<C>> fields{
      T::number("mtbf_hours", "h", 1e-6, kMostHours, &C::mtbf_hours, "",
                "mean time to failure of one of them"),
      T::choice(
          "distribution", {kFailureLawNames, nullptr, {}},
          +[](C& c, std::size_t i) { c.law = static_cast<FailureLaw>(i); }, "exponential",
          "of times to failure; empirical: drawn from gaps_hours; fixed: as regularly as a clock"),
      T::number("shape", "", 0.1, 20, &C::shape, "", "weibull: below 1 the young fail more often"),
      T::number("age_hours", "h", 0, kMostHours, &C::age_hours, "0", "weibull: of all as the run begins"),
      T::nested("gaps_hours", "empirical: a list of hours from one failure of the kind to the next"),
      T::integer("units", 1, 1e9, &C::units,
                 "those of the cluster: a GPU, memory, NIC or cable each, a host and its software a node",
                 "how many there are"),
      T::choice(
          "takes", {kFailureReachNames, nullptr, {}},
          +[](C& c, std::size_t i) { c.reach = static_cast<FailureReach>(i); },
          "node; process for software, switch for switch",
          "what a failure takes away: processes, a node with its memory, all nodes of a switch"),
      T::number("repair_hours", "h", 0, 1e5, &C::repair_hours, "0: it serves again after the restart",
                "that a node is out of service"),
      T::number("detection_s", "s", 0, kMostSeconds, &C::detection_s, "recovery.detection_s",
                "until the run knows of it"),
  };
  return fields;
}

const std::vector<Field<HiddenFault>>& hidden_fault_fields() {
  using H = HiddenFault;
  using T = FieldTable<H>;
  static const std::vector<Field<H>> fields{
      T::number("mtbf_hours", "h", 1e-6, kMostHours, &H::mtbf_hours, "", "mean time to it of one GPU or NIC"),
      T::number("found_after_hours", "h", 0, 1e5, &H::found_after_hours, "1", "until somebody finds it"),
      T::number("speed", "", 0.001, 1, &H::speed, "0.7", "share of its speed that is left"),
  };
  return fields;
}

const std::vector<Field<Failures>>& failures_fields() {
  using F = Failures;
  using T = FieldTable<F>;
  static const std::vector<Field<F>> fields{
      T::text("preset", {}, "failure rates of the catalog that these change"),
      T::text("name", &F::preset, "of the catalog's entry"),
      T::nested("components", "an object with gpu, memory, nic, cable, switch, host, software"),
      T::nested("correlated", "an object with nodes_per_switch"),
      T::nested("slow_gpu", "an object with mtbf_hours, found_after_hours, speed: GPUs that slow all others"),
      T::nested("slow_link", "the same of NICs whose links lose speed"),
      T::nested("silent",
                "an object with mtbf_hours, found_after_hours: GPUs whose wrong results spoil training"),
      T::text("trace", &F::trace_file, "a CSV file with time_hours, component, node, repair_hours to replay"),
  };
  return fields;
}

const FieldInfo& nodes_per_switch_field() {
  static const FieldInfo field =
      FieldTable<Failures>::integer("nodes_per_switch", 1, kMostNodes, &Failures::nodes_per_switch,
                                    "as the fabric is wired, else 32", "nodes that fail with a switch");
  return field;
}

const std::vector<Field<Recovery>>& recovery_fields() {
  using R = Recovery;
  using T = FieldTable<R>;
  static const std::vector<Field<R>> fields{
      T::choice(
          "policy", {kRecoveryPolicyNames, nullptr, {}},
          +[](R& r, std::size_t i) { r.policy = static_cast<RecoveryPolicy>(i); }, "restart",
          "all wait for the node, or for a spare; start without its replicas; the other replicas go on; "
          "peers of its stage do its work"),
      T::integer("hot_spares", 0, kMostNodes, &R::hot_spares, "0", "nodes that are ready"),
      T::integer("cold_spares", 0, kMostNodes, &R::cold_spares, "0", "nodes that boot first"),
      T::number("detection_s", "s", 0, kMostSeconds, &R::detection_s, "60",
                "until a run knows that something failed"),
      T::number("restart_s", "s", 0, kMostSeconds, &R::restart_s, "300",
                "scheduler, processes, communicators, first kernels; without loading"),
      T::number("cold_start_s", "s", 0, kMostSeconds, &R::cold_start_s, "600", "of a cold spare"),
      T::number("reconfigure_s", "s", 0, kMostSeconds, &R::reconfigure_s, "10",
                "per-replica, reroute: those that go on wait for new communicators"),
      T::flag("keep_batch", &R::keep_batch, "false",
              "shrink: the replicas that are left take the whole batch"),
  };
  return fields;
}

const std::vector<Field<WarmUp>>& warm_up_fields() {
  using T = FieldTable<WarmUp>;
  static const std::vector<Field<WarmUp>> fields{
      T::integer("steps", 1, 1e6, &WarmUp::steps, "", "slower steps after each start"),
      T::number("slowdown", "", 1, 1e4, &WarmUp::slowdown, "", "time of one over that of the others"),
  };
  return fields;
}

const std::vector<Field<BatchRamp>>& batch_ramp_fields() {
  using T = FieldTable<BatchRamp>;
  static const std::vector<Field<BatchRamp>> fields{
      T::integer("start", 1, kMaxBatch, &BatchRamp::start, "", "samples of the first steps"),
      T::integer("increment", 1, kMaxBatch, &BatchRamp::increment, "", "samples more at a time"),
      T::integer("samples", 1, 1e15, &BatchRamp::samples, "", "until the batch is global_batch_size"),
  };
  return fields;
}

const std::vector<Field<Evaluation>>& evaluation_fields() {
  using T = FieldTable<Evaluation>;
  static const std::vector<Field<Evaluation>> fields{
      T::integer("interval_steps", 1, kMostSteps, &Evaluation::interval_steps, "", "from one to the next"),
      T::integer("samples", 1, 1e12, &Evaluation::samples, "none",
                 "whose forward passes take a third of their share of a step"),
      T::number("duration_s", "s", 0, kMostSeconds, &Evaluation::duration_s, "that of samples", "of one"),
  };
  return fields;
}

const std::vector<Field<Maintenance>>& maintenance_fields() {
  using T = FieldTable<Maintenance>;
  static const std::vector<Field<Maintenance>> fields{
      T::number("interval_hours", "h", 0.01, 1e6, &Maintenance::interval_hours, "", "from one to the next"),
      T::number("duration_hours", "h", 0, 1e4, &Maintenance::duration_hours, "",
                "of one, before the restart"),
  };
  return fields;
}

const std::vector<Field<Storage>>& storage_fields() {
  using S = Storage;
  using T = FieldTable<S>;
  const auto rate = [](std::string_view name, double S::*member, std::string_view fallback,
                       std::string_view help) {
    return T::number(name, "GB/s", 1e-6, kMostGbPerS, member, fallback, help);
  };
  static const std::vector<Field<S>> fields{
      rate("local_write_gb_per_s", &S::local_write_gb_per_s, "32", "to the disks of a node"),
      rate("local_read_gb_per_s", &S::local_read_gb_per_s, "54", "from them"),
      rate("filesystem_write_gb_per_s", &S::filesystem_write_gb_per_s, "0.625 a node",
           "to the parallel file system, of all nodes together"),
      rate("filesystem_read_gb_per_s", &S::filesystem_read_gb_per_s, "1.25 a node", "from it"),
      rate("object_store_write_gb_per_s", &S::object_store_write_gb_per_s, "as the file system",
           "to the object store, of all nodes together"),
      rate("object_store_read_gb_per_s", &S::object_store_read_gb_per_s, "as the file system", "from it"),
      rate("node_gb_per_s", &S::node_gb_per_s, "the rate of its NICs",
           "most of one node to file system or object store, and from them"),
      rate("writer_gb_per_s", &S::writer_gb_per_s, "no limit",
           "most that one process writes, as serialization and its stream allow"),
      T::number("latency_s", "s", 0, 1e6, &S::latency_s, "0", "opening and commit of a checkpoint, once"),
  };
  return fields;
}

}  // namespace orrery
