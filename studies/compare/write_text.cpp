// The table of a comparison on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>

#include "config/text/wording.hpp"
#include "reports/difference_causes.hpp"
#include "reports/text/text_table.hpp"
#include "studies/compare/figures.hpp"
#include "studies/compare/table_columns.hpp"
#include "studies/compare/writers.hpp"

namespace orrery {
namespace {

constexpr std::size_t kIndent = 2;     ///< blanks before sentences
constexpr std::size_t kMostNamed = 4;  ///< rows that a sentence names
constexpr std::string_view kTokenTime = "GPU time per output token";

class ComparisonText {
 public:
  ComparisonText(const Comparison& comparison, std::size_t width, bool colour)
      : comparison_(comparison), width_(width), colour_(colour) {}

  std::string text() {
    const auto infeasible = [this](std::size_t row) { return !comparison_.rows[row].feasible(); };
    unlike();
    out_ += table_text(table_columns(comparison_),
                       {width_, colour_, "in all rows with figures", "--csv has all"}, infeasible);
    target();
    solved();
    incomparable();
    left_out();
    queues();
    unrated();
    reasons();
    if (comparison_.why) why();
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }
  [[nodiscard]] std::string painted(std::string_view code, std::string_view text) const {
    return orrery::painted(colour_, code, text);
  }

  /// A sentence above or below the table, in lines of its width.
  void remark(const std::string& text) {
    std::istringstream words(text);
    std::string now;
    for (std::string word; words >> word;) {
      if (!now.empty() && kIndent + text_width(now) + 1 + text_width(word) > width_)
        line("  " + painted("2", std::exchange(now, "")));
      now += (now.empty() ? "" : " ") + word;
    }
    line("  " + painted("2", now));
  }

  /// Writes the sweet spot, and the assumptions of times to a target.
  void target() {
    if (const auto best = comparison_.sweet_spot())
      remark("* least time to the target by bounds: " + label(comparison_.rows[*best]));
    if (const auto best = comparison_.practical_spot())
      remark("* least time in practice: " + label(comparison_.rows[*best]));
    std::vector<std::string> assumed;
    for (const ComparedRow& row : comparison_.rows) {
      if (!row.target || !row.target->steps) continue;
      std::string text = assumptions_of(*row.target);
      if (std::ranges::find(assumed, text) == assumed.end()) assumed.push_back(std::move(text));
    }
    if (assumed.empty()) return;
    remark("to target: steps by upper bounds of the literature with all constants 1, smoothness 1, " +
           (assumed.size() == 1 ? assumed.front() : "noise and heterogeneity as in each row") +
           ": an order that tells rows apart, no forecast");
    practice();
  }

  /// Writes the published runs behind times in practice, and which of the two times a decision should use.
  void practice() {
    std::vector<std::string> runs;
    std::vector<std::string> missing;
    const auto add = [](std::vector<std::string>& to, const std::string& text) {
      if (!text.empty() && std::ranges::find(to, text) == to.end()) to.push_back(text);
    };
    for (const ComparedRow& row : comparison_.rows) {
      if (!row.target) continue;
      add(runs, row.target->published_runs);
      add(missing, row.target->unpublished);
    }
    if (!runs.empty())
      remark(
          "in practice: the steps of all-reduce to the target, times those that published runs needed over "
          "all-reduce's for the same accuracy: " +
          joined(runs, runs.size()));
    if (!missing.empty()) remark("no published run is like " + joined(missing, kMostNamed));
    remark(
        "decide by the times in practice where a row has one: bounds hold for the worst problem, and only "
        "put "
        "rows in order of which nobody published a run");
  }

  /// Joins at most `most` parts, and counts the others.
  static std::string joined(const std::vector<std::string>& parts, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(parts.size(), most); ++i) text += (i == 0 ? "" : "; ") + parts[i];
    if (parts.size() > most) text += fmt::format("; and {} more", parts.size() - most);
    return text;
  }

  static std::string assumptions_of(const TargetSummary& target) {
    return fmt::format("noise {:.4g} of a {}, heterogeneity {:.4g}", target.noise,
                       target.noise_of_sample ? "sample" : "replica", target.heterogeneity);
  }

  /// Gradients and models of different widths, or of which one kind travels beside computing and the other
  /// does not, are no comparison of methods alone.
  void unlike() {
    widths();
    overlaps();
  }

  void overlaps() {
    const auto any = [this](bool models, bool overlaps) {
      return std::ranges::any_of(comparison_.rows, [&](const ComparedRow& row) {
        const SyncSummary& sync = row.sync;
        return !sync.wire.empty() && sync.in_step && sync.models == models && sync.overlaps == overlaps;
      });
    };
    const auto say = [this](std::string_view gradients, std::string_view models) {
      remark(
          fmt::format("not like for like: gradients travel {}, models {} (plan.overlap_gradient_reduce and "
                      "data_parallel_sync.overlap set it)",
                      gradients, models));
    };
    if (any(false, true) && any(true, false)) say("beside computing", "after it");
    if (any(false, false) && any(true, true)) say("after computing", "beside it");
  }

  /// Writes the precisions of uncompressed messages.
  void widths() {
    std::string gradients;
    std::string models;
    for (const ComparedRow& row : comparison_.rows) {
      if (row.sync.wire.empty() || row.sync.compressed) continue;
      std::string& names = row.sync.models ? models : gradients;
      if (names.find(row.sync.wire) == std::string::npos)
        names += (names.empty() ? "" : ", ") + row.sync.wire;
    }
    if (gradients.empty() || models.empty() || gradients == models) return;
    remark("not like for like: gradients travel in " + gradients + ", models in " + models +
           " (plan.wire_precision.data and plan.wire_precision.models set them)");
  }

  void solved() {
    if (!comparison_.solve) return;
    const Solve& solve = *comparison_.solve;
    line("  " +
         painted(
             "2",
             fmt::format("{}: the least of three digits at which {} has reached {:.6g}, and rows are with it",
                         solve.key, solve.figure, solve.value)));
  }

  /// Rows of which the first one has neither speed-up nor scaling.
  void incomparable() {
    const bool any = std::ranges::any_of(
        comparison_.rows, [](const ComparedRow& row) { return row.ratios && !row.ratios->speed_up; });
    if (any) line("  " + painted("2", "no speed-up: tokens and samples without tokens do not compare"));
  }

  /// Methods without steps to the target, each once.
  void unrated() {
    std::vector<std::string> told;
    for (const ComparedRow& row : comparison_.rows) {
      if (!row.target || row.target->no_steps.empty()) continue;
      const std::string& method = row.sync.method;
      if (std::ranges::find(told, method) != told.end()) continue;
      told.push_back(method);
      line("  " + painted("2", "no steps to the target for " + method + ": " + row.target->no_steps));
    }
  }

  [[nodiscard]] std::string label(const ComparedRow& row) const {
    std::string out;
    if (comparison_.several || comparison_.keys.empty()) out = printable(row.name);
    const std::vector<std::string> names = short_names(comparison_.keys);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (row.varied[i].empty()) continue;
      out += (out.empty() ? "" : ", ") + names[i] + "=" + printable(row.varied[i]);
    }
    return out;
  }

  using Sentences = std::vector<std::pair<std::string, std::vector<std::string>>>;

  /// Adds the row to those with the same sentence.
  void say(const std::string& sentence, const ComparedRow& row, Sentences& sentences) const {
    auto known = std::ranges::find(sentences, sentence, [](const auto& entry) { return entry.first; });
    if (known == sentences.end()) known = sentences.insert(known, {sentence, {}});
    known->second.push_back(label(row));
  }

  /// Every sentence once, with the rows that it is about.
  void list(const std::string& title, const Sentences& sentences) {
    if (!sentences.empty()) line("\n" + painted("1", title));
    for (const auto& [sentence, rows] : sentences) {
      line("  " + sentence);
      constexpr std::size_t kMost = 8;
      for (std::size_t i = 0; i < std::min(rows.size(), kMost); ++i) line("    " + painted("2", rows[i]));
      if (rows.size() > kMost) line("    " + painted("2", fmt::format("and {} more", rows.size() - kMost)));
    }
  }

  void left_out() {
    Sentences sentences;
    for (const ComparedRow& row : comparison_.rows) {
      for (const std::string& sentence : row.left_out) say(sentence, row, sentences);
    }
    list("Left out", sentences);
  }

  /// Rows whose latencies depend on how many requests are served.
  void queues() {
    Sentences sentences;
    for (const ComparedRow& row : comparison_.rows) {
      if (!row.serves() || row.report->serving->arrivals_per_s == 0) continue;
      const std::optional<bool>& grows = row.report->serving->unstable;
      if (!grows) say("too few requests to tell whether the queue grows", row, sentences);
      if (grows == true) say("it grows: requests arrive faster than they are served", row, sentences);
    }
    list("Queues", sentences);
  }

  void reasons() {
    Sentences sentences;
    for (const ComparedRow& row : comparison_.rows) {
      for (const std::string& reason : row.reasons) say(reason, row, sentences);
    }
    list("Not feasible", sentences);
  }

  /// Explains each row against the first one: its step time by GPU and along the critical path, and its
  /// memory.
  void why() {
    bool any = false;
    for (std::size_t i = 0; i < comparison_.rows.size(); ++i) {
      const std::optional<StepDifference> difference = comparison_.difference(i);
      if (!difference) continue;
      any = true;
      why(label(comparison_.rows[i]), *difference);
    }
    if (!any) remark("--why: there is no second row with a step time");
  }

  void why(const std::string& row, const StepDifference& difference) {
    const std::string first = label(comparison_.rows[*comparison_.reference()]);
    const auto ms =
        static_cast<double>(difference_in_units(difference.breakdown, kThousandthOfMillisecond)) / 1000;
    const std::string relation =
        ms == 0 ? "as long as"
                : fmt::format("{:.3f} ms {} than", std::abs(ms), ms < 0 ? "shorter" : "longer");
    const bool serves = comparison_.serves();
    const std::string_view what = serves ? kTokenTime : "step";
    line("\n" + painted("1", fmt::format("Why the {} of {} is {} that of {}", what, row, relation, first)));
    if (const std::string causes = cause_sentence(difference); !causes.empty()) remark(causes);
    terms(difference.breakdown, kThousandthOfMillisecond,
          {serves ? kTokenTime : "mean over GPUs", "first ms", "this ms", "more ms"});
    terms(difference.kernels, kThousandthOfMillisecond,
          {"compute by class of kernel", "first ms", "this ms", "more ms"});
    terms(difference.critical_path, kThousandthOfMillisecond,
          {"along the critical path", "first ms", "this ms", "more ms"});
    terms(difference.memory, kThousandthOfGigabyte,
          {serves ? "memory of a GPU" : "memory of the fullest stage", "first GB", "this GB", "more GB"});
  }

  void terms(const DifferenceTerms& terms, std::int64_t thousandth, const DifferenceHeaders& headers) {
    if (terms.empty()) return;  // workers that keep no step have no critical path in common
    const std::string table = difference_table(terms, thousandth, headers);
    out_ += table.empty() ? fmt::format("  {}: alike\n", headers.terms) : table;
  }

  const Comparison& comparison_;
  std::size_t width_;
  bool colour_;
  std::string out_;
};

}  // namespace

void write_comparison_text(const Comparison& comparison, std::size_t width, bool colour, const Sink& sink) {
  sink(ComparisonText(comparison, width, colour).text());
}

}  // namespace orrery
