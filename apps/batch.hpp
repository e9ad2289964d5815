// Batch mode: a stream of experiments in, a stream of results out, line by line and in order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace orrery {

/// Answers one line; throws as the work it does. The number counts lines from 1.
using Answer = std::function<std::string(const std::string& line, std::uint64_t number)>;

/// Reads lines from standard input and writes their answers to standard output, each as soon as it and all
/// before it are there; where lines are short work, several together. A line whose answer throws is answered
/// with {"error": {"pointer": ..., "message": ...}}. Blank lines are skipped. Exit status 0. Each thread
/// makes an Answer of its own.
int run_batch(unsigned threads, const std::function<Answer()>& make_answer);

}  // namespace orrery
