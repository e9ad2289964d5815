// The result of weeks of training as text, JSON, CSV and a Chrome trace.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/long_run/closed_forms.hpp"
#include "studies/long_run/writers.hpp"

namespace orrery {
namespace {

using Tree = nlohmann::ordered_json;

/// Figures by key; nullopt: unknown, or the run does not end.
using RunFigures = std::vector<std::pair<std::string, std::optional<double>>>;

double run_seconds(LongPicoseconds time) { return static_cast<double>(time) * 1e-12; }

/// The interval in force, in seconds of training.
double interval_in_force_s(const LongRunResult& result) {
  const RunModel& model = result.prepared.model;
  return static_cast<double>(model.checkpoint.interval_steps) * to_seconds(model.levels.back().step_ps);
}

std::string_view policy_of(const LongRunResult& result) {
  return kRecoveryPolicyNames[static_cast<std::size_t>(result.prepared.model.policy)];
}

RunFigures figures_of_run(const LongRunResult& result) {
  const bool done = result.ends();
  const Report& step = result.prepared.step;
  const auto when = [](bool known, auto value) {
    std::optional<double> figure;
    if (known) figure = value();
    if (figure && !std::isfinite(*figure)) figure.reset();
    return figure;
  };
  return {
      {"goodput", when(done, [&] { return result.goodput(); })},
      {"effective_training_time_ratio", when(done, [&] { return result.training_share(); })},
      {"days", when(done, [&] { return result.mean_days(); })},
      {"days_p10", when(done, [&] { return result.days_quantile(0.1); })},
      {"days_p50", when(done, [&] { return result.days_quantile(0.5); })},
      {"days_p90", when(done, [&] { return result.days_quantile(0.9); })},
      {"days_without_interruptions",
       when(step.makespan_ps > 0, [&] { return run_seconds(result.prepared.model.ideal_ps()) / 86'400; })},
      {"interruptions", when(done, [&] { return result.totals.mean(result.totals.interruptions); })},
      {"mean_hours_between_failures",
       when(result.mean_hours_between_stops() > 0, [&] { return result.mean_hours_between_stops(); })},
      {"mfu", when(done, [&] { return result.mfu(); })},
      {"cost_usd", when(done && step.usd_per_hour > 0, [&] { return result.cost_usd(); })},
      {"energy_kwh", when(done && step.power_w > 0, [&] { return result.energy_kwh(); })},
  };
}

RunFigures lost_times(const LongRunResult& result) {
  RunFigures times;
  for (std::size_t use = 1; use < kTimeUseCount; ++use)
    times.emplace_back(kTimeUseNames[use], result.totals.mean_s(result.totals.time_ps[use]));
  return times;
}

RunFigures failure_counts(const LongRunResult& result) {
  RunFigures counts;
  const std::vector<FailureKind>& kinds = result.prepared.model.kinds;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    if (result.totals.failures[kind] > 0)
      counts.emplace_back(kinds[kind].name, result.totals.mean(result.totals.failures[kind]));
  return counts;
}

/// The terms of failures without memory after which all start again.
RenewalTerms terms_of_run(const LongRunResult& result) {
  const RunModel& model = result.prepared.model;
  double detection = 0;
  for (const FailureKind& kind : model.kinds)
    if (kind.mean_ps > 0)
      detection += static_cast<double>(kind.units) / kind.mean_ps * static_cast<double>(kind.detection_ps);
  const double rate = model.stops_per_ps();
  const double restart = to_seconds(model.restart_ps + model.checkpoint.first.load_ps) * 1e12;
  return {interval_in_force_s(result) * 1e12, static_cast<double>(model.checkpoint.stall_ps),
          restart + (rate > 0 ? detection / rate : 0), rate};
}

/// Figures on paper, where the run restarts from checkpoints.
RunFigures laws_of_run(const LongRunResult& result) {
  RunFigures laws;
  if (result.intervals.young_s > 0) {
    laws.emplace_back("young_interval_s", result.intervals.young_s);
    laws.emplace_back("daly_interval_s", result.intervals.daly_s);
  }
  const RunModel& model = result.prepared.model;
  const bool restarts = model.checkpoint.interval_steps > 0 && model.policy <= RecoveryPolicy::spares;
  const RenewalTerms terms = terms_of_run(result);
  if (!restarts || terms.rate == 0) return laws;
  laws.emplace_back("first_order_effective_training_time_ratio", first_order_training_share(terms));
  laws.emplace_back("renewal_effective_training_time_ratio", renewal_training_share(terms));
  return laws;
}

RunFigures checkpoint_figures(const LongRunResult& result) {
  const CheckpointModel& checkpoint = result.prepared.model.checkpoint;
  const CheckpointSize& size = result.prepared.checkpoint;
  if (checkpoint.interval_steps == 0) return {};
  RunFigures out{{"bytes", static_cast<double>(size.bytes)},
                 {"bytes_per_writer", static_cast<double>(size.writer_bytes)},
                 {"writers", static_cast<double>(size.writers)},
                 {"interval_steps", static_cast<double>(checkpoint.interval_steps)},
                 {"interval_s", interval_in_force_s(result)},
                 {"stall_s", to_seconds(checkpoint.stall_ps)},
                 {"save_s", to_seconds(checkpoint.first.save_ps)},
                 {"load_s", to_seconds(checkpoint.first.load_ps)}};
  if (checkpoint.second) {
    out.emplace_back("persistent_save_s", to_seconds(checkpoint.second->save_ps));
    out.emplace_back("persistent_load_s", to_seconds(checkpoint.second->load_ps));
  }
  if (result.intervals.optimal_steps > 0)
    out.emplace_back("optimal_interval_steps", static_cast<double>(result.intervals.optimal_steps));
  out.emplace_back("written", result.totals.mean(result.totals.checkpoints));
  return out;
}

/// Adds figures to an object; whole numbers as such.
void add_figures(const RunFigures& figures, Tree& object) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  for (const auto& [key, value] : figures) {
    object[key] = nullptr;
    if (!value) continue;
    const bool whole = *value == std::floor(*value) && std::abs(*value) < kExact;
    if (whole) {
      object[key] = static_cast<std::int64_t>(*value);
    } else {
      object[key] = *value;
    }
  }
}

void add_part(const char* key, const RunFigures& figures, Tree& object) {
  object[key] = nullptr;
  if (figures.empty()) return;
  object[key] = Tree::object();
  add_figures(figures, object[key]);
}

std::string time_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.4g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.4g} min", seconds / 60);
  if (seconds < 172'800) return fmt::format("{:.4g} h", seconds / 3600);
  return fmt::format("{:.4g} days", seconds / 86'400);
}

std::string bytes_text(Bytes bytes) {
  const auto value = static_cast<double>(bytes);
  return value >= 1e12 ? fmt::format("{:.4g} TB", value / 1e12) : fmt::format("{:.4g} GB", value / 1e9);
}

std::string share_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

class LongRunText {
 public:
  explicit LongRunText(const LongRunResult& result) : result_(result), step_(result.prepared.step) {}

  std::string text() {
    line("experiment", step_.name);
    for (const std::string& reason : step_.reasons) line("not feasible", reason);
    if (step_.makespan_ps == 0) return out_;
    line("steps",
         fmt::format("{} of {:.4g} s, {} without interruptions", result_.prepared.model.steps(),
                     step_.step_time_s(), time_text(run_seconds(result_.prepared.model.ideal_ps()))));
    failures();
    checkpoints();
    out_ += "\n";
    if (!result_.never_ends.empty()) return out_ + result_.never_ends + "\n";
    outcome();
    times();
    return out_;
  }

 private:
  void line(std::string_view name, std::string_view value) { out_ += fmt::format("{:<16}{}\n", name, value); }

  void failures() {
    if (result_.mean_hours_between_stops() == 0) return;
    line("failures", fmt::format("one in {} on average; recovery: {}",
                                 time_text(3600 * result_.mean_hours_between_stops()), policy_of(result_)));
  }

  void checkpoints() {
    const CheckpointModel& checkpoint = result_.prepared.model.checkpoint;
    if (checkpoint.interval_steps == 0) return;
    line("checkpoints",
         fmt::format("{} every {} steps, {}; stall {}, load {}",
                     bytes_text(result_.prepared.checkpoint.bytes), checkpoint.interval_steps,
                     time_text(interval_in_force_s(result_)), time_text(to_seconds(checkpoint.stall_ps)),
                     time_text(to_seconds(checkpoint.first.load_ps))));
    if (result_.intervals.young_s > 0)
      line("", fmt::format("by Young's law every {}, by Daly's {}", time_text(result_.intervals.young_s),
                           time_text(result_.intervals.daly_s)));
  }

  void outcome() {
    line("days",
         fmt::format("{:.2f}; p10 {:.2f}, p50 {:.2f}, p90 {:.2f}", result_.mean_days(),
                     result_.days_quantile(0.1), result_.days_quantile(0.5), result_.days_quantile(0.9)));
    line("goodput", fmt::format("{}, effective training time {}", share_text(result_.goodput()),
                                share_text(result_.training_share())));
    line("MFU",
         fmt::format("{} of the run, {} of a step", share_text(result_.mfu()), share_text(step_.mfu())));
    line("interruptions",
         fmt::format("{:.1f}{}", result_.totals.mean(result_.totals.interruptions), kinds()));
    if (step_.usd_per_hour > 0) line("cost", fmt::format("{:.4g} USD", result_.cost_usd()));
    if (step_.power_w > 0) line("energy", fmt::format("{:.4g} kWh at most", result_.energy_kwh()));
  }

  [[nodiscard]] std::string kinds() const {
    std::string list;
    for (const auto& [name, count] : failure_counts(result_))
      list += fmt::format("{}{} {:.1f}", list.empty() ? ": " : ", ", name, *count);
    return list;
  }

  void times() {
    out_ += fmt::format("\ntime, mean of {} runs\n", result_.totals.repetitions);
    for (std::size_t use = 0; use < kTimeUseCount; ++use) {
      const double time = result_.totals.mean_s(result_.totals.time_ps[use]);
      std::string name(kTimeUseNames[use]);
      for (char& c : name) c = c == '_' ? ' ' : c;
      if (time > 0)
        out_ +=
            fmt::format("  {:<14}{:>12}{:>10}\n", name, time_text(time), share_text(time / result_.wall_s()));
    }
  }

  const LongRunResult& result_;
  const Report& step_;
  std::string out_;
};

std::vector<std::string> reasons_of_run(const LongRunResult& result) {
  std::vector<std::string> reasons = result.prepared.step.reasons;
  if (!result.never_ends.empty()) reasons.push_back(result.never_ends);
  return reasons;
}

}  // namespace

std::string long_run_text(const LongRunResult& result) { return LongRunText(result).text(); }

std::string long_run_json(const LongRunResult& result) {
  const Report& step = result.prepared.step;
  const bool ran = result.totals.repetitions > 0;
  Tree out = Tree::object();
  out["name"] = step.name;
  out["feasible"] = result.feasible();
  out["reasons"] = reasons_of_run(result);
  add_figures(figures_of_run(result), out);
  RunFigures times{{"wall_time_s", std::nullopt}, {"useful_time_s", std::nullopt}};
  if (ran)
    times = {{"wall_time_s", result.wall_s()}, {"useful_time_s", result.totals.seconds(TimeUse::useful)}};
  add_figures(times, out);
  add_part("lost_time_s", ran ? lost_times(result) : RunFigures{}, out);
  add_part("failures", ran ? failure_counts(result) : RunFigures{}, out);
  add_part("checkpoint", ran ? checkpoint_figures(result) : RunFigures{}, out);
  add_part("laws", ran ? laws_of_run(result) : RunFigures{}, out);
  out["recovery"] = policy_of(result);
  out["repetitions"] = result.totals.repetitions;
  out["steps"] = result.prepared.model.steps();
  out["step_time_s"] = step.step_time_s();
  out["gpus"] = step.gpus;
  out["spare_nodes"] = result.nodes() - result.experiment.cluster.nodes;
  return out.dump(2, ' ', false, Tree::error_handler_t::replace) + "\n";
}

std::string long_run_csv(const LongRunResult& result) {
  Tree row = Tree::object();
  row["feasible"] = result.feasible();
  add_figures(figures_of_run(result), row);
  if (result.totals.repetitions > 0) {
    RunFigures more{{"wall_time_s", result.wall_s()},
                    {"useful_time_s", result.totals.seconds(TimeUse::useful)}};
    for (const auto& [key, value] : lost_times(result)) more.emplace_back("lost_time_s." + key, value);
    add_figures(more, row);
  }
  std::string names;
  std::string values;
  for (const auto& [key, value] : row.items()) {
    names += (names.empty() ? "" : ",") + key;
    values += (values.empty() ? "" : ",") + (value.is_null() ? std::string() : value.dump());
  }
  return names + "\n" + values + "\n";
}

std::string long_run_trace(const LongRunResult& result) {
  std::string out =
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"training run\"}}";
  for (const RunSpan& span : result.shown.spans) {
    const bool steps = span.use == TimeUse::useful;
    out += fmt::format(",\n{{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"name\":\"{}\",\"ts\":{:.6f},\"dur\":{:.6f}}}",
                       steps ? "steps" : kTimeUseNames[static_cast<std::size_t>(span.use)],
                       static_cast<double>(span.begin) * 1e-6,
                       static_cast<double>(span.end - span.begin) * 1e-6);
  }
  return out + "\n]}\n";
}

}  // namespace orrery
