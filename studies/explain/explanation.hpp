// Holds why a measured run takes as long as it does: the terms of its step beside those of the simulated one,
// what causes stand behind them, and what could not be lined up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/units.hpp"

namespace orrery {

/// A rank on which a term is larger than simulated.
struct TermPlace {
  std::int64_t rank = 0;
  Picoseconds more_ps = 0;  ///< than simulated on the same rank
  Picoseconds at_ps = 0;    ///< from the beginning of the step: where its longest stretch begins
};

/// One term of the mean step. Terms add up to the step on both sides.
struct ExplainedTerm {
  std::string name;  ///< of `kernels_s` or `breakdown_s`, or one of our own for waits
  Picoseconds measured_ps = 0;
  Picoseconds simulated_ps = 0;
  std::vector<TermPlace> places;  ///< the largest first; of profiles alone

  [[nodiscard]] Picoseconds more_ps() const { return measured_ps - simulated_ps; }
};

/// Compares all messages of one collective in one dimension, per GPU and step.
struct ExplainedMessages {
  std::string dimension;
  std::string collective;
  double measured_calls = 0, simulated_calls = 0;
  double measured_gb = 0, simulated_gb = 0;
  double measured_s = 0, simulated_s = 0;  ///< from when all ranks had come
  double waiting_s = 0;                    ///< until then

  [[nodiscard]] double factor() const { return simulated_s > 0 ? measured_s / simulated_s : 0; }
};

/// A cause behind terms.
struct ExplainedCause {
  std::string cause;                   ///< "rank 5", "attention", "tensor messages", "data loading"
  std::string sentence;                ///< about it
  double factor = 0;                   ///< of times over simulated ones; 0 where it is a delay
  Picoseconds delay_ps = 0;            ///< per step, where it is one
  std::optional<Picoseconds> gain_ps;  ///< of the step if it were mended, simulated
};

/// One size of a collective in nccl-tests, and simulated on the same ranks.
struct ExplainedCollective {
  std::string collective;
  std::int64_t ranks = 0;
  std::int64_t bytes = 0;
  double measured_s = 0, simulated_s = 0;
};

/// A figure of requests.
struct ExplainedFigure {
  std::string key;
  double measured = 0, simulated = 0;
};

/// A constant of the experiment that the run contradicts, and the value that it would take.
struct ContradictedConstant {
  std::string key;
  double value = 0;
  double implied = 0;
  std::string why;
  bool possible = true;  ///< the implied value is within the key's limits
};

struct Explanation {
  std::string name;               ///< of the experiment
  std::vector<std::string> read;  ///< what each file is, a sentence each
  std::string unit = "step";      ///< what times are of: "step", or "request"
  Picoseconds measured_ps = 0;    ///< of the mean step
  Picoseconds simulated_ps = 0;
  double measured_s_p10 = 0, measured_s_p90 = 0;  ///< of steps, over time
  std::int64_t steps = 0;                         ///< that were measured
  std::vector<ExplainedTerm> terms;               ///< the largest difference first
  std::vector<ExplainedMessages> messages;
  std::vector<ExplainedCause> findings;  ///< the largest gain first
  std::vector<ExplainedCollective> collectives;
  std::vector<ExplainedFigure> figures;
  std::vector<ContradictedConstant> constants;
  std::vector<std::string> unmatched;  ///< what could not be lined up
  std::string confidence;              ///< "high", "medium" or "low", and why

  [[nodiscard]] Picoseconds more_ps() const { return measured_ps - simulated_ps; }
};

}  // namespace orrery
