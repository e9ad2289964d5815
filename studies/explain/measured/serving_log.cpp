#include "studies/explain/measured/serving_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "orrery/error.hpp"

namespace orrery {
namespace {

using MeasuredJson = nlohmann::json;

/// vLLM's names of the numbers, ours, and the unit of theirs in seconds.
struct TheirFigure {
  std::string_view theirs;
  std::string_view ours;
  double unit;
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTheirLatencies{
    {{"ttft", "ttft_s"}, {"tpot", "tpot_s"}, {"itl", "inter_token_latency_s"}, {"e2el", "end_to_end_s"}}};

constexpr std::array kTheirRates{TheirFigure{"request_throughput", "requests_per_s", 1},
                                 TheirFigure{"output_throughput", "output_tokens_per_s", 1},
                                 TheirFigure{"total_token_throughput", "tokens_per_s", 1},
                                 TheirFigure{"duration", "duration_s", 1}};

/// "p99_ttft_ms" is "ttft_s_p99", "mean_ttft_ms" is "ttft_s", "median_ttft_ms" is "ttft_s_p50".
std::string our_latency(std::string_view theirs) {
  if (!theirs.ends_with("_ms")) return "";
  theirs.remove_suffix(3);
  const std::size_t at = theirs.find('_');
  if (at == std::string_view::npos) return "";
  const std::string_view statistic = theirs.substr(0, at);
  const auto named = std::ranges::find(kTheirLatencies, theirs.substr(at + 1),
                                       &std::pair<std::string_view, std::string_view>::first);
  if (named == kTheirLatencies.end()) return "";
  const std::string ours(named->second);
  if (statistic == "mean") return ours;
  if (statistic == "median") return ours + "_p50";
  return statistic.starts_with("p") && statistic.size() <= 4 ? ours + "_" + std::string(statistic) : "";
}

/// Takes the numbers of the outermost object; the lists of all requests pass by.
class ResultsHandler : public nlohmann::json_sax<MeasuredJson> {
 public:
  ResultsHandler(ServingMeasurement& into, std::string source) : into_(into), source_(std::move(source)) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return take(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return take(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return take(value); }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return deeper(); }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_object() override { return --depth_, true; }
  bool end_array() override { return --depth_, true; }
  bool key(string_t& value) override {
    if (depth_ == 1) key_ = value;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& read, const MeasuredJson::exception&) override {
    std::string_view last = read;
    constexpr std::size_t kShown = 40;
    last = last.substr(last.find_last_of(" \t\n:,[") + 1);  // what was read of the value
    const bool number = last.starts_with("N") || last.starts_with("I") || last.starts_with("-I");
    throw InputError({Diagnostic{
        source_, 0, 0, "",
        number ? fmt::format("byte {}: found \"{}\", allowed JSON, which has neither NaN nor Infinity: {} is "
                             "not a time",
                             position, last.substr(0, kShown), key_)
               : fmt::format("the results break off, or are no JSON, at byte {}", position)}});
  }

 private:
  bool deeper() {
    constexpr std::size_t kDeepest = 200;
    if (++depth_ > kDeepest)
      throw InputError({Diagnostic{source_, 0, 0, "", "is nested deeper than 200 levels"}});
    return true;
  }
  bool take(double value) {
    constexpr double kMost = 1e15;
    if (depth_ != 1) return true;
    if (!std::isfinite(value) || value < 0 || value > kMost) return refuse(value);
    if (const std::string ours = our_latency(key_); !ours.empty()) into_.figures[ours] = value * 1e-3;
    for (const TheirFigure& figure : kTheirRates)
      if (key_ == figure.theirs) into_.figures[std::string(figure.ours)] = value * figure.unit;
    if (key_ == "completed") into_.requests = value;
    if (key_ == "total_output_tokens") into_.output_tokens = value;
    return true;
  }

  /// Numbers of other keys may be anything.
  bool refuse(double value) const {
    const bool ours = !our_latency(key_).empty() || key_ == "completed" || key_ == "total_output_tokens" ||
                      std::ranges::find(kTheirRates, key_, &TheirFigure::theirs) != kTheirRates.end();
    if (ours)
      throw InputError(
          {Diagnostic{source_, 0, 0, "/" + key_, fmt::format("found {:g}, allowed 0 to 1e15", value)}});
    return true;
  }

  ServingMeasurement& into_;
  std::string source_;
  std::string key_;
  std::size_t depth_ = 0;
};

std::optional<double> rate_after(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view text = line.substr(at + label.size());
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc{} || !std::isfinite(value) || value < 0 || value > 1e15) return std::nullopt;
  return value;
}

}  // namespace

ServingMeasurement read_serving_results(std::streambuf& bytes, const std::string& source) {
  ServingMeasurement measured;
  measured.source = source;
  std::istream stream(&bytes);
  ResultsHandler handler(measured, source);
  MeasuredJson::sax_parse(stream, &handler);
  const auto latency = [](const auto& figure) {
    return figure.first.starts_with("ttft_s") || figure.first.starts_with("tpot_s") ||
           figure.first.starts_with("end_to_end_s");
  };
  if (std::ranges::none_of(measured.figures, latency))
    throw InputError({Diagnostic{source, 0, 0, "",
                                 "found results of a benchmark without latencies such as mean_ttft_ms"}});
  return measured;
}

void ServerLogReader::read(std::string_view line) {
  constexpr std::size_t kMost = 1'000'000;
  const auto generated = rate_after(line, "Avg generation throughput: ");
  if (!generated || *generated <= 0 || generated_.values.size() == kMost) return;
  generated_.values.push_back(*generated);
  prompts_.values.push_back(rate_after(line, "Avg prompt throughput: ").value_or(0));
  running_.values.push_back(rate_after(line, "Running: ").value_or(0));
}

ServingMeasurement ServerLogReader::finish() && {
  ServingMeasurement measured;
  measured.source = source_;
  const double generated = spread_of(generated_.settled()).median;
  measured.figures["output_tokens_per_s"] = generated;
  measured.figures["tokens_per_s"] = generated + spread_of(prompts_.settled()).median;
  measured.figures["running_requests"] = spread_of(running_.settled()).median;
  return measured;
}

}  // namespace orrery
