// Describes the range of the measured runs behind a calibration, within which its predictions were checked.
// It changes no figure and says how far a figure can be trusted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct Experiment;

/// Features of an experiment that have names, as the keys of a calibration's `domain`.
enum class DomainName : std::uint8_t { gpu, node, fabric, precision, uses };
inline constexpr std::array<std::string_view, 5> kDomainNames{"gpu", "node", "fabric", "precision", "uses"};

/// Features that are numbers, and their units.
enum class DomainSpan : std::uint8_t {
  gpus,
  parameters_b,
  seq_length,
  tensor_parallel,
  pipeline_parallel,
  context_parallel,
  expert_parallel,
  peak_tflops,
  memory_gb_per_s,
  link_gb_per_s,
  node_gbps,
};
inline constexpr std::array<std::string_view, 11> kDomainSpans{"gpus",
                                                               "parameters_b",
                                                               "seq_length",
                                                               "tensor_parallel",
                                                               "pipeline_parallel",
                                                               "context_parallel",
                                                               "expert_parallel",
                                                               "peak_tflops",
                                                               "memory_gb_per_s",
                                                               "link_gb_per_s",
                                                               "node_gbps"};

struct ValueSpan {
  double low = 0;
  double high = 0;
};

struct CalibrationDomain {
  std::array<std::set<std::string>, kDomainNames.size()> names;
  std::array<std::optional<ValueSpan>, kDomainSpans.size()> spans;

  [[nodiscard]] std::set<std::string>& of(DomainName name) { return names[static_cast<std::size_t>(name)]; }
  [[nodiscard]] const std::set<std::string>& of(DomainName name) const {
    return names[static_cast<std::size_t>(name)];
  }
  [[nodiscard]] std::optional<ValueSpan>& of(DomainSpan span) {
    return spans[static_cast<std::size_t>(span)];
  }
  [[nodiscard]] const std::optional<ValueSpan>& of(DomainSpan span) const {
    return spans[static_cast<std::size_t>(span)];
  }
  /// Returns true if no run stands behind it.
  [[nodiscard]] bool empty() const { return of(DomainName::gpu).empty(); }
};

/// Widens `domain` so that `experiment` lies in it.
void include(CalibrationDomain& domain, const Experiment& experiment);

/// Says how far a figure of serving runs was off, on rows that no fit saw.
struct ServingErrors {
  std::string figure;          ///< its key in the result, one of kServingErrorFigures
  bool experts = false;        ///< of models with experts; of dense ones otherwise
  std::set<std::string> gpus;  ///< of those rows
  std::int64_t rows = 0;
  /// Deciles of measured over predicted, less one.
  double p10 = 0;
  double p90 = 0;
};
inline constexpr std::array<std::string_view, 4> kServingErrorFigures{"ttft_s", "tpot_s", "end_to_end_s",
                                                                      "output_tokens_per_s"};

/// Holds the domains of a stack, and of all stacks that share what was fitted over stacks.
struct CalibrationDomains {
  CalibrationDomain stack;
  CalibrationDomain kin;
  std::vector<ServingErrors> serving;  ///< of the stack
};

}  // namespace orrery
