// The result of several jobs as text, JSON, CSV and a Chrome trace.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "studies/jobs/jobs_result.hpp"

namespace orrery {
namespace {

using JobsTree = nlohmann::ordered_json;

constexpr std::size_t kJobsInText = 20;

double job_seconds(LongPicoseconds time) { return static_cast<double>(time) * 1e-12; }

/// A figure of all jobs: its mean and quantiles.
struct Spread {
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, most = 0;
};

Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  Spread out;
  for (const double value : values) out.mean += value / static_cast<double>(values.size());
  const auto quantile = [&](double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::max<std::size_t>(1, rank) - 1];
  };
  out.p50 = quantile(0.5);
  out.p90 = quantile(0.9);
  out.p99 = quantile(0.99);
  out.most = values.back();
  return out;
}

template <class Figure>
Spread spread_of_jobs(const JobsResult& result, Figure figure) {
  std::vector<double> values;
  for (std::size_t job = 0; job < result.outcome.jobs.size(); ++job) values.push_back(figure(job));
  return spread_of(std::move(values));
}

Spread waits(const JobsResult& result) {
  return spread_of_jobs(result, [&](std::size_t job) { return result.wait_s(job); });
}

Spread completions(const JobsResult& result) {
  return spread_of_jobs(result, [&](std::size_t job) { return result.completion_s(job); });
}

JobsTree tree_of(const Spread& spread) {
  return {{"mean", spread.mean},
          {"p50", spread.p50},
          {"p90", spread.p90},
          {"p99", spread.p99},
          {"most", spread.most}};
}

std::string job_name(const JobsResult& result, std::size_t job) {
  const std::string& name = result.experiment.jobs()[job].name;
  return name.empty() ? fmt::format("job {}", job + 1) : name;
}

JobsTree tree_of_job(const JobsResult& result, std::size_t job) {
  const JobSpec& spec = result.experiment.jobs()[job];
  const JobOutcome& outcome = result.outcome.jobs[job];
  return {{"name", job_name(result, job)},
          {"gpus", spec.gpus},
          {"nodes", outcome.nodes},
          {"leaf_switches", outcome.leaves},
          {"priority", spec.priority},
          {"steps", spec.steps},
          {"arrival_s", spec.arrival_s},
          {"start_s", job_seconds(outcome.start_ps)},
          {"end_s", job_seconds(outcome.end_ps)},
          {"wait_s", result.wait_s(job)},
          {"completion_s", result.completion_s(job)},
          {"step_time_s", result.step_time_s(job)},
          {"slowdown", result.slowdown(job)},
          {"preemptions", outcome.preemptions},
          {"lost_s", job_seconds(outcome.lost_ps)}};
}

/// In quotes, which are doubled within it.
std::string csv_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += c;
    out += c;
  }
  return out + "\"";
}

std::string span_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.4g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.4g} min", seconds / 60);
  if (seconds < 172'800) return fmt::format("{:.4g} h", seconds / 3600);
  return fmt::format("{:.4g} days", seconds / 86'400);
}

class JobsText {
 public:
  explicit JobsText(const JobsResult& result) : result_(result) {}

  std::string text() {
    cluster();
    for (const std::string& reason : result_.prepared.reasons) line("not feasible", reason);
    out_ += "\n";
    figures();
    gpu_time();
    table();
    return out_;
  }

 private:
  void line(std::string_view name, std::string_view value) { out_ += fmt::format("{:<16}{}\n", name, value); }

  void cluster() {
    const JobsModel& model = result_.prepared.model;
    if (!result_.experiment.name().empty()) line("experiment", result_.experiment.name());
    line("cluster",
         fmt::format("{} GPUs, {} nodes, {} a leaf switch", model.gpus(), model.nodes, model.nodes_per_leaf));
    const JobsPolicy& policy = result_.experiment.policy();
    line("jobs", fmt::format("{}, placement {}, queueing {}", model.jobs.size(),
                             kJobPlacementNames[static_cast<std::size_t>(policy.placement)],
                             kJobQueueingNames[static_cast<std::size_t>(policy.queueing)]));
    const std::string_view kind = result_.experiment.trace_kind();
    if (!kind.empty())
      line("", fmt::format("of a trace of {}; {} without GPUs, or that never ran, left out", kind,
                           result_.experiment.left_out()));
  }

  void figures() {
    line("makespan", span_text(result_.makespan_s()));
    add_spread("wait", waits(result_));
    add_spread("completion", completions(result_));
    line("utilization",
         fmt::format("{:.2f} %, goodput {:.2f} %", 100 * result_.utilization(), 100 * result_.goodput()));
    line("contention", fmt::format("{} of {} jobs slowed, GPU-time of steps x {:.4f}", result_.slowed_jobs(),
                                   result_.outcome.jobs.size(), result_.mean_slowdown()));
    if (result_.preemptions() > 0) line("preemptions", fmt::format("{}", result_.preemptions()));
    if (const double blocked = job_seconds(result_.outcome.blocked_ps); blocked > 0)
      line("fragmentation",
           fmt::format("{} with enough free GPUs for the next job, at the wrong places", span_text(blocked)));
  }

  void add_spread(std::string_view name, const Spread& spread) {
    line(name, fmt::format("{} mean; p50 {}, p90 {}, p99 {}", span_text(spread.mean), span_text(spread.p50),
                           span_text(spread.p90), span_text(spread.p99)));
  }

  void gpu_time() {
    const GpuTimes times = result_.gpu_times();
    out_ += "\nGPU-time\n";
    const auto row = [&](std::string_view name, Int128 time) {
      out_ += fmt::format("  {:<14}{:>14.2f} h{:>10.2f} %\n", name, static_cast<double>(time) * 1e-12 / 3600,
                          100 * static_cast<double>(time) / static_cast<double>(times.sum()));
    };
    row("useful", times.useful_ps);
    row("contention", times.contention_ps);
    row("lost", times.lost_ps);
    row("idle", times.idle_ps);
  }

  void table() {
    const std::size_t shown = std::min(kJobsInText, result_.outcome.jobs.size());
    out_ += fmt::format("\n{:<20}{:>6}{:>7}{:>13}{:>13}{:>13}{:>11}\n", "job", "GPUs", "nodes", "wait",
                        "completion", "step", "slowdown");
    for (std::size_t job = 0; job < shown; ++job)
      out_ += fmt::format("{:<20.19}{:>6}{:>7}{:>13}{:>13}{:>13}{:>11.4f}\n", job_name(result_, job),
                          result_.experiment.jobs()[job].gpus, result_.outcome.jobs[job].nodes,
                          span_text(result_.wait_s(job)), span_text(result_.completion_s(job)),
                          span_text(result_.step_time_s(job)), result_.slowdown(job));
    if (shown < result_.outcome.jobs.size())
      out_ += fmt::format("... {} more in --json and --csv\n", result_.outcome.jobs.size() - shown);
  }

  const JobsResult& result_;
  std::string out_;
};

}  // namespace

std::string jobs_text(const JobsResult& result) { return JobsText(result).text(); }

std::string jobs_json(const JobsResult& result) {
  const GpuTimes times = result.gpu_times();
  const JobsPolicy& policy = result.experiment.policy();
  JobsTree out = JobsTree::object();
  out["name"] = result.experiment.name();
  out["feasible"] = result.feasible();
  out["reasons"] = result.prepared.reasons;
  out["gpus"] = result.prepared.model.gpus();
  out["placement"] = kJobPlacementNames[static_cast<std::size_t>(policy.placement)];
  out["queueing"] = kJobQueueingNames[static_cast<std::size_t>(policy.queueing)];
  out["trace"] = result.experiment.trace_kind();
  out["left_out"] = result.experiment.left_out();
  out["makespan_s"] = result.makespan_s();
  out["wait_s"] = tree_of(waits(result));
  out["completion_s"] = tree_of(completions(result));
  out["utilization"] = result.utilization();
  out["goodput"] = result.goodput();
  out["slowdown"] = result.mean_slowdown();
  out["slowed_jobs"] = result.slowed_jobs();
  out["preemptions"] = result.preemptions();
  out["fragmented_s"] = job_seconds(result.outcome.blocked_ps);
  out["gpu_time_s"] = {{"useful", job_seconds(times.useful_ps)},
                       {"contention", job_seconds(times.contention_ps)},
                       {"lost", job_seconds(times.lost_ps)},
                       {"idle", job_seconds(times.idle_ps)}};
  out["jobs"] = JobsTree::array();
  for (std::size_t job = 0; job < result.outcome.jobs.size(); ++job)
    out["jobs"].push_back(tree_of_job(result, job));
  return out.dump(2, ' ', false, JobsTree::error_handler_t::replace) + "\n";
}

std::string jobs_csv(const JobsResult& result) {
  std::string out;
  for (std::size_t job = 0; job < result.outcome.jobs.size(); ++job) {
    const JobsTree row = tree_of_job(result, job);
    std::string values;
    for (const auto& [key, value] : row.items()) {
      if (job == 0) out += (out.empty() ? "" : ",") + key;
      values += (values.empty() ? "" : ",") + (value.is_string() ? csv_text(value) : value.dump());
    }
    out += "\n" + values;
  }
  return out + "\n";
}

std::string jobs_trace(const JobsResult& result) {
  std::string out =
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"jobs\"}}";
  const auto span = [&](std::size_t job, const char* name, LongPicoseconds begin, LongPicoseconds end) {
    out += fmt::format(
        ",\n{{\"ph\":\"X\",\"pid\":0,\"tid\":{},\"name\":\"{}\",\"ts\":{:.6f},\"dur\":{:.6f}}}", job + 1,
        name, static_cast<double>(begin) * 1e-6, static_cast<double>(end - begin) * 1e-6);
  };
  for (std::size_t job = 0; job < result.outcome.jobs.size(); ++job) {
    const JobsTree name =
        fmt::format("{}, {} GPUs", job_name(result, job), result.experiment.jobs()[job].gpus);
    out += fmt::format(
        ",\n{{\"ph\":\"M\",\"pid\":0,\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":{}}}}}", job + 1,
        name.dump(-1, ' ', false, JobsTree::error_handler_t::replace));
    LongPicoseconds since = result.prepared.model.jobs[job].arrival_ps;
    for (const JobStint& stint : result.outcome.jobs[job].stints) {
      if (stint.begin > since) span(job, "waits", since, stint.begin);
      span(job, "runs", stint.begin, stint.end);
      since = stint.end;
    }
  }
  return out + "\n]}\n";
}

}  // namespace orrery
