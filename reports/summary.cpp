// The summary `orrery simulate` prints: as wide as the terminal, the answer first.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "orrery/printable.hpp"
#include "reports/plan_lines.hpp"
#include "reports/writers.hpp"

namespace orrery {
namespace {

/// 1234567 as 1.23 M; three significant digits.
std::string scaled(double value) {
  constexpr std::array<std::string_view, 6> kPrefixes{"", " k", " M", " B", " T", " P"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const bool whole = prefix == 0 && value == static_cast<double>(static_cast<std::int64_t>(value));
  return fmt::format("{:.{}f}{}", value, whole ? 0 : decimals, kPrefixes[prefix]);
}

/// Three digits or more, never an exponent for large numbers.
std::string three_digits(double value) {
  return value < 1000 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

/// Seconds in the unit that suits them.
std::string duration(double seconds) {
  if (seconds >= 1 || seconds <= 0) return fmt::format("{:.3f} s ", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} us", seconds * 1e6);
}

/// A bar for a share of 0..1 of `cells` cells, in eighths of a cell.
std::string bar(double share, int cells) {
  constexpr std::array<std::string_view, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::clamp(share, 0.0, 1.0) * cells * 8 + 0.5);
  std::string out;
  for (int i = 0; i < eighths / 8; ++i) out += "█";
  return out + std::string(kEighths[static_cast<std::size_t>(eighths % 8)]);
}

/// Columns that `text` takes: a character each, as names here have neither wide nor combining ones as a rule.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Bytes of the first `columns` characters, or of all.
std::size_t prefix_of(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  for (; columns > 0 && bytes < text.size(); --columns)
    bytes += std::max<std::size_t>(1, first_character(text.substr(bytes)).bytes);
  return bytes;
}

/// The first `columns` characters of `text` on one line, with "..." where there are more.
std::string shortened(std::string_view text, std::size_t columns) {
  const std::string whole = one_line(text);
  if (columns_of(whole) <= columns) return whole;
  return whole.substr(0, prefix_of(whole, columns - 3)) + "...";
}

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
    memory();
    std::vector<std::string> sentences = report_.assumptions;
    for (const std::string& warning : report_.warnings) sentences.push_back("warning: " + warning);
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
    std::string size = fmt::format("{} GPUs", report_.gpus);
    if (report_.parameters > 0) {
      size += fmt::format(", {} parameters", scaled(static_cast<double>(report_.parameters)));
      if (report_.active_parameters < report_.parameters)
        size += fmt::format(", {} of them active", scaled(static_cast<double>(report_.active_parameters)));
    }
    if (report_.samples_per_step > 0) size += fmt::format(", {} samples", report_.samples_per_step);
    if (has_tokens()) {
      size += fmt::format(" ({} tokens)", scaled(static_cast<double>(report_.tokens_per_step)));
    }
    wrapped("", size + (report_.samples_per_step > 0 ? " per step" : ""));
    for (const std::string& sentence : plan_lines(report_)) wrapped("", sentence);
    if (!report_.reasons.empty()) list("Reasons", report_.reasons);
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

  /// What the training takes, where the cluster says so.
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
    if (seconds <= 0) return;
    const double share = seconds / report_.step_time_s();
    const std::string cells = bar(share, width_ - 46);
    line("  {:<20}{:>13}{:>7.1f} %{}", name, duration(seconds), 100 * share,
         cells.empty() ? "" : "  " + painted(code, cells));
  }

  void time_parts() {
    const Breakdown& b = report_.breakdown;
    const double shares = static_cast<double>(report_.gpus) * static_cast<double>(report_.steps);
    const auto seconds = [shares](Int128 sum_ps) { return static_cast<double>(sum_ps) * 1e-12 / shares; };
    heading("Where the time goes", "mean over GPUs, per step");
    part("compute", seconds(b.compute_ps), "32");
    part("host", seconds(b.host_ps), "36");
    for (const Dimension d : {Dimension::tensor, Dimension::context, Dimension::expert, Dimension::pipeline,
                              Dimension::data, Dimension::offload}) {
      const auto i = static_cast<std::size_t>(d);
      part(fmt::format("exposed {}", kDimensionNames[i]), seconds(b.exposed_ps[i]), "33");
    }
    // Without a pipeline, ranks still wait for slower members of their groups.
    part(report_.plan.pipeline_parallel > 1 ? "pipeline bubble" : "waiting for others", seconds(b.bubble_ps),
         "31");
    part("optimizer", seconds(b.optimizer_ps), "34");
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
    part("compute", seconds(path.compute_ps), "32");
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      part(fmt::format("{} comm", kDimensionNames[d]), seconds(path.communication_ps[d]), "33");
    }
    part("host", seconds(path.host_ps), "35");
    part("wait for links", seconds(path.wait_ps), "31");
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
    heading("Memory per GPU", usable > 0 ? fmt::format("GB of {:.1f} that can be used", usable) : "GB");
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
