// Errors a user can cause. The command line turns them into one line and an exit status.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "orrery/printable.hpp"

namespace orrery {

/// Describes one mistake in an input: its place, and the error (found, allowed, nearest name).
struct Diagnostic {
  std::string source;   ///< file name, "-" for standard input, or "command line"
  int line = 0;         ///< from 1; 0 where there is no text position
  int column = 0;       ///< from 1
  std::string pointer;  ///< JSON pointer, such as /plan/tensor_parallel
  std::string message;
  bool not_modelled = false;  ///< not wrong: the interface knows it, but nothing models it yet
  bool idle = false;          ///< not wrong: beside the other values this one does nothing

  /// Returns "file:line:column: /pointer: message" on one line, without unknown parts.
  [[nodiscard]] std::string text() const {
    std::string out = source;
    if (line > 0) {
      out += ':';
      out += std::to_string(line);
      out += ':';
      out += std::to_string(column);
    }
    if (!out.empty()) out += ": ";
    out += pointer;
    if (!pointer.empty()) out += ": ";
    out += message;
    return one_line(out);
  }
};

/// The input is wrong (exit status 2). Carries every diagnostic found.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics)
      : std::runtime_error(diagnostics.empty() ? "wrong input" : diagnostics.front().text()),
        diagnostics_(std::move(diagnostics)) {}
  InputError(std::string pointer, std::string message)
      : InputError({Diagnostic{"", 0, 0, std::move(pointer), std::move(message)}}) {}
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// The run failed: a file cannot be written, say (exit status 1).
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace orrery
