// The summary `orrery simulate` prints: as wide as the terminal, the answer first.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "orrery/printable.hpp"
#include "reports/summary/figure_text.hpp"
#include "reports/summary/plan_lines.hpp"
#include "reports/writers.hpp"

namespace orrery {
namespace {

/// Colours of ANSI, one for each thing that time goes to, in all tables.
constexpr std::string_view kComputes = "32";  ///< and reads prompts
constexpr std::string_view kCommunicates = "33";
constexpr std::string_view kWaits = "31";
constexpr std::string_view kHost = "36";
constexpr std::string_view kOptimizes = "34";
constexpr std::string_view kDecodes = "94";
constexpr std::string_view kMixes = "35";  ///< prompts and outputs in one pass

class Summary {
 public:
  Summary(const Report& report, SummaryStyle style)
      : report_(report), colour_(style.colour), width_(std::clamp(style.columns, 80, 160)) {}

  std::string text() {
    title();
    if (report_.makespan_ps > 0) {
      speed();
      time_parts();
      report_.asynchrony ? asynchrony(*report_.asynchrony) : critical_path();
      what_if();
      network();
    }
    if (report_.serving) serving(*report_.serving);
    memory();
    std::vector<std::string> sentences = report_.assumptions;
    for (const std::string& warning : report_.warnings)
      if (warning != report_.unlike_all_reduce) sentences.push_back("warning: " + warning);
    list("Assumptions", sentences);
    if (report_.stats.tasks > 0) statistics();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  [[nodiscard]] std::string painted(std::string_view code, std::string_view text) const {
    return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  void heading(std::string_view name, std::string_view note = "") {
    line("\n{}{}{}", painted("1", name), note.empty() ? "" : "  ", painted("2", note));
  }

  void title() {
    const std::string_view verdict = report_.feasible ? "feasible" : "INFEASIBLE";
    const std::string name = shortened(report_.name, columns(12));
    line("{}  {}", painted("1", name.empty() ? std::string("unnamed experiment") : name),
         painted(report_.feasible ? "32" : "1;31", verdict));
    std::string size = fmt::format("{} {}", report_.gpus, report_.gpus == 1 ? "GPU" : "GPUs");
    if (report_.parameters > 0) {
      size += fmt::format(", {} parameters", scaled(static_cast<double>(report_.parameters)));
      if (report_.active_parameters < report_.parameters)
        size += fmt::format(", {} of them active", scaled(static_cast<double>(report_.active_parameters)));
    }
    if (report_.samples_per_step > 0 && !report_.serving)
      size += fmt::format(", {} samples", report_.samples_per_step);
    if (has_tokens() && !report_.serving) {
      size += fmt::format(" ({} tokens)", scaled(static_cast<double>(report_.tokens_per_step)));
    }
    wrapped("", size + (report_.samples_per_step > 0 && !report_.serving ? " per step" : ""));
    if (!report_.unlike_all_reduce.empty()) wrapped("", report_.unlike_all_reduce);
    for (const std::string& sentence : plan_lines(report_)) wrapped("", sentence);
    if (!report_.reasons.empty()) {
      std::vector<std::string> reasons = report_.reasons;
      reasons.emplace_back(
          "orrery plan FILE finds the plans that fit, and plan.base=auto takes the best of them");
      list("Reasons", reasons);
    }
  }

  /// Samples of one token, such as images, are samples.
  [[nodiscard]] bool has_tokens() const { return report_.tokens_per_step > report_.samples_per_step; }

  void speed() {
    out_ += '\n';
    line("  {:<11}{:>13}   {} samples/s{}", "step time", duration(report_.step_time_s()),
         scaled(report_.samples_per_s()),
         has_tokens() ? fmt::format("   {} tokens/s", scaled(report_.tokens_per_s())) : "");
    if (report_.has_spread()) {
      line("  {:<11}{:>13}   to {} {}", "", duration(report_.step_time_s_p10()),
           duration(report_.step_time_s_p90()), painted("2", "where 8 of 10 measured runs lie"));
    }
    if (report_.training_tokens > 0) {
      const double days = report_.training_days();
      line("  {:<11}{:>10.1f} {:<5}     for {} {}", "training", days < 2 ? 24 * days : days,
           days < 2 ? "hours" : "days", scaled(static_cast<double>(report_.training_tokens)),
           has_tokens() ? "tokens" : "samples");
      bill();
    }
    rate("model", report_.model_tflops_per_gpu(), "MFU", "without recomputation");
    rate("hardware", report_.hardware_tflops_per_gpu(), "HFU", "with recomputation");
  }

  /// Writes the cost of the training if the cluster has prices.
  void bill() {
    const double mwh = report_.training_energy_kwh() / 1000;
    if (report_.power_w > 0)
      line("  {:<11}{:>10.4g} MWh       at most, by the GPUs' rated power", "energy", mwh);
    if (report_.usd_per_hour > 0) line("  {:<11}{:>10.4g} USD", "cost", report_.training_cost_usd());
  }

  void rate(std::string_view name, double tflops, std::string_view share_name, std::string_view what) {
    const double peak = report_.peak_tflops_per_gpu;
    const std::string share = peak > 0 ? fmt::format("{} {:.1f} %", share_name, 100 * tflops / peak) : "";
    line("  {:<11}{:>10.1f} TFLOP/s per GPU   {}   {}", name, tflops, share, painted("2", what));
  }

  /// A row of a table of times: seconds, share of the step and a bar; nothing for a part of zero.
  void part(std::string_view name, double seconds, std::string_view code) {
    part(name, seconds, code, report_.step_time_s());
  }
  void part(std::string_view name, double seconds, std::string_view code, double whole) {
    if (seconds <= 0) return;
    const double share = seconds / whole;
    const std::string cells = bar(share, width_ - 46);
    line("  {:<20}{:>13}{:>7.1f} %{}", name, duration(seconds), 100 * share,
         cells.empty() ? "" : "  " + painted(code, cells));
  }

  void time_parts() {
    const Breakdown& b = report_.breakdown;
    const double shares = static_cast<double>(report_.gpus) * static_cast<double>(report_.steps);
    const auto seconds = [shares](Int128 sum_ps) { return static_cast<double>(sum_ps) * 1e-12 / shares; };
    heading("Where the time goes", "mean over GPUs, per step");
    part("compute", seconds(b.compute_ps), kComputes);
    part("host", seconds(b.host_ps), kHost);
    for (const Dimension d : {Dimension::tensor, Dimension::context, Dimension::expert, Dimension::pipeline,
                              Dimension::data, Dimension::offload}) {
      const auto i = static_cast<std::size_t>(d);
      part(fmt::format("exposed {}", kDimensionNames[i]), seconds(b.exposed_ps[i]), kCommunicates);
    }
    // Without a pipeline, ranks still wait for slower members of their groups.
    part(report_.plan.pipeline_parallel > 1 ? "pipeline bubble" : "waiting for others", seconds(b.bubble_ps),
         kWaits);
    part("optimizer", seconds(b.optimizer_ps), kOptimizes);
    std::string busy = fmt::format("GPUs busy {:.1f} % (least busy {:.1f} %)",
                                   100 * report_.gpu_utilization_mean, 100 * report_.gpu_utilization_min);
    if (report_.plan.pipeline_parallel > 1) {
      busy += fmt::format(", bubble {:.1f} % of the passes", 100 * report_.pipeline_bubble_fraction);
    }
    wrapped("  ", busy);
  }

  void critical_path() {
    const CriticalPath& path = report_.critical_path;
    const auto seconds = [this](Picoseconds time) {
      return to_seconds(time) / static_cast<double>(report_.steps);
    };
    heading("Critical path", "the chain of operations that ends last");
    part("compute", seconds(path.compute_ps), kComputes);
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      part(fmt::format("{} comm", kDimensionNames[d]), seconds(path.communication_ps[d]), kCommunicates);
    }
    part("host", seconds(path.host_ps), kHost);
    part("wait for links", seconds(path.wait_ps), kWaits);
  }

  void what_if() {
    if (report_.what_if.empty()) return;
    heading("What if", "by the share of the step time that the critical path owes to it");
    line("  {:<34}{:>14}{:>8}{:>12}{:>9}", "", "is", "share", "2x better", "holds to");
    for (const WhatIf& one : report_.what_if) {
      const double step = to_seconds(one.better_makespan_ps) / static_cast<double>(report_.steps);
      line("  {:<34}{:>14}{:>6.1f} %{:>12}{:>9}", one.key,
           fmt::format("{} {}", three_digits(one.value), one.unit), 100 * one.share, duration(step),
           one.holds_until ? three_digits(*one.holds_until) : "any");
    }
  }

  void serving(const Serving& s) {
    if (s.capacity) capacity(*s.capacity);
    if (s.duration_ps > 0) {
      served(s);
      latencies(s);
      serving_times(s);
    }
    heading("Memory per GPU", "GB, of the stage that holds most");
    const auto gb = [](Bytes bytes) { return static_cast<double>(bytes) / 1e9; };
    std::string held = fmt::format("weights {:.3f}, activations {:.3f}, cache {:.3f} for {} tokens a replica",
                                   gb(s.weights_bytes), gb(s.workspace_bytes), gb(s.cache_bytes),
                                   scaled(static_cast<double>(s.cache_tokens)));
    if (s.duration_ps > 0)
      held += fmt::format("; of it held {:.1f} %, at most {:.1f} %", 100 * s.cache_mean, 100 * s.cache_peak);
    wrapped("  ", held);
    if (!s.groups.empty()) replica_groups(s);
  }

  void capacity(const Capacity& c) {
    heading("Capacity", "what follows is at this rate");
    std::string most = fmt::format("{} requests/s, {} per GPU", three_digits(c.requests_per_s),
                                   three_digits(c.requests_per_s / static_cast<double>(report_.gpus)));
    if (report_.usd_per_hour > 0)
      most +=
          fmt::format(", {} per US dollar of rent", scaled(3600 * c.requests_per_s / report_.usd_per_hour));
    wrapped("  ", most);
    if (c.offered_per_s > 0)
      wrapped("  ", fmt::format("at {} requests/s {}", three_digits(c.offered_per_s),
                                c.broken == "queue" ? "the queue grows, or nobody can tell"
                                                    : c.broken + " is beyond its limit"));
  }

  void replica_groups(const Serving& s) {
    heading("Replicas", "by their GPUs");
    for (const ReplicaGroup& group : s.groups) {
      std::string text = fmt::format("{} on {}: {} requests", group.replicas, group.gpus, group.requests);
      if (group.ttft_s > 0) text += fmt::format(", first token {}", duration(group.ttft_s));
      if (group.tpot_s > 0) text += fmt::format(", further ones {} each", duration(group.tpot_s));
      wrapped("  ", text + fmt::format("; busy {:.1f} %, cache for {} tokens", 100 * group.busy_share(),
                                       scaled(static_cast<double>(group.cache_tokens))));
    }
  }

  void served(const Serving& s) {
    out_ += '\n';
    line("  {:<11}{:>13}   {} requests, {} tokens read and {} made", "served in", duration(s.duration_s()),
         s.requests, scaled(static_cast<double>(s.prompt_tokens)),
         scaled(static_cast<double>(s.output_tokens)));
    line("  {:<11}{:>13}   {} output tokens/s ({} per GPU)   {} tokens/s", "throughput",
         fmt::format("{}/s", three_digits(s.requests_per_s())), scaled(s.output_tokens_per_s()),
         scaled(s.output_tokens_per_s() / static_cast<double>(report_.gpus)), scaled(s.tokens_per_s()));
    if (s.good_requests < s.requests)
      line("  {:<11}{:>13}   {:.1f} % of the requests kept their targets", "goodput",
           fmt::format("{}/s", three_digits(s.goodput_requests_per_s())),
           100 * static_cast<double>(s.good_requests) / static_cast<double>(s.requests));
    if (s.arrivals_per_s > 0)
      line("  {:<11}{:>13}   {}", "arrivals", fmt::format("{}/s", three_digits(s.arrivals_per_s)),
           queue_state(s));
    if (s.preemptions > 0)
      wrapped("  ", fmt::format("{} times a request lost its place in the cache: {} tokens computed again",
                                s.preemptions, s.recomputed_tokens));
  }

  [[nodiscard]] std::string queue_state(const Serving& s) const {
    if (!s.unstable) return "too few to tell whether the queue grows";
    if (!*s.unstable) return "the queue is stable";
    return painted("1;31",
                   fmt::format("UNSTABLE: the queue grows by {:.3g} requests/s", s.queue_growth_per_s));
  }

  void latencies(const Serving& s) {
    heading("Latency");
    line("  {:<24}{:>12}{:>12}{:>12}{:>12}", "", "mean", "p50", "p90", "p99");
    const auto row = [this](std::string_view name, const Distribution& d) {
      std::string cells = fmt::format("{:>12}{:>12}{:>12}{:>12}", duration(d.mean), duration(d.p50),
                                      duration(d.p90), duration(d.p99));
      cells.erase(cells.find_last_not_of(' ') + 1);
      line("  {:<24}{}", name, cells);
    };
    row("time to first token", s.ttft_s);
    if (s.output_tokens > s.requests) row("time per output token", s.tpot_s);
    if (s.output_tokens > s.requests) row("between tokens", s.inter_token_latency_s);
    row("end to end", s.end_to_end_s);
    row("in the queue", s.queue_s);
    limits(s);
  }

  /// Writes the experiment's limits, each beside the figure it limits.
  void limits(const Serving& s) {
    for (const ServiceLimit& limit : kServiceLimits) {
      const double most_s = report_.slo.*limit.most_s;
      if (most_s == 0) continue;
      const double value_s = s.*limit.figure.*limit.part;
      line("  {:<28}{:>12} of at most {}: {}", limit.key, duration(value_s), duration(most_s),
           value_s <= most_s ? "kept" : painted("1;31", "BROKEN"));
    }
  }

  void serving_times(const Serving& s) {
    heading("Where the time goes", "mean over GPUs");
    const ServingTimes& t = s.times;
    const double stages = static_cast<double>(t.total_ps()) / static_cast<double>(s.duration_ps);
    const auto row = [&](std::string_view name, Int128 sum, std::string_view code) {
      part(name, static_cast<double>(sum) * 1e-12 / stages, code, s.duration_s());
    };
    row("prefill", t.prefill_ps, kComputes);
    row("decode", t.decode_ps, kDecodes);
    row("prefill and decode", t.mixed_ps, kMixes);
    row("host", t.host_ps, kHost);
    row("pipeline bubble", t.bubble_ps, kWaits);
    row("idle", t.idle_ps, kWaits);
    serving_work(s);
    wrapped("  ", fmt::format("{} iterations of {:.4g} requests, at most {}", s.iterations, s.batch_mean,
                              s.batch_most));
  }

  /// Writes how GPUs spend their busy time.
  void serving_work(const Serving& s) {
    const auto share = [&s](Int128 part) {
      return 100 * static_cast<double>(part) / static_cast<double>(s.work.total_ps());
    };
    std::string text =
        fmt::format("of it products {:.1f} %, attention {:.1f} %, other kernels {:.1f} %",
                    share(s.work.products_ps), share(s.work.attention_ps), share(s.work.kernels_ps));
    const auto add = [&](std::string_view name, Int128 part) {
      if (part > 0) text += fmt::format(", {} {:.1f} %", name, share(part));
    };
    add("drafts", s.work.drafts_ps);
    add("launches", s.work.launch_ps);
    for (std::size_t d = 0; d < kDimensionCount; ++d)
      add(fmt::format("{} communication", kDimensionNames[d]), s.work.messages_ps[d]);
    wrapped("  ", text);
  }

  void asynchrony(const Asynchrony& a) {
    heading("Workers", "without steps in common");
    wrapped("  ", fmt::format("local steps {} to {}, {} meetings", a.fewest_steps, a.most_steps, a.meetings));
    wrapped("  ",
            fmt::format("updates by others between reading a model and changing it: mean {:.3g}, most {}",
                        a.mean_staleness, a.most_staleness));
  }

  void network() {
    std::string sent;
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      if (report_.bytes_per_gpu[d] <= 0) continue;
      fmt::format_to(std::back_inserter(sent), "{}{} {} GB", sent.empty() ? "" : ", ", kDimensionNames[d],
                     three_digits(report_.bytes_per_gpu[d] / 1e9));
    }
    if (sent.empty()) return;
    heading("Network");
    wrapped("  ", "sent per GPU and step: " + sent);
    for (const LinkUtilization& link : report_.links) {
      line("  {:<8}mean{:>6.1f} %   busiest{:>6.1f} %", kLinkKindNames[static_cast<std::size_t>(link.kind)],
           100 * link.mean, 100 * link.peak);
    }
  }

  void memory() {
    const auto& stages = report_.stage_memory;
    if (stages.empty()) return;
    const double usable = static_cast<double>(report_.gpu_usable_memory) / 1e9;
    const double whole = static_cast<double>(report_.gpu_memory) / 1e9;
    heading(
        "Memory per GPU",
        usable > 0 ? fmt::format("GB of {:.1f} that can be used, of {:.1f} in all", usable, whole) : "GB");
    line("  {:<5}{:>11}{:>10}{:>10}{:>12}{:>10}{:>9}", "stage", "parameters", "gradients", "optimizer",
         "activations", "workspace", "reserved");
    for (std::size_t first = 0; first < stages.size();) {
      std::size_t last = first;
      while (last + 1 < stages.size() && alike(stages[first], stages[last + 1])) ++last;
      memory_row(first, last, stages[first]);
      first = last + 1;
    }
  }

  /// In all that a row shows.
  static bool alike(const StageMemory& a, const StageMemory& b) {
    const auto row = [](const StageMemory& m) {
      return std::array{m.parameters,          m.gradients,         m.optimizer(),
                        m.activations.total(), m.workspace.total(), m.reserved()};
    };
    return row(a) == row(b);
  }

  void memory_row(std::size_t first, std::size_t last, const StageMemory& stage) {
    const auto gb = [](Bytes bytes) { return static_cast<double>(bytes) / 1e9; };
    std::string use;
    if (report_.gpu_usable_memory > 0) {
      const double share = gb(stage.reserved()) / gb(report_.gpu_usable_memory);
      use = fmt::format("  {:>5.1f} %", 100 * share);
      if (share > 1) use = painted("1;31", use + " !");
    }
    line("  {:<5}{:>11.3f}{:>10.3f}{:>10.3f}{:>12.3f}{:>10.3f}{:>9.2f}{}",
         first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last), gb(stage.parameters),
         gb(stage.gradients), gb(stage.optimizer()), gb(stage.activations.total()),
         gb(stage.workspace.total()), gb(stage.reserved()), use);
  }

  /// Sentences as bullets, wrapped at words.
  void list(std::string_view name, const std::vector<std::string>& sentences) {
    if (sentences.empty()) return;
    heading(name);
    for (const std::string& sentence : sentences) wrapped("  - ", sentence);
  }

  /// Columns beside `taken` ones.
  [[nodiscard]] std::size_t columns(std::size_t taken) const {
    return static_cast<std::size_t>(width_) - taken;
  }

  /// `text` behind `start`, in as many lines as it takes, broken at blanks.
  void wrapped(std::string_view start, std::string_view text) {
    const std::string clean = one_line(text);
    std::string rest(clean);
    std::string begin(start);
    while (!rest.empty()) {
      const std::size_t room = columns(begin.size());
      std::size_t length = rest.size();
      if (columns_of(rest) > room) {
        length = rest.rfind(' ', room);
        if (length == std::string::npos || length == 0) length = prefix_of(rest, room);
      }
      line("{}{}", begin, rest.substr(0, length));
      rest.erase(0, std::min(rest.size(), rest.find_first_not_of(' ', length)));
      begin.assign(start.empty() ? 2 : start.size(), ' ');
    }
  }

  void statistics() {
    const RunStats& stats = report_.stats;
    std::string text =
        fmt::format("{} tasks on {} simulated ranks, {} events", stats.tasks, stats.ranks, stats.events);
    if (stats.wall_s > 0) text += ", " + duration(stats.wall_s);
    if (stats.tasks_per_s > 0) text += fmt::format(", {} tasks/s", scaled(stats.tasks_per_s));
    out_ += '\n';
    const std::size_t begin = out_.size();
    wrapped("", text);
    if (colour_) out_ = out_.substr(0, begin) + painted("2", out_.substr(begin));
  }

  const Report& report_;
  bool colour_;
  int width_;
  std::string out_;
};

}  // namespace

void write_summary(const Report& report, SummaryStyle style, const Sink& sink) {
  sink(Summary(report, style).text());
}

}  // namespace orrery
