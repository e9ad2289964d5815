// Names and categories of operations in traces and spans, made once per kind of operation. Viewers colour by
// the name without its digits, so a name says what runs and never which: layer and micro-batch are arguments.
// The category is the phase; the thread tells computation and the kinds of communication apart.
#pragma once

#include <string>
#include <vector>

#include "orrery/workload.hpp"

namespace orrery {

class TraceLabels {
 public:
  TraceLabels();

  struct Label {
    std::string name;  ///< "forward attention"
    std::string json;  ///< `"name":"forward attention","cat":"forward"`
  };
  [[nodiscard]] const Label& of(const Workload& workload, const Op& op) const;
  /// Every name there is, each once, in an order that does not depend on the run.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::vector<Label> compute_;      // [phase][part]
  std::vector<Label> collectives_;  // [phase][collective]
  Label tied_;
  Label sends_model_;
  Label receives_model_;
  std::vector<Label> transfers_;  // [phase][stream]
  std::vector<Label> host_;       // [phase]
};

}  // namespace orrery
