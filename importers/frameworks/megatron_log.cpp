#include "importers/frameworks/megatron_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/python_value.hpp"
#include "importers/frameworks/megatron.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr std::string_view kBegin = "- arguments -";
constexpr std::string_view kEnd = "- end of arguments -";
constexpr std::string_view kElapsed = "elapsed time per iteration (ms):";
constexpr std::size_t kMostSteps = 1'000'000;

/// A line of a log, and where it stands.
struct LogLine {
  std::string_view text;
  std::size_t offset = 0;
};

/// Cuts the line at `at` off, and moves on behind it.
LogLine next_line(std::string_view text, std::size_t& at) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  LogLine line{text.substr(at, end - at), at};
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  at = end + 1;
  return line;
}

/// "host: rank:   hidden_size ..... 4096": the name before the dots, whatever stands before it.
std::optional<SourceKey> argument_in(const LogLine& line, const SourceFile& file) {
  const std::size_t dots = line.text.find(" ..");
  if (dots == std::string_view::npos) return std::nullopt;
  const std::size_t begin = line.text.find_last_of(" :]", dots - 1) + 1;
  const std::size_t value = line.text.find_first_not_of('.', dots + 1);
  if (begin >= dots || value == std::string_view::npos || line.text[value] != ' ') return std::nullopt;
  return SourceKey{std::string(line.text.substr(begin, dots - begin)),
                   python_value(line.text.substr(value + 1)), file.place_at(line.offset)};
}

void read_arguments_block(const SourceFile& file, LaunchArguments& all) {
  std::size_t at = file.text().find(kBegin);
  at = std::min(file.text().find('\n', at), file.text().size() - 1) + 1;
  while (at < file.text().size()) {
    const LogLine line = next_line(file.text(), at);
    if (line.text.find(kEnd) != std::string_view::npos) return;
    if (const auto key = argument_in(line, file)) add_megatron_argument(*key, key->key, all);
  }
}

/// Milliseconds behind "elapsed time per iteration (ms):".
std::optional<double> elapsed_ms(std::string_view text) {
  std::size_t at = text.find(kElapsed);
  if (at == std::string_view::npos) return std::nullopt;
  at = text.find_first_not_of(' ', at + kElapsed.size());
  double value = 0;
  if (at == std::string_view::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  return error == std::errc() && value > 0 && value < 1e12 ? std::optional(value) : std::nullopt;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The steps that the log measured, for whoever compares them. The first one warms up.
void read_steps(const SourceFile& file, Draft& draft) {
  std::vector<double> seconds;
  FilePlace first;
  for (std::size_t at = 0; at < file.text().size() && seconds.size() < kMostSteps;) {
    const LogLine line = next_line(file.text(), at);
    const auto ms = elapsed_ms(line.text);
    if (!ms) continue;
    if (seconds.empty()) first = file.place_at(line.offset);
    seconds.push_back(*ms / 1e3);
  }
  if (seconds.empty()) return;
  const bool warm = seconds.size() > 1;
  const double middle = median({seconds.begin() + (warm ? 1 : 0), seconds.end()});
  const SourceKey key{"elapsed time per iteration (ms)", fmt::format("{} steps", seconds.size()), first};
  draft.map(key, launch::kMeasuredStep, seconds,
            fmt::format("median {:.4g} s{}", middle, warm ? " without the first one" : ""));
}

bool recognises_log(const SourceFile& file) {
  const std::size_t at = file.text().find(kBegin);
  return at != std::string_view::npos && file.text().find(" ..", at) != std::string_view::npos;
}

void read_log(const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  read_arguments_block(context.file, all);
  read_steps(context.file, draft);
  read_megatron_arguments(all, "Megatron-LM");
}

}  // namespace

const Importer kMegatronLog{
    {"megatron-log", "log of Megatron-LM with its block of arguments"}, recognises_log, read_log};

}  // namespace orrery::importers::frameworks
