#include "planner/methods/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "planner/methods/search_run.hpp"
#include "planner/space/points.hpp"

namespace orrery {
namespace {

/// Budget of methods that end only with their budget.
constexpr std::uint64_t kUsualSimulations = 500;

constexpr std::array kMethods{
    SearchMethod{{"exhaustive", "all points, those left out that bounds prove worse: the best is proven"},
                 search_exhaustively},
    SearchMethod{{"dp",
                  "layers, what stages compute again and their GPUs, by dynamic programming: optimal for its "
                  "estimate"},
                 search_by_dynamic_programming},
    SearchMethod{{"ilp", "the same as an integer program, by CBC, with its bound"},
                 search_by_integer_programming},
    SearchMethod{
        {"zeroth-order",
         "evolution by mutation and crossover, drawn by the seed; over intervals alone NLopt's DIRECT-L "
         "and subplex"},
        search_without_derivatives,
        true,
        kUsualSimulations},
    SearchMethod{
        {"rl", "a policy over the values of each key, trained on the spot by the cross-entropy method"},
        search_by_reinforcement,
        false,
        kUsualSimulations},
};

[[noreturn]] void refuse_option(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", message}});
}

const SearchMethod& method_of(const std::string& name) {
  const auto found = std::ranges::find(kMethods, name, &SearchMethod::name);
  if (found != kMethods.end()) return *found;
  std::vector<std::string_view> names;
  for (const SearchMethod& method : kMethods) names.push_back(method.name);
  refuse_option(
      fmt::format("--search: found {}, allowed {}{}", quote(name), joined(names), hint(name, names)));
}

void refuse_intervals(const SearchMethod& method, const Space& space) {
  if (method.takes_intervals) return;
  const auto found =
      std::ranges::find_if(space.keys(), [](const SpaceKey& key) { return key.interval.has_value(); });
  if (found == space.keys().end()) return;
  refuse_option(
      fmt::format("--search {}: found all numbers from {} to {} for {}, allowed a list of values or a "
                  "range with steps, or --search zeroth-order",
                  method.name, found->interval->from, found->interval->to, quote(found->key)));
}

/// Returns the reason of the first point that `by` removed.
std::string example_of(const Space& space, const std::string& by) {
  constexpr std::uint64_t kMostLooked = 100'000;
  PointReader reader(space);
  for (std::uint64_t index = 0; index < std::min(space.size(), kMostLooked); ++index) {
    const PointOrRemoval read = reader.read(index);
    const auto* removal = std::get_if<Removal>(&read);
    if (removal != nullptr && removal->by == by)
      return removal->message.empty() ? "" : fmt::format(" ({})", removal->message);
  }
  return "";
}

/// Throws the reason why no point is valid.
[[noreturn]] void refuse_empty(const Space& space, const SearchResult& result) {
  std::string message = fmt::format("no point of {} is valid", result.points);
  if (result.evaluated != result.points)
    message = fmt::format("none of {} points looked at is valid", result.evaluated);
  std::vector<std::pair<std::uint64_t, std::string>> by;
  for (const auto& [key, count] : result.removed) by.emplace_back(count, key);
  std::ranges::sort(by, std::greater<>());
  for (const auto& [count, key] : by)
    message += fmt::format("; {} removed by {}{}", count, key, example_of(space, key));
  throw InputError({Diagnostic{space.base().source, 0, 0, "", message}});
}

/// Throws if plans fit and simulating each of them failed.
[[noreturn]] void refuse_all(const Space& space, const SearchResult& result) {
  std::string message = fmt::format("none of {} plans that fit could be simulated", result.refused);
  for (const auto& [why, count] : result.rejected) message += fmt::format("; {} {}", count, why);
  throw InputError({Diagnostic{space.base().source, 0, 0, "", message}});
}

/// A search that has found nothing says why; where plans are valid and none of them fits, that is an answer.
void check_found(const Space& space, const SearchRequest& request, bool lacks_value,
                 const SearchResult& result) {
  const bool none = result.best.empty() || std::isinf(result.best.front().trial.cost);
  if (!none) return;
  if (lacks_value)
    refuse_option(fmt::format("--objective: no plan that was simulated has a value of {}",
                              quote(request.objective.key())));
  if (result.best.empty() && result.refused > 0) refuse_all(space, result);
  if (result.distinct == 0) refuse_empty(space, result);
  if (result.infeasible + result.beyond + result.overloaded < result.distinct)
    refuse_option("--budget: it ended before a plan was simulated, allowed more");
}

/// A front of plans without values weighs nothing.
void check_weighed(const SearchRequest& request, const SearchRun& run, const SearchResult& result) {
  if (request.pareto.empty() || !result.pareto.empty() || result.best.empty()) return;
  for (std::size_t k = 0; k < request.pareto.size(); ++k)
    if (std::ranges::none_of(run.trials(), [k](const Trial& t) { return std::isfinite(t.pareto[k]); }))
      refuse_option(fmt::format("--pareto: no plan that was simulated has a value of {}",
                                quote(request.pareto[k].key())));
  refuse_option("--pareto: no plan that was simulated has values of all figures");
}

}  // namespace

std::span<const SearchMethod> search_methods() { return kMethods; }

bool Trial::has_values() const {
  return std::isfinite(cost) && std::ranges::all_of(pareto, [](double c) { return std::isfinite(c); });
}

Budget parse_budget(std::string_view text) {
  const bool seconds = text.ends_with('s');
  const std::string_view digits = text.substr(0, text.size() - (seconds ? 1 : 0));
  double number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = seconds || number == std::floor(number);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || !(number > 0) || !whole ||
      number > 1e15)
    refuse_option(
        fmt::format("--budget: found {}, allowed a number of simulations, such as 500, or seconds, "
                    "such as 30s, above 0",
                    quote(text)));
  if (seconds) return {std::nullopt, number};
  return {static_cast<std::uint64_t>(number), std::nullopt};
}

SearchResult search(const Space& space, const SearchRequest& request, const SearchProgress& progress) {
  const SearchMethod& method = method_of(request.method);
  refuse_intervals(method, space);
  SearchRequest bounded = request;
  if (!request.budget.simulations && !request.budget.seconds && method.usual_simulations > 0)
    bounded.budget.simulations = method.usual_simulations;
  SearchRun run(space, bounded, progress);
  method.run(run);
  SearchResult result = run.finish();
  check_found(space, request, run.lacks_value(), result);
  check_weighed(request, run, result);
  return result;
}

}  // namespace orrery
