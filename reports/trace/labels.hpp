// Names operations in traces and spans, once per kind of operation, with categories. Viewers colour by the
// name without its digits, so a name gives the kind of work and no number: layer and micro-batch are
// arguments. The category is the phase, or says that the slice contains others; the thread tells computation
// and the kinds of communication apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/workload.hpp"
#include "reports/trace/slices.hpp"

namespace orrery {

class TraceLabels {
 public:
  TraceLabels();

  using Label = TraceLabel;
  [[nodiscard]] const Label& of(const Workload& workload, const Op& op) const;
  [[nodiscard]] const Label& of(const TracePlan& plan, const TraceSlice& slice) const;
  /// Each once, in an order that does not depend on the run; names may come again in another category.
  [[nodiscard]] std::vector<const Label*> all() const;
  /// Every name of an operation there is, each once, in an order that does not depend on the run.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  void number_all();

  std::vector<Label> compute_;      // [phase][part]
  std::vector<Label> collectives_;  // [phase][collective]
  Label tied_;
  Label sends_model_;
  Label receives_model_;
  std::vector<Label> transfers_;  // [phase][stream]
  std::vector<Label> host_;       // [phase]
  std::vector<Label> passes_;     // [phase]
  Label step_;
};

}  // namespace orrery
