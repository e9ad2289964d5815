#include "studies/explain/measured/training_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace orrery {
namespace {

constexpr std::size_t kMostValues = 1'000'000;
constexpr std::size_t kMostTimers = 200;
constexpr std::size_t kLongestTimer = 100;  ///< characters of its name
constexpr double kLongestMs = 86.4e6;       ///< a day
constexpr double kMostSamples = 1e15;       ///< of a batch, of GPUs: more is no count

/// A text in front of a number, and what the number is.
struct LogLabel {
  std::string_view text;
  double unit;  ///< of the number, in seconds or per second
  MeasuredSeries TrainingLog::*series;
  std::string_view framework;
};

/// The first that a line contains holds.
constexpr std::array kLabels{
    LogLabel{"elapsed time per iteration (ms):", 1e-3, &TrainingLog::step_s, "Megatron-LM"},
    LogLabel{"elapsed time per iteration (s):", 1, &TrainingLog::step_s, "Megatron-LM"},
    LogLabel{"iteration_time(ms):", 1e-3, &TrainingLog::step_s, "a training log"},
    LogLabel{"train_step_timing in s:", 1, &TrainingLog::step_s, "NeMo"},
    LogLabel{"train_step_timing in s=", 1, &TrainingLog::step_s, "NeMo"},
    LogLabel{"Step Time :", 1, &TrainingLog::step_s, "Megatron-Bridge"},
    LogLabel{"iter time (s):", 1, &TrainingLog::step_s, "DeepSpeed"},
    LogLabel{"step time (ms):", 1e-3, &TrainingLog::step_s, "a training log"},
    LogLabel{"step_time_ms", 1e-3, &TrainingLog::step_s, "a training log"},
    LogLabel{"step time (s):", 1, &TrainingLog::step_s, "a training log"},
    LogLabel{"step_time_s", 1, &TrainingLog::step_s, "a training log"},
    LogLabel{"step time", 1, &TrainingLog::step_s, "a training log"},
    LogLabel{"step_time", 1, &TrainingLog::step_s, "a training log"},
    LogLabel{"CurrSamplesPerSec=", 1, &TrainingLog::samples_per_s, "DeepSpeed"},
    LogLabel{"train_samples_per_second':", 1, &TrainingLog::samples_per_s, "Hugging Face"},
    LogLabel{"tgs (tokens/gpu/second)=", 1, &TrainingLog::tokens_per_s_per_gpu, "InternEvo"},
    LogLabel{"tgs:", 1, &TrainingLog::tokens_per_s_per_gpu, "a training log"},
    LogLabel{"tps:", 1, &TrainingLog::tokens_per_s_per_gpu, "torchtitan"},
    LogLabel{"train_steps_per_second':", -1, &TrainingLog::step_s, "Hugging Face"},  // its inverse
};

/// The number at the beginning of a text, after blanks, quotes, equal signs and colons; thousands may be
/// separated by commas. `rest` becomes what follows it.
std::optional<double> leading_number(std::string_view text, std::string_view& rest) {
  const std::size_t begin = text.find_first_not_of(" \t'\"=:(");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  std::string digits;
  std::size_t length = 0;
  for (; length < text.size() && digits.size() < 40; ++length) {
    const char c = text[length];
    const bool thousands = c == ',' && length + 3 < text.size() && text[length + 1] >= '0' &&
                           text[length + 1] <= '9' &&
                           !(length + 4 < text.size() && text[length + 4] >= '0' && text[length + 4] <= '9');
    if (thousands && digits.find('.') == std::string::npos && !digits.empty()) continue;
    if ((c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+') break;
    digits += c;
  }
  double value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end.ec != std::errc{} || !std::isfinite(value)) return std::nullopt;
  rest = text.substr(length);
  return value;
}

std::optional<double> number_behind(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  std::string_view rest;
  return at == std::string_view::npos ? std::nullopt : leading_number(line.substr(at + label.size()), rest);
}

/// A step takes between a microsecond and a day.
bool is_time(double seconds) { return seconds > 1e-6 && seconds < 86'400; }

void add_value(double value, MeasuredSeries& series) {
  if (series.values.size() < kMostValues) series.values.push_back(value);
}

std::string without_escapes(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      out += line[i];
      continue;
    }
    while (i + 1 < line.size() && (line[i] < '@' || line[i] > '~' || line[i] == '[')) ++i;
  }
  return out;
}

double quantile_of(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double part = at - static_cast<double>(below);
  return below + 1 < sorted.size() ? sorted[below] * (1 - part) + sorted[below + 1] * part : sorted[below];
}

}  // namespace

std::vector<double> MeasuredSeries::settled() const {
  const std::size_t warm_up = values.size() < 2 ? 0 : std::max<std::size_t>(1, values.size() / 10);
  return {values.begin() + static_cast<std::ptrdiff_t>(warm_up), values.end()};
}

Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {quantile_of(values, 0.1), quantile_of(values, 0.5), quantile_of(values, 0.9)};
}

void TrainingLogReader::read(std::string_view line) {
  const std::string plain = without_escapes(line);
  read_sizes(plain);
  read_step(plain);
  read_timers(plain);
}

/// A generic label may say its unit after the number: "step time: 123 ms".
void TrainingLogReader::read_step(std::string_view line) {
  for (const LogLabel& label : kLabels) {
    const std::size_t at = line.find(label.text);
    if (at == std::string_view::npos) continue;
    std::string_view rest;
    std::optional<double> value = leading_number(line.substr(at + label.text.size()), rest);
    if (!value || *value <= 0) return;
    const bool in_ms = label.unit == 1 && (rest.starts_with("ms") || rest.starts_with(" ms"));
    value = label.unit < 0 ? 1 / *value : *value * (in_ms ? 1e-3 : label.unit);
    if (label.series == &TrainingLog::step_s && !is_time(*value)) return;
    add_value(*value, log_.*label.series);
    if (log_.framework.empty() || label.series == &TrainingLog::step_s) log_.framework = label.framework;
    return;
  }
}

/// Timers of Megatron: "forward-backward ....: (74905.63, 74905.73)" of the fastest and slowest rank, or
/// "time (ms) | forward-compute: 12.3 | optimizer: 4.5".
void TrainingLogReader::read_timers(std::string_view line) {
  const auto take = [this](std::string_view name, std::string_view value) {
    std::string_view rest;
    std::optional<double> ms = leading_number(value, rest);
    if (ms && rest.starts_with(", ")) ms = leading_number(rest.substr(2), rest);
    if (name.size() > kLongestTimer) return;
    const bool known = log_.timers_s.contains(std::string(name));
    if (ms && *ms >= 0 && *ms < kLongestMs && (known || log_.timers_s.size() < kMostTimers))
      add_value(*ms * 1e-3, log_.timers_s[std::string(name)]);
  };
  if (const std::size_t dots = line.find(" ..."); dots != std::string_view::npos) {
    const std::size_t colon = line.find("..: ", dots);
    std::string_view name = line.substr(0, dots);
    name.remove_prefix(std::min(name.find_last_of(" \t") + 1, name.size()));
    if (colon != std::string_view::npos && !name.empty()) take(name, line.substr(colon + 4));
    return;
  }
  const std::size_t begin = line.find("time (ms) |");
  if (begin == std::string_view::npos) return;
  std::string_view left = line.substr(begin + 11);
  while (!left.empty()) {
    const std::size_t bar = std::min(left.find('|'), left.size());
    const std::string_view part = left.substr(0, bar);
    const std::size_t colon = part.find(':');
    const std::size_t first = part.find_first_not_of(' ');
    if (colon != std::string_view::npos && first < colon)
      take(part.substr(first, colon - first), part.substr(colon + 1));
    left.remove_prefix(std::min(bar + 1, left.size()));
  }
}

void TrainingLogReader::read_sizes(std::string_view line) {
  const auto is_count = [](double value) { return value >= 0 && value < kMostSamples; };
  const auto batch = number_behind(line, "global batch size:");
  if (batch && is_count(*batch)) log_.global_batch_size = batch;
  const std::size_t argument = line.find(" world_size ...");
  if (argument == std::string_view::npos) return;
  std::string_view value = line.substr(argument);
  value.remove_prefix(std::min(value.find_last_of('.') + 1, value.size()));
  std::string_view rest;
  if (const auto gpus = leading_number(value, rest); gpus && is_count(*gpus)) log_.gpus = gpus;
}

}  // namespace orrery
