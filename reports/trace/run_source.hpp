// Supplies the trace of a run of steps: a process per rank, a thread per stream, memory and links as
// counters.
#pragma once

#include <map>

#include "orrery/rank_grid.hpp"
#include "reports/trace/arguments.hpp"
#include "reports/trace/labels.hpp"
#include "reports/trace/source.hpp"
#include "reports/trace/walk.hpp"

namespace orrery {

class RunTrace final : public TraceSource, private TraceEvents {
 public:
  /// Refers to both.
  RunTrace(const TracePlan& plan, const RankGrid& grid);

  [[nodiscard]] std::size_t processes() const override { return plan_.ranks.size(); }
  [[nodiscard]] TraceProcess process(std::size_t at) const override;
  [[nodiscard]] std::vector<TraceCounter> counters(std::size_t at) const override;
  [[nodiscard]] std::uint32_t threads() const override { return plan_.run.workload.streams; }
  [[nodiscard]] std::uint32_t used_threads() const override { return used_streams(plan_.run.workload); }
  [[nodiscard]] std::uint32_t series() const override { return 1 + kDimensionCount; }
  [[nodiscard]] std::vector<const TraceLabel*> labels() const override { return labels_.all(); }
  [[nodiscard]] std::span<const std::string_view> argument_names() const override { return kArgumentNames; }
  [[nodiscard]] Nanoseconds end() const override { return plan_.run.timeline.makespan_ps / 1000; }
  void tell(TraceReader& reader) override;
  void tell_thread(std::uint32_t process, std::uint32_t thread, TraceReader& reader) override;

 private:
  void slice(const TraceSlice& slice) override;
  void memory(std::uint32_t rank, Nanoseconds time, Bytes bytes) override;
  void links(std::uint32_t rank, Nanoseconds time, const LinkCounter::Rates& rates,
             const LinkCounter& uses) override;

  const TracePlan& plan_;
  const RankGrid& grid_;
  bool detailed_;
  TraceLabels labels_;
  TraceCounter memory_;
  std::map<std::uint32_t, TraceCounter> links_;  ///< by the dimensions that are used, as bits
  TraceReader* reader_ = nullptr;
};

}  // namespace orrery
