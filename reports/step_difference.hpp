// Explains, term by term, why two steps take different times and memory. For writers that set results side by
// side; knows nothing of how plans were found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/report.hpp"

namespace orrery {

/// A part of a figure of one run, in the unit of its list.
struct StepTerm {
  std::string name;
  std::int64_t value = 0;
};
using StepTerms = std::vector<StepTerm>;

/// Splits a step's time and memory into parts. The parts of each list add up to the figure above it: if a
/// mean is no whole number of picoseconds, the parts with the largest remainders are rounded up. For serving
/// they are GPU time per generated token by activity, and memory of weights, workspace and KV cache.
struct StepParts {
  Picoseconds step_ps = 0;  ///< makespan / steps, to the nearest picosecond
  StepTerms breakdown;      ///< picoseconds, mean over GPUs; names of `breakdown_s`
  StepTerms kernels;        ///< of its compute, by KernelClass; empty where the report has none
  StepTerms critical_path;  ///< picoseconds; empty where workers keep no step with each other
  Bytes peak = 0;           ///< of the stage that holds most: memory.peak_gb
  StepTerms memory;         ///< bytes of that stage; names of `categories_gb`
};

/// Returns the parts, without times if the report has none. The names and their order are the same for all
/// reports of steps, and for all of serving.
[[nodiscard]] StepParts step_parts(const Report& report);

/// Describes one term of a figure in two runs, in the unit of its list.
struct DifferenceTerm {
  std::string name;
  std::int64_t first = 0;
  std::int64_t second = 0;

  [[nodiscard]] std::int64_t difference() const { return second - first; }
};
using DifferenceTerms = std::vector<DifferenceTerm>;

/// The terms of each list add up, in each of the two runs, to the figure above it, so their differences add
/// up to its difference. Where a mean is no whole number of picoseconds, the terms with the largest
/// remainders are rounded up. Terms that are 0 in both runs are left out; the largest difference comes first.
struct StepDifference {
  Picoseconds first_ps = 0;  ///< step time: makespan / steps, to the nearest picosecond
  Picoseconds second_ps = 0;
  DifferenceTerms breakdown;  ///< picoseconds, mean over GPUs; names of `breakdown_s`
  DifferenceTerms kernels;    ///< of its compute, names of `kernels_s`; empty where a report has none
  DifferenceTerms
      critical_path;     ///< picoseconds; empty where the workers of a run keep no step with each other
  Bytes first_peak = 0;  ///< of the stage that holds most: memory.peak_gb
  Bytes second_peak = 0;
  DifferenceTerms memory;       ///< bytes of that stage; names of `categories_gb`
  bool slices_differ = false;   ///< only one of them slices the rows of experts on the host
  bool slices_in_more = false;  ///< the longer step does: its permutation is not fused

  [[nodiscard]] Picoseconds step_time_ps() const { return second_ps - first_ps; }
};

/// Returns the differences, without times if one of the reports has none.
[[nodiscard]] StepDifference step_difference(const Report& first, const Report& second);

/// The terms in multiples of `unit`, rounded so that they add up to their rounded sum in either run.
[[nodiscard]] DifferenceTerms in_units(const DifferenceTerms& terms, std::int64_t unit);

/// Sum of the terms of the second run less that of the first, as in_units() has it.
[[nodiscard]] std::int64_t difference_in_units(const DifferenceTerms& terms, std::int64_t unit);

/// Headers of a table of terms.
struct DifferenceHeaders {
  std::string_view terms;
  std::string_view first;
  std::string_view second;
  std::string_view difference;
};

/// Returns a table of times in milliseconds, or of bytes in GB, with three decimals each: the printed
/// differences add up to difference_in_units(). Terms without a printed difference are left out; "" if there
/// are no others.
[[nodiscard]] std::string difference_table(const DifferenceTerms& terms, std::int64_t thousandth,
                                           const DifferenceHeaders& headers);
inline constexpr std::int64_t kThousandthOfMillisecond = 1'000'000;  ///< picoseconds
inline constexpr std::int64_t kThousandthOfGigabyte = 1'000'000;     ///< bytes

}  // namespace orrery
