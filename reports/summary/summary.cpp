// The summary `orrery simulate` prints: as wide as the terminal, the answer first.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "reports/summary/figure_text.hpp"
#include "reports/summary/plan_lines.hpp"
#include "reports/summary/serving_summary.hpp"
#include "reports/summary/summary_text.hpp"
#include "reports/writers.hpp"

namespace orrery {
namespace {

class Summary {
 public:
  Summary(const Report& report, SummaryStyle style) : report_(report), text_(style) {}

  std::string text() {
    title();
    if (report_.makespan_ps > 0) {
      speed();
      time_parts();
      report_.asynchrony ? asynchrony(*report_.asynchrony) : critical_path();
      what_if();
      network();
    }
    if (report_.serving) write_serving(report_, text_);
    memory();
    std::vector<std::string> sentences = report_.assumptions;
    for (const std::string& warning : report_.warnings)
      if (warning != report_.unlike_all_reduce) sentences.push_back("warning: " + warning);
    text_.list("Assumptions", sentences);
    if (report_.stats.tasks > 0) statistics();
    return text_.take();
  }

 private:
  void title() {
    const std::string_view verdict = report_.feasible ? "feasible" : "INFEASIBLE";
    const std::string name = shortened(report_.name, text_.columns(12));
    text_.line("{}  {}", text_.painted("1", name.empty() ? std::string("unnamed experiment") : name),
               text_.painted(report_.feasible ? "32" : "1;31", verdict));
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
    text_.wrapped("", size + (report_.samples_per_step > 0 && !report_.serving ? " per step" : ""));
    if (!report_.unlike_all_reduce.empty()) text_.wrapped("", report_.unlike_all_reduce);
    for (const std::string& sentence : plan_lines(report_)) text_.wrapped("", sentence);
    if (!report_.reasons.empty()) {
      std::vector<std::string> reasons = report_.reasons;
      reasons.emplace_back(
          "orrery plan FILE finds the plans that fit, and plan.base=auto takes the best of them");
      text_.list("Reasons", reasons);
    }
  }

  /// Samples of one token, such as images, are samples.
  [[nodiscard]] bool has_tokens() const { return report_.tokens_per_step > report_.samples_per_step; }

  void speed() {
    text_.blank_line();
    text_.line("  {:<11}{:>13}   {} samples/s{}", "step time", duration(report_.step_time_s()),
               scaled(report_.samples_per_s()),
               has_tokens() ? fmt::format("   {} tokens/s", scaled(report_.tokens_per_s())) : "");
    if (report_.has_spread()) {
      text_.line("  {:<11}{:>13}   to {} {}", "", duration(report_.step_time_s_p10()),
                 duration(report_.step_time_s_p90()), text_.painted("2", "where 8 of 10 measured runs lie"));
    }
    if (report_.training_tokens > 0) {
      const double days = report_.training_days();
      text_.line("  {:<11}{:>10.1f} {:<5}     for {} {}", "training", days < 2 ? 24 * days : days,
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
      text_.line("  {:<11}{:>10.4g} MWh       at most, by the GPUs' rated power", "energy", mwh);
    if (report_.usd_per_hour > 0) text_.line("  {:<11}{:>10.4g} USD", "cost", report_.training_cost_usd());
  }

  void rate(std::string_view name, double tflops, std::string_view share_name, std::string_view what) {
    const double peak = report_.peak_tflops_per_gpu;
    const std::string share = peak > 0 ? fmt::format("{} {:.1f} %", share_name, 100 * tflops / peak) : "";
    text_.line("  {:<11}{:>10.1f} TFLOP/s per GPU   {}   {}", name, tflops, share, text_.painted("2", what));
  }

  void time_parts() {
    const double step_s = report_.step_time_s();
    const Breakdown& b = report_.breakdown;
    const double shares = static_cast<double>(report_.gpus) * static_cast<double>(report_.steps);
    const auto seconds = [shares](Int128 sum_ps) { return static_cast<double>(sum_ps) * 1e-12 / shares; };
    text_.heading("Where the time goes", "mean over GPUs, per step");
    text_.part("compute", seconds(b.compute_ps), step_s, kComputes);
    text_.part("host", seconds(b.host_ps), step_s, kHost);
    for (const Dimension d : {Dimension::tensor, Dimension::context, Dimension::expert, Dimension::pipeline,
                              Dimension::data, Dimension::offload}) {
      const auto i = static_cast<std::size_t>(d);
      text_.part(fmt::format("exposed {}", kDimensionNames[i]), seconds(b.exposed_ps[i]), step_s,
                 kCommunicates);
    }
    // Without a pipeline, ranks still wait for slower members of their groups.
    text_.part(report_.plan.pipeline_parallel > 1 ? "pipeline bubble" : "waiting for others",
               seconds(b.bubble_ps), step_s, kWaits);
    text_.part("optimizer", seconds(b.optimizer_ps), step_s, kOptimizes);
    std::string busy = fmt::format("GPUs busy {:.1f} % (least busy {:.1f} %)",
                                   100 * report_.gpu_utilization_mean, 100 * report_.gpu_utilization_min);
    if (report_.plan.pipeline_parallel > 1) {
      busy += fmt::format(", bubble {:.1f} % of the passes", 100 * report_.pipeline_bubble_fraction);
    }
    text_.wrapped("  ", busy);
  }

  void critical_path() {
    const double step_s = report_.step_time_s();
    const CriticalPath& path = report_.critical_path;
    const auto seconds = [this](Picoseconds time) {
      return to_seconds(time) / static_cast<double>(report_.steps);
    };
    text_.heading("Critical path", "the chain of operations that ends last");
    text_.part("compute", seconds(path.compute_ps), step_s, kComputes);
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      text_.part(fmt::format("{} comm", kDimensionNames[d]), seconds(path.communication_ps[d]), step_s,
                 kCommunicates);
    }
    text_.part("host", seconds(path.host_ps), step_s, kHost);
    text_.part("wait for links", seconds(path.wait_ps), step_s, kWaits);
  }

  void what_if() {
    if (report_.what_if.empty()) return;
    text_.heading("What if", "by the share of the step time that the critical path owes to it");
    text_.line("  {:<34}{:>14}{:>8}{:>12}{:>9}", "", "is", "share", "2x better", "holds to");
    for (const WhatIf& one : report_.what_if) {
      const double step = to_seconds(one.better_makespan_ps) / static_cast<double>(report_.steps);
      text_.line("  {:<34}{:>14}{:>6.1f} %{:>12}{:>9}", one.key,
                 fmt::format("{} {}", three_digits(one.value), one.unit), 100 * one.share, duration(step),
                 one.holds_until ? three_digits(*one.holds_until) : "any");
    }
  }

  void asynchrony(const Asynchrony& a) {
    text_.heading("Workers", "without steps in common");
    text_.wrapped("  ",
                  fmt::format("local steps {} to {}, {} meetings", a.fewest_steps, a.most_steps, a.meetings));
    text_.wrapped(
        "  ", fmt::format("updates by others between reading a model and changing it: mean {:.3g}, most {}",
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
    text_.heading("Network");
    text_.wrapped("  ", "sent per GPU and step: " + sent);
    for (const LinkUtilization& link : report_.links) {
      text_.line("  {:<8}mean{:>6.1f} %   busiest{:>6.1f} %",
                 kLinkKindNames[static_cast<std::size_t>(link.kind)], 100 * link.mean, 100 * link.peak);
    }
  }

  void memory() {
    const auto& stages = report_.stage_memory;
    if (stages.empty()) return;
    const double usable = static_cast<double>(report_.gpu_usable_memory) / 1e9;
    const double whole = static_cast<double>(report_.gpu_memory) / 1e9;
    text_.heading(
        "Memory per GPU",
        usable > 0 ? fmt::format("GB of {:.1f} that can be used, of {:.1f} in all", usable, whole) : "GB");
    text_.line("  {:<5}{:>11}{:>10}{:>10}{:>12}{:>10}{:>9}", "stage", "parameters", "gradients", "optimizer",
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
      if (share > 1) use = text_.painted("1;31", use + " !");
    }
    text_.line("  {:<5}{:>11.3f}{:>10.3f}{:>10.3f}{:>12.3f}{:>10.3f}{:>9.2f}{}",
               first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last),
               gb(stage.parameters), gb(stage.gradients), gb(stage.optimizer()),
               gb(stage.activations.total()), gb(stage.workspace.total()), gb(stage.reserved()), use);
  }

  void statistics() {
    const RunStats& stats = report_.stats;
    std::string text =
        fmt::format("{} tasks on {} simulated ranks, {} events", stats.tasks, stats.ranks, stats.events);
    if (stats.wall_s > 0) text += ", " + duration(stats.wall_s);
    if (stats.tasks_per_s > 0) text += fmt::format(", {} tasks/s", scaled(stats.tasks_per_s));
    text_.blank_line();
    text_.faint(text);
  }

  const Report& report_;
  SummaryText text_;
};

}  // namespace

void write_summary(const Report& report, SummaryStyle style, const Sink& sink) {
  sink(Summary(report, style).text());
}

}  // namespace orrery
