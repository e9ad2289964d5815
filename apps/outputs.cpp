#include "apps/outputs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "orrery/error.hpp"

namespace orrery {

OutputFile* Outputs::open(const std::string& path) {
  if (path.empty()) return nullptr;
  if (std::ranges::find(paths_, path) != paths_.end()) {
    throw InputError({Problem{"command line", 0, 0, "", "two outputs go to \"" + path + "\""}});
  }
  for (const std::string& input : inputs_) {
    std::error_code missing;
    if (path != "-" && std::filesystem::equivalent(path, input, missing) &&
        std::filesystem::is_regular_file(path, missing)) {
      throw InputError({Problem{"command line", 0, 0, "",
                                "the output \"" + path + "\" would replace the input \"" + input + "\""}});
    }
  }
  paths_.push_back(path);
  files_.push_back(std::make_unique<OutputFile>(path));
  use_standard_output_ = use_standard_output_ || path == "-";
  return files_.back().get();
}

void Outputs::commit() {
  for (const auto& file : files_) file->commit();
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

void print_summary(const Report& report) {
  write_summary(report, colour_on_standard_output(), [](std::string_view text) { std::cout << text; });
  std::cout.flush();
  if (!std::cout) throw RunError("cannot write to standard output");
}

std::string json_line(const Report& report, const ResultSelection& keys) {
  std::string line;
  write_json(report, keys, -1, [&line](std::string_view text) { line += text; });
  return line;
}

}  // namespace orrery
