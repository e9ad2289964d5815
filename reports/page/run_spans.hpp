// Writes the timelines of a run as columns of a page: the operations of ranks on each stream, the passes of
// each stage, why GPUs wait, and the critical path. Ranks that were simulated as one are one class of them.
// Internal to reports/page/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "orrery/rank_grid.hpp"
#include "reports/page/page.hpp"
#include "reports/text/json_text.hpp"
#include "reports/trace/labels.hpp"
#include "reports/trace/plan.hpp"
#include "sim/metrics/breakdown.hpp"
#include "sim/metrics/passes.hpp"

namespace orrery {

class RunSpans {
 public:
  /// Takes classes of all ranks, or fewer to stay within `max_spans`: as ranks_within() says, then of fewer
  /// stages, evenly spread. If one stage alone has more spans, it takes the first operations. Passes, waits
  /// and the steps of the critical path have the same limit each.
  RunSpans(const RunView& run, const RankGrid& grid, std::uint64_t max_spans);

  /// Spans are numbered class by class, in the order of the operations of their programs.
  void add_columns(Page& page) const;
  /// Members of the object that is open.
  void write_facts(JsonText& text) const;

 private:
  struct Class {
    std::uint32_t id = 0;  ///< of the run
    std::uint32_t program = 0;
    std::uint32_t first_span = 0;
    std::uint32_t ops = 0;  ///< the first of its program, on the page
  };

  /// Describes a step of the critical path.
  struct PathStep {
    std::uint32_t task = 0;
    std::uint32_t of = 0;  ///< a class of the run; kNone: of none
    const Op* op = nullptr;
  };

  void choose_classes();
  void choose_passes_and_waits();
  void choose_path();
  const Class& add_class(std::uint32_t id);
  /// Returns one rank or more.
  [[nodiscard]] std::vector<std::uint32_t> ranks_on_page() const;
  /// Returns the number of spans; ranks simulated as one count once.
  [[nodiscard]] std::uint64_t spans_of(const std::vector<std::uint32_t>& ranks) const;
  void add_operations(Page& page) const;
  void add_spans(Page& page) const;
  void add_passes(Page& page) const;
  void add_waits(Page& page) const;
  void add_path(Page& page) const;
  void write_classes(JsonText& text) const;
  void write_groups(JsonText& text) const;
  void write_messages(JsonText& text) const;
  void write_grid(JsonText& text) const;

  /// Returns the operations of the class that the page shows.
  [[nodiscard]] std::span<const Op> ops_of(const Class& of) const {
    return std::span(run_.workload.programs[of.program].ops).first(of.ops);
  }
  [[nodiscard]] std::uint16_t label_of(const Op& op) const;
  [[nodiscard]] std::uint32_t rank_of(const Class& of) const {
    return run_.expanded.representatives.representative[of.id];
  }
  /// Returns, for each pipeline stage, the rank that represents its class in the first replica.
  [[nodiscard]] std::vector<std::uint32_t> stage_ranks() const;

  const RunView& run_;
  const RankGrid& grid_;
  TracePlan plan_;
  TraceLabels labels_;
  std::vector<std::string> names_;
  std::vector<Class> classes_;
  std::vector<std::uint32_t> place_of_class_;  ///< in classes_, by class of the run; kNone: not chosen
  std::vector<std::uint32_t> first_op_;        ///< per program: of the columns of operations
  std::vector<std::uint32_t> span_of_task_;    ///< kNone: of no chosen class
  std::uint32_t spans_ = 0;
  std::uint64_t max_spans_;
  Picoseconds operations_until_;  ///< the first one on a compute stream that is left out begins then
  Picoseconds schedule_until_;    ///< likewise of passes and waits
  Picoseconds path_until_;        ///< likewise of the critical path
  std::vector<PassSpan> passes_;
  std::vector<std::uint32_t> pass_stages_;
  std::vector<Wait> waits_;
  std::vector<std::uint32_t> wait_places_;  ///< in classes_
  std::vector<PathStep> path_;
};

}  // namespace orrery
