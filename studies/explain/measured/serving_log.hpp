// Reads what a serving benchmark measured: the results that `vllm bench serve` saves as JSON, or the lines
// about throughput in the log of a vLLM server.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "studies/explain/measured/byte_source.hpp"
#include "studies/explain/measured/training_log.hpp"

namespace orrery {

struct ServingMeasurement {
  std::string source;
  std::map<std::string, double> figures;  ///< by keys of our results, such as ttft_s_p99; in seconds
  double requests = 0;
  double output_tokens = 0;  ///< in all
};

/// @throws InputError where it breaks off or has no latencies
[[nodiscard]] ServingMeasurement read_serving_results(std::streambuf& bytes, const std::string& source);

/// Takes a server's log line by line.
class ServerLogReader {
 public:
  explicit ServerLogReader(std::string source) { source_ = std::move(source); }
  void read(std::string_view line);
  [[nodiscard]] bool empty() const { return generated_.values.empty(); }
  [[nodiscard]] ServingMeasurement finish() &&;

 private:
  std::string source_;
  MeasuredSeries prompts_, generated_, running_;
};

}  // namespace orrery
