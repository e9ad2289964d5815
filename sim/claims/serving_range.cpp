#include "sim/claims/serving_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace orrery {
namespace {

double figure_of(const Serving& serving, std::string_view figure) {
  if (figure == "ttft_s") return serving.ttft_s.mean;
  if (figure == "tpot_s") return serving.tpot_s.mean;
  if (figure == "end_to_end_s") return serving.end_to_end_s.mean;
  return serving.output_tokens_per_s();
}

std::string_view words_for(std::string_view figure) {
  if (figure == "ttft_s") return "time to first token";
  if (figure == "tpot_s") return "time per output token";
  if (figure == "end_to_end_s") return "end-to-end time";
  return "throughput";
}

bool is_dense(const Experiment& experiment) { return experiment.model.experts == 0; }

/// All GPUs are of the measured ones, at their own speed.
bool is_of_kind(const ServingErrors& errors, const Experiment& experiment) {
  const Cluster& cluster = experiment.cluster;
  if (errors.experts == is_dense(experiment) || !cluster.overrides.empty()) return false;
  for (std::size_t c = 0; c < cluster.gpu_classes(); ++c)
    if (!errors.gpus.contains(cluster.gpu_of_class(c).name)) return false;
  return true;
}

/// "h100 and l4, some at another speed".
std::string words_for_gpus(const Cluster& cluster) {
  std::string text = cluster.gpu.name;
  for (const Gpu& gpu : cluster.other_gpus) text += " and " + gpu.name;
  return text + (cluster.overrides.empty() ? "" : ", some at another speed,");
}

std::string stack_of(const Experiment& experiment) {
  return experiment.stack.empty() ? "without a stack" : "under stack " + experiment.stack;
}

/// Says which runs were measured if none is like the experiment.
std::string none_sentence(const Experiment& experiment) {
  std::set<std::string> dense, experts;
  if (experiment.domains != nullptr) {
    for (const ServingErrors& errors : experiment.domains->serving)
      (errors.experts ? experts : dense).insert(errors.gpus.begin(), errors.gpus.end());
  }
  std::string known;
  if (!dense.empty()) known += fmt::format("dense models on {}", fmt::join(dense, ", "));
  if (!experts.empty())
    known += fmt::format("{}models with experts on {}", known.empty() ? "" : "; ", fmt::join(experts, ", "));
  return fmt::format("no run of a model {} was measured on {} {}{}: latencies and throughput have no range",
                     is_dense(experiment) ? "without experts" : "with experts",
                     words_for_gpus(experiment.cluster), stack_of(experiment),
                     known.empty() ? "" : fmt::format(" (measured: {})", known));
}

}  // namespace

std::vector<ServingRange> serving_ranges(const Experiment& experiment, const Serving& serving) {
  std::vector<ServingRange> ranges;
  if (experiment.domains == nullptr || serving.duration_ps == 0) return ranges;
  for (const ServingErrors& errors : experiment.domains->serving) {
    if (!is_of_kind(errors, experiment)) continue;
    const double predicted = figure_of(serving, errors.figure);
    if (predicted > 0)  // which lies in its range also where nearly all runs strayed one way
      ranges.push_back({errors.figure, predicted * (1 + std::min(errors.p10, 0.0)),
                        predicted * (1 + std::max(errors.p90, 0.0))});
  }
  return ranges;
}

std::string ranges_sentence(const Experiment& experiment, const std::vector<ServingRange>& ranges) {
  if (ranges.empty()) return none_sentence(experiment);
  std::string text;
  for (const ServingErrors& errors : experiment.domains->serving) {
    if (!is_of_kind(errors, experiment)) continue;
    text += fmt::format("{}{} {:+.0f} to {:+.0f} % ({} runs on {})", text.empty() ? "" : ", ",
                        words_for(errors.figure), 100 * errors.p10, 100 * errors.p90, errors.rows,
                        fmt::join(errors.gpus, ", "));
  }
  return fmt::format("of measured runs of models {} that no fit of {} saw, 8 of 10 were off by: {}",
                     is_dense(experiment) ? "without experts" : "with experts", experiment.stack, text);
}

}  // namespace orrery
