#include "reports/difference_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace orrery {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 30> kWords{{
    {"compute", "compute"},
    {"exposed_tensor", "exposed tensor-parallel communication"},
    {"exposed_pipeline", "exposed sends between stages"},
    {"exposed_data", "exposed data-parallel communication"},
    {"exposed_context", "exposed context-parallel communication"},
    {"exposed_expert", "exposed dispatch and combine"},
    {"exposed_offload", "exposed copies to and from the host"},
    {"optimizer", "the optimizer"},
    {"bubble", "bubbles"},
    {"host", "host issue"},
    {"dense_products", "dense products"},
    {"expert_products", "products of experts"},
    {"logits", "products of logits"},
    {"attention", "attention"},
    {"recurrence", "recurrent layers"},
    {"convolution", "convolutions"},
    {"permutation", "permutation"},
    {"routing", "routing"},
    {"norm", "norms"},
    {"residual", "residual sums"},
    {"activation", "activation functions"},
    {"embedding", "embedding"},
    {"loss", "the loss"},
    {"casts", "casts"},
    {"biases", "biases"},
    {"accumulation", "accumulation of gradients"},
    {"averaging", "averaging of models"},
    {"recomputation", "recomputation"},
    {"other", "other kernels"},
    {"idle", "idle GPUs"},
}};

std::string name_of(const std::string& term, const StepDifference& difference) {
  const std::string words(words_of(term));
  if (term == "permutation") return (difference.slices_in_more ? "unfused " : "fused ") + words;
  if (term == "host" && difference.slices_differ) return words + ", slices of unfused permutation with it";
  return words;
}

std::string percent(double share) {
  const double percent = 100 * share;
  return std::abs(percent) < 1 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

}  // namespace

std::string_view words_of(std::string_view term) {
  const auto* found = std::ranges::find(kWords, term, [](const auto& pair) { return pair.first; });
  return found == kWords.end() ? term : found->second;
}

std::vector<Cause> causes_of(const StepDifference& difference) {
  std::vector<Cause> causes;
  const auto add = [&](const DifferenceTerm& term) {
    if (term.difference() != 0) causes.push_back({name_of(term.name, difference), term.difference()});
  };
  for (const DifferenceTerm& term : difference.breakdown)
    if (term.name != "compute" || difference.kernels.empty()) add(term);
  for (const DifferenceTerm& term : difference.kernels) add(term);
  const Picoseconds sign = difference.step_time_ps() < 0 ? -1 : 1;
  std::ranges::stable_sort(causes, std::greater<>(),
                           [sign](const Cause& cause) { return sign * cause.more_ps; });
  return causes;
}

std::string cause_sentence(const StepDifference& difference) {
  constexpr double kWorthNaming = 0.01;
  constexpr std::size_t kMostNamed = 4;
  const auto all = static_cast<double>(difference.step_time_ps());
  if (all == 0) return "";
  std::vector<Cause> named = causes_of(difference);
  double rest = 0;
  std::size_t others = 0;
  std::vector<Cause> shown = named;
  std::ranges::stable_sort(shown, std::greater<>(),
                           [](const Cause& cause) { return std::abs(cause.more_ps); });
  if (shown.size() > kMostNamed) shown.resize(kMostNamed);
  std::erase_if(named, [&](const Cause& cause) {
    const double share = static_cast<double>(cause.more_ps) / all;
    const bool kept =
        std::abs(share) >= kWorthNaming && std::ranges::find(shown, cause.name, &Cause::name) != shown.end();
    if (!kept) rest += share, ++others;
    return !kept;
  });
  std::string sentence;
  for (const Cause& cause : named)
    sentence += fmt::format("{}{}{} in {}", sentence.empty() ? "" : ", ",
                            percent(static_cast<double>(cause.more_ps) / all),
                            sentence.empty() ? " of the difference" : "", cause.name);
  if (others > 0 && std::abs(rest) >= kWorthNaming / 2)
    sentence += fmt::format("{}{} in {} other{}", sentence.empty() ? "" : ", ", percent(rest), others,
                            others == 1 ? "" : "s");
  return sentence;
}

}  // namespace orrery
