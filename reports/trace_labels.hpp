// Names and categories of trace slices, made once per kind of operation. Viewers colour by the name
// without its digits, so a name says what runs and never which: layer and micro-batch are arguments.
// The category is the phase; the thread tells computation and the kinds of communication apart.
#pragma once

#include <string>
#include <vector>

#include "orrery/workload.hpp"

namespace orrery {

class TraceLabels {
 public:
  TraceLabels();

  /// `"name":"forward attention","cat":"forward"` of an operation.
  [[nodiscard]] const std::string& of(const Workload& workload, const Op& op) const;

 private:
  std::vector<std::string> compute_;      // [phase][part]
  std::vector<std::string> collectives_;  // [phase][collective]
  std::string tied_;
  std::string sends_model_;
  std::string receives_model_;
  std::vector<std::string> transfers_;  // [phase][stream]
  std::vector<std::string> host_;       // [phase]
};

}  // namespace orrery
