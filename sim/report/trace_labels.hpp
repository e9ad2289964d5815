// Names and categories of trace slices, made once per kind of operation. Viewers colour by the name
// without its digits, so a name says what runs and never which: layer and micro-batch are arguments.
#pragma once

#include <string>
#include <vector>

#include "orrery/workload.hpp"

namespace orrery {

class TraceLabels {
 public:
  TraceLabels();

  /// `"name":"forward attention","cat":"compute"` of an operation.
  [[nodiscard]] const std::string& of(const Workload& workload, const Op& op) const;

 private:
  std::vector<std::string> compute_;      // [phase][part]
  std::vector<std::string> collectives_;  // [collective][dimension]
  std::vector<std::string> transfers_;    // [stream][dimension]
};

}  // namespace orrery
