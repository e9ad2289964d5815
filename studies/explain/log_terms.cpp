#include "studies/explain/log_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "orrery/write.hpp"
#include "reports/step_difference.hpp"

namespace orrery {
namespace {

Picoseconds seconds_to_ps(double seconds) { return static_cast<Picoseconds>(std::llround(seconds * 1e12)); }

/// Times of steps that a log says, or that follow from its throughput.
std::vector<double> steps_of(const TrainingLog& log, const Report& report) {
  if (!log.step_s.values.empty()) return log.step_s.settled();
  std::vector<double> steps;
  const double tokens = static_cast<double>(report.tokens_per_step) / static_cast<double>(report.gpus);
  for (const double rate : log.tokens_per_s_per_gpu.settled()) steps.push_back(tokens / rate);
  if (!steps.empty()) return steps;
  for (const double rate : log.samples_per_s.settled())
    steps.push_back(static_cast<double>(report.samples_per_step) / rate);
  return steps;
}

void check_sizes(const TrainingLog& log, const Report& report, Explanation& to) {
  const auto differ = [](std::optional<double> a, std::int64_t b) {
    return a && std::abs(*a - static_cast<double>(b)) > 0.5;
  };
  if (differ(log.global_batch_size, report.samples_per_step))
    to.unmatched.push_back(fmt::format("{}: a global batch of {:.0f}, the experiment has {}", log.source,
                                       *log.global_batch_size, report.samples_per_step));
  if (differ(log.gpus, report.gpus))
    to.unmatched.push_back(
        fmt::format("{}: {:.0f} GPUs, the experiment has {}", log.source, *log.gpus, report.gpus));
}

std::int64_t term_value(const StepTerms& terms, std::string_view name) {
  const auto found = std::ranges::find(terms, name, &StepTerm::name);
  return found == terms.end() ? 0 : found->value;
}

/// The median of a timer after warm-up; nullopt if the log does not have it.
std::optional<double> timer(const TrainingLog& log, std::string_view name) {
  const auto found = log.timers_s.find(std::string(name));
  if (found == log.timers_s.end() || found->second.values.empty()) return std::nullopt;
  return spread_of(found->second.settled()).median;
}

class LogExplainer {
 public:
  LogExplainer(const TrainingLog& log, const Report& report, Explanation& to)
      : log_(log), parts_(step_parts(report)), to_(to) {}

  void run() {
    rest_measured_ = to_.measured_ps;
    rest_simulated_ = to_.simulated_ps;
    take_timers();
    add("not attributed", rest_measured_, rest_simulated_);
    std::ranges::stable_sort(to_.terms, std::greater<>(),
                             [](const ExplainedTerm& term) { return std::abs(term.more_ps()); });
    to_.confidence = to_.terms.size() > 1
                         ? "medium: timers of the log split the step, no trace says why they are longer"
                         : "low: the log has one number a step; a trace of two steps says where it goes";
  }

 private:
  /// Megatron's outer timers do not overlap each other: they are set against what the simulation does in
  /// that time. Loading is within the passes.
  void take_timers() {
    const auto loading = timer(log_, "batch-generator");
    if (loading) take("data_loading", *loading, 0);
    if (const auto passes = timer(log_, "forward-backward"))
      take("passes", *passes - loading.value_or(0), of_passes());
    const auto sync = timer(log_, "all-grads-sync");
    if (sync) take("gradient and parameter messages", *sync, term_value(parts_.breakdown, "exposed_data"));
    if (const auto optimizer = timer(log_, "optimizer"))
      take("optimizer", *optimizer, term_value(parts_.breakdown, "optimizer"));
  }
  [[nodiscard]] Picoseconds of_passes() const {
    Picoseconds sum = 0;
    for (const StepTerm& term : parts_.breakdown)
      if (term.name != "optimizer" && term.name != "exposed_data") sum += term.value;
    return sum;
  }
  void take(const std::string& name, double seconds, Picoseconds simulated) {
    rest_measured_ -= seconds_to_ps(seconds);
    rest_simulated_ -= simulated;
    add(name, seconds_to_ps(seconds), simulated);
  }
  void add(const std::string& name, Picoseconds measured, Picoseconds simulated) {
    if (measured != 0 || simulated != 0) to_.terms.push_back({name, measured, simulated, {}});
  }

  const TrainingLog& log_;
  StepParts parts_;
  Explanation& to_;
  Picoseconds rest_measured_ = 0;
  Picoseconds rest_simulated_ = 0;
};

/// Lists how long each part of the step would have to take to explain the difference alone.
void add_candidates(const Report& report, Explanation& to) {
  const StepParts parts = step_parts(report);
  for (const StepTerm& term : parts.breakdown) {
    const double factor =
        1 + static_cast<double>(to.more_ps()) / static_cast<double>(std::max<std::int64_t>(term.value, 1));
    const bool could = term.value * 20 > to.simulated_ps && factor > 0;
    if (!could || std::abs(factor - 1) < 0.005) continue;
    ExplainedCause finding;
    finding.cause = term.name;
    finding.factor = factor;
    finding.sentence = fmt::format("if it were all in {}, that would take {:.3g} times as long as simulated",
                                   term.name, factor);
    to.findings.push_back(std::move(finding));
  }
}

}  // namespace

void explain_logs(const Experiment& experiment, const std::vector<TrainingLog>& logs, Explanation& to) {
  const Report report = simulate(experiment);
  std::vector<double> steps;
  for (const TrainingLog& log : logs) {
    check_sizes(log, report, to);
    const std::vector<double> own = steps_of(log, report);
    to.read.push_back(fmt::format("{}: {} steps of {}, {} after warm-up", log.source,
                                  std::max({log.step_s.values.size(), log.samples_per_s.values.size(),
                                            log.tokens_per_s_per_gpu.values.size()}),
                                  log.framework, own.size()));
    steps.insert(steps.end(), own.begin(), own.end());
  }
  const Spread spread = spread_of(steps);
  to.steps = static_cast<std::int64_t>(steps.size());
  to.measured_ps = seconds_to_ps(spread.median);
  to.measured_s_p10 = spread.p10;
  to.measured_s_p90 = spread.p90;
  to.simulated_ps = step_parts(report).step_ps;
  LogExplainer(logs.front(), report, to).run();
  if (to.terms.size() == 1) add_candidates(report, to);
}

void explain_serving(const Experiment& experiment, const std::vector<ServingMeasurement>& all,
                     Explanation& to) {
  if (!experiment.inference)
    throw InputError({Diagnostic{all.front().source, 0, 0, "",
                                 "holds measurements of requests, but the experiment trains: it has no "
                                 "inference"}});
  const Report report = simulate(experiment);
  to.unit = "request";
  if (!report.serving || report.serving->duration_ps == 0) {
    to.unmatched.push_back("the simulated plan serves no requests");
    return;
  }
  const ServingMeasurement& measured = all.front();
  to.read.push_back(measured.source + ": latencies and rates of requests");
  for (const ResultFigure& figure : result_figures(report, ResultSelection())) {
    const auto found = measured.figures.find(figure.key);
    if (found != measured.figures.end() && figure.value)
      to.figures.push_back({figure.key, found->second, *figure.value});
  }
  const auto figure = [&](const std::string& key) -> const ExplainedFigure* {
    const auto found = std::ranges::find(to.figures, key, &ExplainedFigure::key);
    return found == to.figures.end() ? nullptr : &*found;
  };
  const ExplainedFigure* first = figure("ttft_s");
  const ExplainedFigure* later = figure("tpot_s");
  const bool counted = measured.requests > 0 && measured.output_tokens > measured.requests;
  if (first == nullptr || later == nullptr || !counted) {
    to.confidence = "low: without times to the first token and per token no request can be split";
    return;
  }
  const Serving& serving = *report.serving;
  const double tokens = measured.output_tokens / measured.requests - 1;
  const double own = static_cast<double>(serving.output_tokens) / static_cast<double>(serving.requests) - 1;
  const ExplainedFigure* all_of_it = figure("end_to_end_s");
  const double ours = serving.end_to_end_s.mean;
  const double theirs =
      all_of_it != nullptr ? all_of_it->measured : first->measured + tokens * later->measured;
  to.measured_ps = seconds_to_ps(theirs);
  to.simulated_ps = seconds_to_ps(ours);
  to.steps = static_cast<std::int64_t>(measured.requests);
  Picoseconds rest = to.measured_ps - seconds_to_ps(first->measured);
  Picoseconds rest_own = to.simulated_ps - seconds_to_ps(first->simulated);
  to.terms.push_back(
      {"time to the first token", seconds_to_ps(first->measured), seconds_to_ps(first->simulated), {}});
  // Tokens are as many as were measured on both sides; what other lengths of requests do stands apart.
  const Picoseconds decode = seconds_to_ps(tokens * later->measured);
  const Picoseconds decode_own = seconds_to_ps(tokens * later->simulated);
  to.terms.push_back({"later tokens", decode, decode_own, {}});
  rest -= decode;
  rest_own -= decode_own;
  to.terms.push_back({"other lengths of requests, and means of quotients", rest, rest_own, {}});
  if (std::abs(tokens / std::max(own, 1e-9) - 1) > 0.02)
    to.unmatched.push_back(
        fmt::format("a request has {:.1f} output tokens measured, {:.1f} simulated", tokens + 1, own + 1));
  to.confidence = "medium: latencies are means over requests, none is followed on its way";
}

}  // namespace orrery
