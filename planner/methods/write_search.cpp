#include "planner/methods/write_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "orrery/write.hpp"
#include "reports/step_difference.hpp"
#include "reports/text/text_table.hpp"

namespace orrery {
namespace {

using SearchJson = nlohmann::ordered_json;

constexpr std::size_t kColumns = 80;

/// The part of a dotted key behind the last dot.
std::string_view short_name(std::string_view key) { return key.substr(key.rfind('.') + 1); }

std::string number(std::optional<double> value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

StepDifference first_and_second(const SearchResult& result) {
  return step_difference(result.best[0].report, result.best[1].report);
}

class SearchText {
 public:
  SearchText(const SearchResult& result, const Space& space, const SearchRequest& request)
      : result_(result), space_(space), request_(request) {}

  std::string text() {
    if (!result_.best.empty()) {
      plans(result_.best);
      out_ += "\n";
    }
    counts();
    if (result_.best.size() > 1) why();
    if (!result_.pareto.empty()) {
      out_ += fmt::format("\nnone is better in all of {}:\n", weighed());
      plans(result_.pareto);
    }
    return std::move(out_);
  }

 private:
  /// Returns a plan's value of a key; "-" if the key has no effect beside the others.
  [[nodiscard]] static std::string value_of(const FoundPlan& plan, std::size_t k) {
    const std::string& value = plan.trial.values[k];
    return value.empty() ? "-" : value;
  }

  /// Returns the keys whose values differ among `plans`, or those with one value for all that are not left
  /// out.
  [[nodiscard]] std::vector<std::size_t> keys_of(const std::vector<FoundPlan>& plans, bool differ) const {
    std::vector<std::size_t> keys;
    for (std::size_t k = 0; k < space_.keys().size(); ++k) {
      const std::string first = value_of(plans.front(), k);
      const bool same =
          std::ranges::all_of(plans, [&](const FoundPlan& plan) { return value_of(plan, k) == first; });
      if (same ? !differ && first != "-" && first != "null" : differ) keys.push_back(k);
    }
    return keys;
  }

  /// `KEY VALUE` of each, in lines of 80 columns.
  [[nodiscard]] std::string values_of(const FoundPlan& plan, const std::vector<std::size_t>& keys) const {
    std::string lines;
    std::string line = "   ";
    for (const std::size_t k : keys) {
      const std::string part = fmt::format(" {} {}{}", short_name(space_.keys()[k].key), value_of(plan, k),
                                           k == keys.back() ? "" : ",");
      if (text_width(line) + text_width(part) > kColumns) {
        lines += line + "\n";
        line = "   ";
      }
      line += part;
    }
    return lines + line + "\n";
  }

  [[nodiscard]] std::string weighed() const {
    std::string names = request_.objective.key();
    for (const Objective& objective : request_.pareto) names += ", " + objective.key();
    return names;
  }

  [[nodiscard]] std::vector<std::string> figure_names(bool& shows_memory) const {
    std::vector<std::string> names{"", std::string(request_.objective.key())};
    for (const Objective& objective : request_.pareto) names.push_back(objective.key());
    shows_memory = std::ranges::find(names, "memory.peak_gb") == names.end();
    if (shows_memory) names.emplace_back("memory.peak_gb");
    return names;
  }

  /// A row a plan, with the keys in which they differ: beside its figures where there is room, else below.
  void plans(const std::vector<FoundPlan>& plans) {
    const std::vector<std::size_t> keys = keys_of(plans, true);
    const std::string table = plan_table(plans, keys);
    if (text_width(table.substr(0, table.find('\n'))) <= kColumns) {
      out_ += table;
    } else {
      std::istringstream figures(plan_table(plans, {}));
      std::string line;
      for (std::size_t i = 0; std::getline(figures, line); ++i)
        out_ += line + "\n" + (i == 0 ? "" : values_of(plans[i - 1], keys));
    }
    const std::vector<std::size_t> common = keys_of(plans, false);
    if (!common.empty())
      out_ += fmt::format("{}:\n{}", plans.size() == 1 ? "with" : "all of them with",
                          values_of(plans.front(), common));
  }

  [[nodiscard]] std::string plan_table(const std::vector<FoundPlan>& plans,
                                       const std::vector<std::size_t>& keys) const {
    bool shows_memory = false;
    std::vector<std::string> headers = figure_names(shows_memory);
    for (const std::size_t k : keys) headers.emplace_back(short_name(space_.keys()[k].key));
    TextTable table(headers);
    const Objective memory("memory.peak_gb");
    for (std::size_t i = 0; i < plans.size(); ++i) {
      std::vector<std::string> cells{std::to_string(i + 1),
                                     number(request_.objective.value(plans[i].report))};
      for (const Objective& objective : request_.pareto)
        cells.push_back(number(objective.value(plans[i].report)));
      if (shows_memory) cells.push_back(number(memory.value(plans[i].report)));
      for (const std::size_t k : keys) cells.push_back(value_of(plans[i], k));
      table.add(std::move(cells));
    }
    return table.text();
  }

  void counts() {
    out_ += fmt::format("{}\n", proof());
    for (const std::string& note : result_.notes) out_ += note + "\n";
    out_ += fmt::format(
        "{}, {} that differ and are valid, {} simulated, {} bounded by a run without contention\n", points(),
        result_.distinct, result_.simulated, result_.bounded);
    for (const auto& [by, count] : result_.removed) out_ += fmt::format("  {:>8} removed by {}\n", count, by);
    for (const auto& [why, count] : result_.rejected) out_ += fmt::format("  {:>8} {}\n", count, why);
  }

  [[nodiscard]] std::string points() const {
    if (space_.continuous())
      return fmt::format("{} points looked at of a continuous space", result_.evaluated);
    if (result_.evaluated == result_.points) return fmt::format("{} points", result_.points);
    return fmt::format("{} points, {} looked at", result_.points, result_.evaluated);
  }

  [[nodiscard]] std::string kept() const {
    std::string limits;
    for (const Limit& limit : request_.limits) limits += (limits.empty() ? "" : ", ") + limit.text();
    return limits;
  }

  [[nodiscard]] std::string proof() const {
    if (result_.best.empty() && result_.beyond + result_.overloaded > 0) {
      if (result_.beyond == 0) return "No plan that was simulated keeps up with the requests that arrive.";
      return "No plan that was simulated " + std::string(result_.overloaded > 0 ? "keeps up and " : "") +
             "keeps " + kept() + ".";
    }
    if (result_.best.empty()) return "No plan fits into memory.";
    const std::string within = request_.limits.empty() ? "" : " that keeps " + kept();
    if (result_.optimal) return "The first is optimal: no point of the space" + within + " is better.";
    if (result_.gap)
      return fmt::format("Not proven optimal: a point might be better by {:.2g} %.", 100 * *result_.gap);
    return fmt::format("The method {} proves nothing about points that it did not simulate.",
                       request_.method);
  }

  void why() {
    const DifferenceTerms terms = first_and_second(result_).breakdown;
    const bool serves = result_.best.front().report.serving.has_value();
    const std::string_view figure = serves ? "GPU time per output token" : "mean over GPUs";
    const std::string table =
        difference_table(terms, kThousandthOfMillisecond, {figure, "first ms", "second ms", "gain ms"});
    if (table.empty()) return;
    const auto gain_ms = static_cast<double>(difference_in_units(terms, kThousandthOfMillisecond)) / 1000;
    out_ += fmt::format("\nWhy the first {} is {:.3f} ms {} than the second:\n", serves ? figure : "step",
                        std::abs(gain_ms), gain_ms >= 0 ? "shorter" : "longer");
    out_ += table;
  }

  const SearchResult& result_;
  const Space& space_;
  const SearchRequest& request_;
  std::string out_;
};

/// A number, a list or the like where the text of a value is one.
SearchJson typed(const std::string& text) {
  SearchJson value = SearchJson::parse(text, nullptr, false);
  return value.is_discarded() ? SearchJson(text) : value;
}

SearchJson plan_json(const FoundPlan& plan, const Space& space) {
  std::string text;
  write_json(plan.report, ResultSelection(), -1, [&text](std::string_view part) { text += part; });
  SearchJson values = SearchJson::object();
  for (std::size_t k = 0; k < space.keys().size(); ++k)
    if (!plan.trial.values[k].empty()) values[space.keys()[k].key] = typed(plan.trial.values[k]);
  SearchJson result{{"point", std::move(values)}};
  result.update(SearchJson::parse(text));
  result.erase("stats");  // of the machine
  return result;
}

SearchJson plans_json(const std::vector<FoundPlan>& plans, const Space& space) {
  SearchJson list = SearchJson::array();
  for (const FoundPlan& plan : plans) list.push_back(plan_json(plan, space));
  return list;
}

SearchJson improvements_json(const SearchResult& result, const Objective& objective) {
  SearchJson list = SearchJson::array();
  for (const Improvement& one : result.improvements)
    list.push_back({{"simulated", one.simulated}, {"value", objective.value_of_cost(one.cost)}});
  return list;
}

SearchJson limits_json(const SearchRequest& request) {
  SearchJson limits = SearchJson::object();
  for (const Limit& limit : request.limits) limits[limit.figure().key()] = limit.value();
  return limits;
}

SearchJson why_json(const SearchResult& result) {
  SearchJson terms = SearchJson::array();
  if (result.best.size() < 2) return terms;
  for (const DifferenceTerm& term : first_and_second(result).breakdown)
    terms.push_back({{"term", term.name},
                     {"best_s", to_seconds(term.first)},
                     {"runner_up_s", to_seconds(term.second)},
                     {"gain_s", to_seconds(term.difference())}});
  return terms;
}

}  // namespace

std::string search_text(const SearchResult& result, const Space& space, const SearchRequest& request) {
  return SearchText(result, space, request).text();
}

std::string search_json(const SearchResult& result, const Space& space, const SearchRequest& request) {
  const SearchJson json{{"method", request.method},
                        {"objective", request.objective.key()},
                        {"limits", limits_json(request)},
                        {"seed", request.seed},
                        {"optimal", result.optimal},
                        {"gap", result.gap ? SearchJson(*result.gap) : SearchJson()},
                        {"points", space.continuous() ? SearchJson() : SearchJson(result.points)},
                        {"evaluated", result.evaluated},
                        {"distinct", result.distinct},
                        {"infeasible", result.infeasible},
                        {"bounded", result.bounded},
                        {"simulated", result.simulated},
                        {"refused", result.refused},
                        {"pruned", result.pruned},
                        {"removed", result.removed},
                        {"losers", result.rejected},
                        {"improvements", improvements_json(result, request.objective)},
                        {"notes", result.notes},
                        {"why", why_json(result)},
                        {"best", plans_json(result.best, space)},
                        {"pareto", plans_json(result.pareto, space)}};
  return json.dump(2, ' ', false, SearchJson::error_handler_t::replace) + "\n";
}

}  // namespace orrery
