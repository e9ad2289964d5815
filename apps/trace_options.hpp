// Declares the options of `simulate` about traces: file, format and part of the run.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "apps/outputs.hpp"
#include "orrery/experiment.hpp"
#include "reports/writers.hpp"
#include "sim/run/recorded_outcome.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace orrery {

struct TraceArguments {
  std::string file;
  std::string kineto;        ///< a folder
  std::string chakra;        ///< a folder
  std::string ranks, steps;  ///< lists of numbers
  std::string level = "operation";
  std::uint64_t spans = 1'000'000;

  [[nodiscard]] bool any() const { return !file.empty() || !kineto.empty() || !chakra.empty(); }
};

/// The traces cannot be had together with `excluded`.
void add_trace(CLI::App& app, TraceArguments& arguments, std::initializer_list<CLI::Option*> excluded);

/// The traces that a run is asked for, opened before it.
class TraceOutputs {
 public:
  /// `overrides` go into the traces beside the experiment.
  /// @throws InputError for ranks and steps that the experiment does not have, or if it has no timeline.
  TraceOutputs(const TraceArguments& arguments, const Experiment& experiment,
               const std::vector<std::string>& overrides, Outputs& outputs);
  void write(const RecordedOutcome& outcome, const Experiment& experiment);
  /// A line on each, after the summary.
  void print_notes(const Report& report) const;

 private:
  void print_serving_notes() const;

  const TraceArguments& arguments_;
  TraceOptions options_;
  OutputFile* file_;
  OutputFolder* folder_;
  TraceInfo written_;
  TraceInfo written_to_folder_;
  OutputFolder* chakra_;
  TraceInfo written_as_chakra_;
};

}  // namespace orrery
