// Reads times of steps from the log of a training framework: Megatron-LM and Megatron-DeepSpeed with their
// timers, DeepSpeed, NeMo, torchtitan, Hugging Face's trainer, or any log with a time per step.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "studies/explain/measured/byte_source.hpp"

namespace orrery {

/// Holds times of one kind, step by step.
struct MeasuredSeries {
  std::vector<double> values;

  /// Returns the values after warm-up: without the first of up to nine, or the first tenth of more.
  [[nodiscard]] std::vector<double> settled() const;
};

struct Spread {
  double p10 = 0, median = 0, p90 = 0;
};
/// Returns the quantiles of `values`, at least one.
[[nodiscard]] Spread spread_of(std::vector<double> values);

struct TrainingLog {
  std::string source;
  std::string framework;
  MeasuredSeries step_s;                           ///< as written, or
  MeasuredSeries samples_per_s;                    ///< where no time is, of all GPUs; or
  MeasuredSeries tokens_per_s_per_gpu;             ///< the same of tokens
  std::map<std::string, MeasuredSeries> timers_s;  ///< of Megatron: the slowest rank
  std::optional<double> global_batch_size;         ///< as the log says it
  std::optional<double> gpus;

  [[nodiscard]] bool empty() const {
    return step_s.values.empty() && samples_per_s.values.empty() && tokens_per_s_per_gpu.values.empty();
  }
};

/// Takes line after line.
class TrainingLogReader {
 public:
  explicit TrainingLogReader(std::string source) { log_.source = std::move(source); }
  void read(std::string_view line);
  [[nodiscard]] TrainingLog finish() && { return std::move(log_); }

 private:
  void read_step(std::string_view line);
  void read_timers(std::string_view line);
  void read_sizes(std::string_view line);

  TrainingLog log_;
};

}  // namespace orrery
