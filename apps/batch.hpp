// Implements batch mode: a stream of experiments in, a stream of results out, line by line and in order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/progress.hpp"
#include "config/experiment/read_experiment.hpp"

namespace orrery {

using LineLabel = ExperimentLabel;

/// Answers one line with an object of JSON and an end of line; throws as the work it does. The number counts
/// lines from 1. Sets the label as soon as it is known.
using Answer = std::function<std::string(const std::string& line, std::uint64_t number, LineLabel& label)>;

/// Reads lines from standard input and writes their answers to standard output, each as soon as it and all
/// before it are there; where lines are short work, several together. Answers begin with the number of their
/// line and its label. A line whose answer throws is answered with {"line": ..., "error": {"pointer": ...,
/// "message": ...}}. Blank lines are skipped. Each thread makes an Answer of its own. Exit status 0.
/// @throws RunError as soon as the reader of standard output is gone.
int run_batch(unsigned threads, const std::function<Answer()>& make_answer,
              const ProgressReport& progress = {});

}  // namespace orrery
