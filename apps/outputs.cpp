#include "apps/outputs.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "apps/text_columns.hpp"
#include "config/text/wording.hpp"
#include "orrery/error.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_output(const std::string& why) {
  throw InputError({Diagnostic{"command line", 0, 0, "", why}});
}

}  // namespace

void Outputs::require_own(const std::string& path) {
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
}

OutputFile* Outputs::open(const std::string& path) {
  if (path.empty()) return nullptr;
  require_own(path);
  files_.push_back(std::make_unique<OutputFile>(path));
  use_standard_output_ = use_standard_output_ || path == "-";
  return files_.back().get();
}

OutputFolder* Outputs::open_folder(const std::string& path) {
  if (path.empty()) return nullptr;
  require_own(path);
  folders_.push_back(std::make_unique<OutputFolder>(path));
  return folders_.back().get();
}

void Outputs::commit() {
  for (const auto& file : files_) file->finish();
  try {
    for (const auto& file : files_) file->put_in_place();
    for (const auto& folder : folders_) folder->put_in_place();
  } catch (...) {
    for (const auto& file : files_) file->take_back();
    for (const auto& folder : folders_) folder->take_back();
    throw;
  }
}

Sink to(OutputFile& file) {
  return [&file](std::string_view text) { file.write(text); };
}

bool colour_on_standard_output() {
  const auto value_of = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  const std::string_view terminal = value_of("TERM");
  const bool plain = terminal.empty() || terminal == "dumb" || !value_of("NO_COLOR").empty();
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
