#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "config/text/wording.hpp"
#include "reports/difference_causes.hpp"
#include "reports/step_difference.hpp"
#include "reports/text/text_table.hpp"
#include "studies/explain/writers.hpp"

namespace orrery {
namespace {

class ExplanationText {
 public:
  ExplanationText(const Explanation& of, std::size_t width, bool colour)
      : of_(of), width_(width), colour_(colour) {}

  std::string text() {
    head();
    terms();
    places();
    findings();
    messages();
    collectives();
    figures();
    constants();
    remarks();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string bold(std::string_view text) const {
    return colour_ ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
  }
  void title(std::string_view text) { out_ += "\n" + bold(text) + "\n"; }

  /// A sentence in lines of the terminal's width.
  void remark(const std::string& text) {
    std::istringstream words(text);
    std::string now;
    for (std::string word; words >> word;) {
      if (!now.empty() && text_width(now) + text_width(word) + 3 > width_)
        out_ += "  " + std::exchange(now, "") + "\n";
      now += (now.empty() ? "" : " ") + word;
    }
    out_ += "  " + now + "\n";
  }

  static std::string ms(Picoseconds time) {
    return fmt::format("{:.3f} ms", static_cast<double>(time) * 1e-9);
  }

  void head() {
    if (of_.measured_ps == 0) return;
    const Picoseconds more = of_.more_ps();
    const double share = 100 * static_cast<double>(std::abs(more)) / static_cast<double>(of_.simulated_ps);
    out_ += bold(fmt::format("The measured {} takes {}, {} ({:.1f} %) {} than the simulated one of {}",
                             of_.unit, ms(of_.measured_ps), ms(std::abs(more)), share,
                             more < 0 ? "less" : "more", ms(of_.simulated_ps)));
    out_ += "\n";
    if (of_.measured_s_p90 > 0)
      remark(fmt::format("{} {}s; of ten, eight take {:.3f} to {:.3f} ms", of_.steps, of_.unit,
                         of_.measured_s_p10 * 1e3, of_.measured_s_p90 * 1e3));
    if (more != 0 && of_.terms.size() > 1) remark(causes());
  }

  /// "62 % of the difference in attention, ..." of the largest terms.
  [[nodiscard]] std::string causes() const {
    constexpr std::size_t kMost = 3;
    const auto all = static_cast<double>(of_.more_ps());
    std::string text;
    double rest = 100;
    for (std::size_t i = 0; i < std::min(kMost, of_.terms.size()); ++i) {
      const double share = 100 * static_cast<double>(of_.terms[i].more_ps()) / all;
      rest -= share;
      text += fmt::format("{}{:.0f} %{} in {}", i == 0 ? "" : ", ", share, i == 0 ? " of the difference" : "",
                          words_of(of_.terms[i].name));
    }
    if (of_.terms.size() > kMost)
      text += fmt::format(", {:.0f} % in {} others", rest, of_.terms.size() - kMost);
    return text;
  }

  void terms() {
    if (of_.terms.empty()) return;
    DifferenceTerms list;
    for (const ExplainedTerm& term : of_.terms)
      list.push_back({std::string(words_of(term.name)), term.simulated_ps, term.measured_ps});
    title(fmt::format("Where the time goes (mean {})", of_.unit));
    const std::string table =
        difference_table(list, kThousandthOfMillisecond, {"term", "simulated ms", "measured ms", "more ms"});
    out_ += table.empty() ? "  measured and simulated alike\n" : table;
  }

  void places() {
    TextTable table({"term", "rank", "more ms", "at ms"});
    constexpr std::size_t kMost = 3;
    for (std::size_t t = 0; t < std::min(kMost, of_.terms.size()); ++t)
      for (std::size_t i = 0; i < std::min(kMost, of_.terms[t].places.size()); ++i) {
        const TermPlace& place = of_.terms[t].places[i];
        table.add({std::string(words_of(of_.terms[t].name)), std::to_string(place.rank),
                   fmt::format("{:.3f}", static_cast<double>(place.more_ps) * 1e-9),
                   fmt::format("{:.3f}", static_cast<double>(place.at_ps) * 1e-9)});
      }
    if (table.empty()) return;
    title("On which ranks, and when the longest stretch begins");
    out_ += table.text();
  }

  void findings() {
    if (of_.findings.empty()) return;
    title("What stands behind it");
    for (const ExplainedCause& finding : of_.findings) {
      std::string gain;
      if (finding.gain_ps)
        gain = *finding.gain_ps < 0
                   ? fmt::format("; as simulated, the step would be {} longer", ms(-*finding.gain_ps))
                   : fmt::format("; mended, the step would be {} shorter", ms(*finding.gain_ps));
      remark(finding.sentence + gain);
    }
  }

  void messages() {
    if (of_.messages.empty()) return;
    title("Messages of a GPU in a step, from when all ranks had come");
    TextTable table({"dimension", "collective", "calls", "GB", "simulated ms", "measured ms", "waits ms"});
    for (const ExplainedMessages& kind : of_.messages)
      table.add({kind.dimension, kind.collective, fmt::format("{:.6g}", kind.measured_calls),
                 fmt::format("{:.3f}", kind.measured_gb), fmt::format("{:.3f}", kind.simulated_s * 1e3),
                 fmt::format("{:.3f}", kind.measured_s * 1e3), fmt::format("{:.3f}", kind.waiting_s * 1e3)});
    out_ += table.text();
  }

  void collectives() {
    if (of_.collectives.empty()) return;
    title("Collectives alone");
    TextTable table({"collective", "ranks", "bytes", "simulated us", "measured us", "times"});
    for (const ExplainedCollective& row : of_.collectives)
      table.add({row.collective, std::to_string(row.ranks), std::to_string(row.bytes),
                 fmt::format("{:.2f}", row.simulated_s * 1e6), fmt::format("{:.2f}", row.measured_s * 1e6),
                 fmt::format("{:.3f}", row.measured_s / row.simulated_s)});
    out_ += table.text();
  }

  void figures() {
    if (of_.figures.empty()) return;
    title("Figures of requests");
    TextTable table({"figure", "simulated", "measured", "times"});
    for (const ExplainedFigure& figure : of_.figures)
      table.add({figure.key, fmt::format("{:.6g}", figure.simulated), fmt::format("{:.6g}", figure.measured),
                 fmt::format("{:.3f}", figure.measured / figure.simulated)});
    out_ += table.text();
  }

  void constants() {
    if (of_.constants.empty()) return;
    title("Constants that the run contradicts");
    TextTable table({"key", "is", "implied", "by"});
    for (const ContradictedConstant& one : of_.constants)
      table.add({one.key, fmt::format("{:.4g}", one.value),
                 fmt::format("{:.4g}{}", one.implied, one.possible ? "" : " (impossible)"), one.why});
    out_ += table.text();
  }

  void remarks() {
    title("What this rests on");
    for (const std::string& file : of_.read) remark(file);
    if (!of_.confidence.empty()) remark("confidence " + of_.confidence);
    for (const std::string& one : of_.unmatched) remark("not lined up: " + one);
  }

  const Explanation& of_;
  std::size_t width_;
  bool colour_;
  std::string out_;
};

}  // namespace

void write_explanation_text(const Explanation& explanation, std::size_t width, bool colour,
                            const Sink& sink) {
  sink(ExplanationText(explanation, width, colour).text());
}

}  // namespace orrery
