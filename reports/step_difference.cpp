#include "reports/step_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "reports/text/text_table.hpp"

namespace orrery {
namespace {

/// A part of a sum that is shared out.
struct Summand {
  std::string name;
  Int128 amount = 0;
};

Int128 floor_of(Int128 numerator, Int128 denominator) {
  return numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
}

/// parts / divisor as whole numbers that add up to their sum / divisor, to the nearest: the method of largest
/// remainders, the first of equal ones.
std::vector<std::int64_t> shared_out(const std::vector<Int128>& parts, Int128 divisor) {
  std::vector<std::int64_t> shares;
  std::vector<Int128> remainders;
  for (const Int128 part : parts) {
    shares.push_back(static_cast<std::int64_t>(floor_of(part, divisor)));
    remainders.push_back(part - shares.back() * divisor);
  }
  const Int128 whole = std::accumulate(parts.begin(), parts.end(), Int128{0});
  Int128 left = floor_of(2 * whole + divisor, 2 * divisor);
  for (const std::int64_t share : shares) left -= share;
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return remainders[i]; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++shares[order[i]];
  return shares;
}

std::vector<std::int64_t> shares_of(const std::vector<Summand>& parts, Int128 divisor) {
  std::vector<Int128> amounts;
  for (const Summand& part : parts) amounts.push_back(part.amount);
  return shared_out(amounts, divisor);
}

StepTerms terms_of(const std::vector<Summand>& parts, Int128 divisor) {
  const std::vector<std::int64_t> shares = shares_of(parts, divisor);
  StepTerms terms;
  for (std::size_t i = 0; i < parts.size(); ++i) terms.push_back({parts[i].name, shares[i]});
  return terms;
}

std::vector<Summand> kernel_parts(const KernelTimes& kernels) {
  std::vector<Summand> parts;
  for (std::size_t k = 0; k < kKernelClassCount; ++k)
    parts.push_back({std::string(kKernelClassNames[k]), kernels[k]});
  return parts;
}

/// Returns the parts beside compute.
std::vector<Summand> waiting_parts(const Breakdown& breakdown) {
  std::vector<Summand> parts;
  for (std::size_t d = 0; d < kDimensionCount; ++d)
    parts.push_back({"exposed_" + std::string(kDimensionNames[d]), breakdown.exposed_ps[d]});
  parts.push_back({"optimizer", breakdown.optimizer_ps});
  parts.push_back({"bubble", breakdown.bubble_ps});
  parts.push_back({"host", breakdown.host_ps});
  return parts;
}

/// Compute comes first. Where it is known by class of kernel, classes are rounded with the other parts, and
/// compute is their sum.
void add_breakdown(const Report& report, StepParts& parts) {
  std::vector<Summand> all{{"compute", report.breakdown.compute_ps}};
  if (report.kernels_ps) all = kernel_parts(*report.kernels_ps);
  const auto computing = static_cast<std::ptrdiff_t>(all.size());
  for (Summand& part : waiting_parts(report.breakdown)) all.push_back(std::move(part));
  const StepTerms terms = terms_of(all, static_cast<Int128>(report.gpus) * report.steps);
  if (report.kernels_ps) parts.kernels.assign(terms.begin(), terms.begin() + computing);
  StepTerm compute{"compute", 0};
  for (std::ptrdiff_t i = 0; i < computing; ++i) compute.value += terms[static_cast<std::size_t>(i)].value;
  parts.breakdown.push_back(compute);
  parts.breakdown.insert(parts.breakdown.end(), terms.begin() + computing, terms.end());
}

std::vector<Summand> path_parts(const CriticalPath& path) {
  std::vector<Summand> parts{{"compute", path.compute_ps}};
  for (std::size_t d = 0; d < kDimensionCount; ++d)
    parts.push_back({std::string(kDimensionNames[d]), path.communication_ps[d]});
  parts.push_back({"host", path.host_ps});
  parts.push_back({"wait", path.wait_ps});
  return parts;
}

void add_memory(const Report& report, StepParts& parts) {
  const auto fullest = std::ranges::max_element(report.stage_memory, {}, &StageMemory::total);
  if (fullest == report.stage_memory.end()) return;
  parts.peak = fullest->total();
  for (const MemoryCategory& category : kMemoryCategories)
    parts.memory.push_back({std::string(category.name), category.bytes(*fullest)});
}

std::vector<Summand> serving_parts(const ServingTimes& times) {
  return {{"prefill", times.prefill_ps}, {"decode", times.decode_ps}, {"mixed", times.mixed_ps},
          {"host", times.host_ps},       {"bubble", times.bubble_ps}, {"idle", times.idle_ps}};
}

/// Times are of stages: each has the same number of GPUs.
StepParts parts_of_serving(const Serving& serving, std::int64_t gpus) {
  StepParts parts;
  parts.memory = {{"weights", serving.weights_bytes},
                  {"workspace", serving.workspace_bytes},
                  {"cache", serving.cache_bytes}};
  for (const StepTerm& term : parts.memory) parts.peak += term.value;
  if (serving.duration_ps == 0) return parts;
  const Int128 stages = serving.times.total_ps() / serving.duration_ps;
  std::vector<Summand> times = serving_parts(serving.times);
  for (Summand& time : times) time.amount *= gpus;
  parts.breakdown = terms_of(times, stages * serving.output_tokens);
  for (const StepTerm& term : parts.breakdown) parts.step_ps += term.value;
  return parts;
}

/// None where one of the lists is empty.
DifferenceTerms side_by_side(const StepTerms& first, const StepTerms& second) {
  DifferenceTerms terms;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i)
    terms.push_back({first[i].name, first[i].value, second[i].value});
  std::erase_if(terms, [](const DifferenceTerm& term) { return term.first == 0 && term.second == 0; });
  std::ranges::stable_sort(terms, std::greater<>(),
                           [](const DifferenceTerm& term) { return std::abs(term.difference()); });
  return terms;
}

}  // namespace

StepParts step_parts(const Report& report) {
  if (report.serving) return parts_of_serving(*report.serving, report.gpus);
  StepParts parts;
  add_memory(report, parts);
  if (report.makespan_ps == 0) return parts;
  parts.step_ps = static_cast<Picoseconds>(divide_rounded(report.makespan_ps, report.steps));
  add_breakdown(report, parts);
  if (!report.asynchrony) parts.critical_path = terms_of(path_parts(report.critical_path), report.steps);
  return parts;
}

StepDifference step_difference(const Report& first, const Report& second) {
  const StepParts a = step_parts(first);
  const StepParts b = step_parts(second);
  const bool slices = first.software.row_slice_issue_us > 0;
  const bool slices_too = second.software.row_slice_issue_us > 0;
  return {a.step_ps,
          b.step_ps,
          side_by_side(a.breakdown, b.breakdown),
          side_by_side(a.kernels, b.kernels),
          side_by_side(a.critical_path, b.critical_path),
          a.peak,
          b.peak,
          side_by_side(a.memory, b.memory),
          slices != slices_too,
          b.step_ps > a.step_ps ? slices_too : slices};
}

DifferenceTerms in_units(const DifferenceTerms& terms, std::int64_t unit) {
  std::vector<Int128> first;
  std::vector<Int128> second;
  for (const DifferenceTerm& term : terms) {
    first.push_back(term.first);
    second.push_back(term.second);
  }
  const std::vector<std::int64_t> a = shared_out(first, unit);
  const std::vector<std::int64_t> b = shared_out(second, unit);
  DifferenceTerms out;
  for (std::size_t i = 0; i < terms.size(); ++i) out.push_back({terms[i].name, a[i], b[i]});
  return out;
}

std::int64_t difference_in_units(const DifferenceTerms& terms, std::int64_t unit) {
  std::int64_t sum = 0;
  for (const DifferenceTerm& term : in_units(terms, unit)) sum += term.difference();
  return sum;
}

std::string difference_table(const DifferenceTerms& terms, std::int64_t thousandth,
                             const DifferenceHeaders& headers) {
  TextTable table({std::string(headers.terms), std::string(headers.first), std::string(headers.second),
                   std::string(headers.difference)});
  const auto number = [](std::int64_t thousandths) {
    return fmt::format("{:.3f}", static_cast<double>(thousandths) / 1000);
  };
  for (const DifferenceTerm& term : in_units(terms, thousandth)) {
    if (term.difference() == 0) continue;
    table.add({term.name, number(term.first), number(term.second),
               (term.difference() > 0 ? "+" : "") + number(term.difference())});
  }
  return table.empty() ? "" : table.text();
}

}  // namespace orrery
