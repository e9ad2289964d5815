#include "apps/outputs.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "apps/text_columns.hpp"
#include "config/schema/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_output(const std::string& why) {
  throw InputError({Diagnostic{"command line", 0, 0, "", why}});
}

}  // namespace

OutputFile* Outputs::open(const std::string& path) {
  if (path.empty()) return nullptr;
  for (const std::string& other : paths_) {
    if (!same_file(path, other)) continue;
    refuse_output(path == other ? "two outputs go to " + quote(path)
                                : "the outputs " + quote(other) + " and " + quote(path) + " are one file");
  }
  for (const std::string& input : inputs_) {
    if (path == "-" || !same_file(path, input)) continue;
    refuse_output("the output " + quote(path) + " would replace the input " + quote(input));
  }
  paths_.push_back(path);
  files_.push_back(std::make_unique<OutputFile>(path));
  use_standard_output_ = use_standard_output_ || path == "-";
  return files_.back().get();
}

void Outputs::commit() {
  for (const auto& file : files_) file->finish();
  try {
    for (const auto& file : files_) file->put_in_place();
  } catch (...) {
    for (const auto& file : files_) file->take_back();
    throw;
  }
}

Sink to(OutputFile& file) {
  return [&file](std::string_view text) { file.write(text); };
}

bool colour_on_standard_output() {
  const char* terminal = std::getenv("TERM");
  const bool plain =
      terminal == nullptr || std::string_view(terminal) == "dumb" || std::getenv("NO_COLOR") != nullptr;
  return isatty(STDOUT_FILENO) != 0 && !plain;
}

SummaryStyle terminal_style() { return {colour_on_standard_output(), text_columns()}; }

void print_written(const std::function<void(const Sink&)>& write) {
  write([](std::string_view text) { std::cout << text; });
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
}

void print_summary(const Report& report) {
  print_written([&](const Sink& sink) { write_summary(report, terminal_style(), sink); });
}

std::string json_line(const Report& report, const ResultSelection& keys) {
  std::string line;
  write_json(report, keys, -1, [&line](std::string_view text) { line += text; });
  return line;
}

}  // namespace orrery
