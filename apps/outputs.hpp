// Holds the files a command writes: opened before the work, so that an unwritable one costs none of it, and
// put in place together after it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/text/output_file.hpp"
#include "config/text/output_folder.hpp"
#include "orrery/report.hpp"
#include "reports/writers.hpp"

namespace orrery {

class Outputs {
 public:
  explicit Outputs(std::string experiment) { protect(std::move(experiment)); }
  /// Makes `input` a file that no output may replace.
  void protect(std::string input) { inputs_.push_back(std::move(input)); }
  /// Null for an empty path; "-" is standard output.
  /// @throws InputError if another output goes to the same file, by whatever name, or an input comes from it.
  OutputFile* open(const std::string& path);
  /// Opens a folder of files, which may not be standard output.
  OutputFolder* open_folder(const std::string& path);
  /// Puts all of them in place, or none.
  void commit();
  /// Returns true if one of the outputs is standard output, which then carries nothing else.
  [[nodiscard]] bool use_standard_output() const { return use_standard_output_; }

 private:
  std::vector<std::string> inputs_;
  std::vector<std::string> paths_;
  void require_own(const std::string& path);

  std::vector<std::unique_ptr<OutputFile>> files_;
  std::vector<std::unique_ptr<OutputFolder>> folders_;
  bool use_standard_output_ = false;
};

[[nodiscard]] Sink to(OutputFile& file);

/// Returns true if standard output may be coloured: on a terminal unless NO_COLOR has a value (no-color.org).
[[nodiscard]] bool colour_on_standard_output();

/// Colours where they may be, and the columns of the terminal.
[[nodiscard]] SummaryStyle terminal_style();

/// Prints to standard output all that `write` gives to its sink.
/// @throws RunError if it cannot be written.
void print_written(const std::function<void(const Sink&)>& write);

/// The summary on standard output, coloured where it may be.
/// @throws RunError if it cannot be written.
void print_summary(const Report& report);

/// Returns these keys of the report as one line of JSON.
[[nodiscard]] std::string json_line(const Report& report, const ResultSelection& keys);

}  // namespace orrery
