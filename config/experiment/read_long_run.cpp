// `run`: the weeks of training that the step of an experiment is part of.
#include "config/experiment/read_long_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMostGaps = 100'000;

class LongRunReader {
 public:
  LongRunReader(const Json& value, const Path& path, Resolver& resolver, Scope& scope)
      : value_(value), path_(path), resolver_(resolver), scope_(scope) {}

  LongRun read() {
    failures_of(FailureComponent::software).reach = FailureReach::process;
    failures_of(FailureComponent::network_switch).reach = FailureReach::group;
    read_fields(value_, long_run_fields(), run_, path_, scope_);
    if (!value_.is_object()) return run_;
    refuse_both(value_, path_, "steps", "tokens");
    read_part(value_, path_, "warmup", warm_up_fields(), run_.warmup, {"steps", "slowdown"});
    read_part(value_, path_, "batch_ramp", batch_ramp_fields(), run_.batch_ramp,
              {"start", "increment", "samples"});
    read_part(value_, path_, "maintenance", maintenance_fields(), run_.maintenance,
              {"interval_hours", "duration_hours"});
    read_part(value_, path_, "recovery", recovery_fields(), run_.recovery, {});
    read_evaluation();
    read_checkpoint();
    if (const auto failures = value_.find("failures"); failures != value_.end())
      read_failures(*failures, Path(path_, "failures"));
    check_recovery();
    return run_;
  }

 private:
  template <class Part>
  bool read_part(const Json& owner, const Path& path, std::string_view key,
                 const std::vector<Field<Part>>& fields, Part& part,
                 std::initializer_list<std::string_view> needed) {
    const auto given = owner.find(key);
    if (given == owner.end()) return false;
    const Path here(path, key);
    read_fields(*given, fields, part, here, scope_);
    if (!given->is_object()) return false;
    for (const std::string_view name : needed) require(*given, fields, name, key, here, scope_);
    return true;
  }

  void refuse_both(const Json& owner, const Path& path, std::string_view one, std::string_view other) {
    if (owner.contains(one) && owner.contains(other))
      scope_.findings.add(Path(path, other), fmt::format("found beside {}, allowed one of them", one),
                          Anchor::key);
  }

  void read_evaluation() {
    if (!read_part(value_, path_, "evaluation", evaluation_fields(), run_.evaluation, {"interval_steps"}))
      return;
    const Path path(path_, "evaluation");
    const Json& given = value_["evaluation"];
    refuse_both(given, path, "samples", "duration_s");
    if (!given.contains("samples") && !given.contains("duration_s"))
      require(given, evaluation_fields(), "duration_s", "evaluation without samples", path, scope_);
  }

  /// A name stands for the interval.
  void read_checkpoint() {
    const auto found = value_.find("checkpoint");
    if (found == value_.end()) return;
    const Path path(path_, "checkpoint");
    CheckpointPolicy& policy = run_.checkpoint.emplace();
    Json given = found->is_string() ? Json{{"interval", *found}} : *found;
    if (given.is_object()) take_chosen_interval(given);
    read_fields(given, checkpoint_fields(), policy, path, scope_);
    if (!given.is_object()) return;
    if (given.contains("interval_steps") || given.contains("interval_minutes"))
      policy.interval = CheckpointInterval::given;
    refuse_both(given, path, "interval_steps", "interval_minutes");
    refuse_both(given, path, "interval_steps", "interval");
    refuse_both(given, path, "interval_minutes", "interval");
    check_levels(given, policy, path);
  }

  /// "optimal" in place of a number of steps or minutes.
  static void take_chosen_interval(Json& given) {
    for (const char* key : {"interval_steps", "interval_minutes"}) {
      const auto found = given.find(key);
      if (found == given.end() || !found->is_string()) continue;
      const auto& text = found->get_ref<const std::string&>();
      if (std::ranges::find(kCheckpointIntervalNames, text) == kCheckpointIntervalNames.end()) continue;
      Json name = *found;
      given.erase(key);
      given["interval"] = std::move(name);
    }
  }

  void check_levels(const Json& given, CheckpointPolicy& policy, const Path& path) {
    const bool levels = policy.mode == CheckpointMode::multi_level;
    if (levels && !given.contains("target")) policy.target = CheckpointTarget::memory;
    for (const char* key : {"persistent_target", "persist_every"})
      if (!levels && given.contains(key))
        scope_.findings.add(Path(path, key), "found without mode multi-level, which alone has two levels",
                            Anchor::key);
    if (policy.mode == CheckpointMode::sync && policy.overlap_copy)
      scope_.findings.add(Path(path, "overlap_copy"),
                          "found true with mode sync, allowed with async, multi-level");
    if (!levels) return;
    const auto lasts = [](CheckpointTarget target) { return target >= CheckpointTarget::filesystem; };
    if (lasts(policy.target))
      scope_.findings.add(
          Path(path, "target"),
          "found a shared store with mode multi-level, allowed memory, peer, local; it is the "
          "persistent_target");
    if (!lasts(policy.persistent_target))
      scope_.findings.add(Path(path, "persistent_target"),
                          "allowed filesystem, object-store, which outlive nodes");
  }

  // --- failures -----------------------------------------------------------------------------------------

  void read_failures(const Json& given, const Path& path) {
    Json value = given.is_string() ? Json{{"base", given}} : given;
    if (value.is_object() && value.contains("preset")) {
      Json name = value["preset"];
      value.erase("preset");
      value["base"] = std::move(name);
    }
    const Json own = value;
    if (value.is_object()) value = resolver_.resolve(CatalogKind::failure, value, path);
    if (value.is_null()) return;
    drop_other_laws(own, value);
    Failures& failures = run_.failures;
    read_fields(value, failures_fields(), failures, path, scope_);
    if (!value.is_object()) return;
    read_components(value, Path(path, "components"));
    read_part(value, path, "slow_gpu", hidden_fault_fields(), failures.slow_gpu, {"mtbf_hours", "speed"});
    read_part(value, path, "slow_link", hidden_fault_fields(), failures.slow_link, {"mtbf_hours", "speed"});
    read_part(value, path, "silent", hidden_fault_fields(), failures.silent, {"mtbf_hours"});
    if (const auto silent = value.find("silent"); silent != value.end() && silent->contains("speed"))
      scope_.findings.add(Path(Path(path, "silent"), "speed"), "found, but silent faults slow nothing",
                          Anchor::key);
    read_correlation(value, Path(path, "correlated"));
    if (!failures.trace_file.empty())
      failures.trace = read_failure_trace(failures.trace_file, Path(path, "trace"), scope_);
  }

  /// A distribution that is given takes the place of the preset's, with the keys that it does not have.
  static void drop_other_laws(const Json& own, Json& merged) {
    const auto is_object = [](const Json& owner, const char* key) {
      return owner.is_object() && owner.contains(key) && owner[key].is_object();
    };
    if (!is_object(own, "components") || !is_object(merged, "components")) return;
    for (const auto& [name, component] : own["components"].items()) {
      if (!component.is_object() || !component.contains("distribution")) continue;
      const Json& law = component["distribution"];
      const bool drawn = law == kFailureLawNames[static_cast<std::size_t>(FailureLaw::empirical)];
      const bool ages = law == kFailureLawNames[static_cast<std::size_t>(FailureLaw::weibull)];
      const auto drop = [&, &known = component, &of = name](const char* key, bool has) {
        if (!has && !known.contains(key)) merged["components"][of].erase(key);
      };
      for (const char* key : {"shape", "age_hours"}) drop(key, ages);
      for (const char* key : {"mtbf_hours", "units"}) drop(key, !drawn);
      drop("gaps_hours", drawn);
    }
  }

  void read_correlation(const Json& value, const Path& path) {
    const auto given = value.find("correlated");
    if (given == value.end() || !expect_object(*given, path, scope_)) return;
    for (const auto& [key, number] : given->items()) {
      const FieldInfo& field = nodes_per_switch_field();
      if (key != field.name) {
        report_unknown_key(key, {field.name}, Path(path, key), scope_);
      } else if (const auto nodes = read_integer(number, field, Path(path, key), scope_)) {
        run_.failures.nodes_per_switch = *nodes;
      }
    }
  }

  ComponentFailures& failures_of(FailureComponent component) {
    return run_.failures.of[static_cast<std::size_t>(component)];
  }

  void read_components(const Json& value, const Path& path) {
    const auto given = value.find("components");
    if (given == value.end() || !expect_object(*given, path, scope_)) return;
    for (const auto& [key, component] : given->items()) {
      const Path here(path, key);
      const auto known = std::ranges::find(kFailureComponentNames, key);
      if (known == kFailureComponentNames.end()) {
        report_unknown_key(key, {kFailureComponentNames.begin(), kFailureComponentNames.end()}, here, scope_);
      } else {
        const auto which = known - kFailureComponentNames.begin();
        read_component(component, static_cast<FailureComponent>(which), here);
      }
    }
  }

  void read_component(const Json& given, FailureComponent component, const Path& path) {
    ComponentFailures& failures = failures_of(component);
    read_fields(given, component_failures_fields(), failures, path, scope_);
    if (!given.is_object()) return;
    const bool drawn = failures.law == FailureLaw::empirical;
    const bool ages = failures.law == FailureLaw::weibull;
    if (!drawn)
      require(given, component_failures_fields(), "mtbf_hours", "a component that fails", path, scope_);
    if (ages) require(given, component_failures_fields(), "shape", "weibull", path, scope_);
    for (const char* key : {"shape", "age_hours"})
      if (!ages && given.contains(key)) refuse_key(path, key, "weibull");
    if (drawn && given.contains("mtbf_hours")) refuse_other(path, "mtbf_hours");
    if (drawn && given.contains("units")) refuse_other(path, "units");
    if (given.contains("gaps_hours") && !drawn) return refuse_key(path, "gaps_hours", "empirical");
    if (drawn) read_gaps(given, failures, path);
  }

  void refuse_key(const Path& path, std::string_view key, std::string_view law) {
    scope_.findings.add(Path(path, key),
                        fmt::format("found without distribution {}, which alone has it", law), Anchor::key);
  }
  void refuse_other(const Path& path, std::string_view key) {
    scope_.findings.add(Path(path, key), "found with distribution empirical, whose gaps_hours say all",
                        Anchor::key);
  }

  void read_gaps(const Json& given, ComponentFailures& failures, const Path& path) {
    const Path list(path, "gaps_hours");
    const auto gaps = given.find("gaps_hours");
    static const FieldInfo field = FieldTable<ComponentFailures>::number(
        "gaps_hours", "h", 1e-9, 1e9, &ComponentFailures::mtbf_hours, "", "from one failure to the next");
    if (gaps == given.end() || !gaps->is_array() || gaps->empty() || gaps->size() > kMostGaps) {
      scope_.findings.add(list, fmt::format("found {}, allowed a list of 1 to {} numbers of hours",
                                            gaps == given.end() ? "none" : described(*gaps), kMostGaps));
      return;
    }
    for (std::size_t i = 0; i < gaps->size(); ++i)
      if (const auto gap = read_number((*gaps)[i], field, Path(list, i), scope_))
        failures.gaps_hours.push_back(*gap);
  }

  void check_recovery() {
    const auto given = value_.find("recovery");
    if (given == value_.end() || !given->is_object()) return;
    const Path path(path_, "recovery");
    const RecoveryPolicy policy = run_.recovery.policy;
    const auto refuse = [&](const char* key, bool works, std::string_view allowed) {
      if (works || !given->contains(key)) return;
      scope_.findings.add(Path(path, key),
                          fmt::format("found with policy {}, allowed with {}",
                                      kRecoveryPolicyNames[static_cast<std::size_t>(policy)], allowed),
                          Anchor::key);
    };
    const bool spares = policy != RecoveryPolicy::restart;
    for (const char* key : {"hot_spares", "cold_spares", "cold_start_s"})
      refuse(key, spares, "spares, shrink, per-replica, reroute");
    const bool goes_on = policy == RecoveryPolicy::per_replica || policy == RecoveryPolicy::reroute;
    refuse("reconfigure_s", goes_on, "per-replica, reroute");
    refuse("keep_batch", policy == RecoveryPolicy::shrink, "shrink");
  }

  const Json& value_;
  const Path& path_;
  Resolver& resolver_;
  Scope& scope_;
  LongRun run_;
};

}  // namespace

LongRun read_long_run(const Json& value, const Path& path, Resolver& resolver, Scope& scope) {
  return LongRunReader(value, path, resolver, scope).read();
}

}  // namespace orrery
