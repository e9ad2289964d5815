#include "planner/methods/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "config/schema/wording.hpp"
#include "orrery/error.hpp"
#include "planner/methods/search_run.hpp"
#include "planner/space/points.hpp"

namespace orrery {
namespace {

constexpr std::array kMethods{
    SearchMethod{{"exhaustive", "all points, those left out that bounds prove worse: the best is proven"},
                 search_exhaustively},
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

/// Of the points removed by `by`, what is wrong with the first.
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

/// Says what stands against all points.
[[noreturn]] void refuse_empty(const Space& space, const SearchResult& result) {
  std::string message = fmt::format("no point of {} is valid and fits into memory", result.points);
  std::vector<std::pair<std::uint64_t, std::string>> by;
  for (const auto& [key, count] : result.removed) by.emplace_back(count, key);
  std::ranges::sort(by, std::greater<>());
  for (const auto& [count, key] : by)
    message += fmt::format("; {} removed by {}{}", count, key, example_of(space, key));
  if (result.infeasible > 0) message += fmt::format("; {} do not fit into memory", result.infeasible);
  throw InputError({Diagnostic{space.base().source, 0, 0, "", message}});
}

}  // namespace

std::span<const SearchMethod> search_methods() { return kMethods; }

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
  SearchRun run(space, request, progress);
  method.run(run);
  SearchResult result = run.finish();
  if (result.best.empty()) refuse_empty(space, result);
  return result;
}

}  // namespace orrery
