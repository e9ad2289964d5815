#include "planner/methods/write_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "orrery/write.hpp"
#include "reports/text_table.hpp"

namespace orrery {
namespace {

using SearchJson = nlohmann::ordered_json;

/// The part of a dotted key behind the last dot.
std::string_view short_name(std::string_view key) { return key.substr(key.rfind('.') + 1); }

std::string number(std::optional<double> value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

/// A term of the breakdown of the step time in two plans.
struct Term {
  std::string name;
  double best_s = 0;
  double next_s = 0;

  [[nodiscard]] double gain_s() const { return next_s - best_s; }
};

/// Where the runner-up spends more time and where less, mean over GPUs; the largest difference first.
std::vector<Term> terms_of(const Report& best, const Report& next) {
  const ResultSelection breakdown(std::vector<std::string>{"breakdown_s"});
  const std::vector<ResultFigure> a = result_figures(best, breakdown);
  const std::vector<ResultFigure> b = result_figures(next, breakdown);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < a.size(); ++i)
    terms.push_back({std::string(short_name(a[i].key)), a[i].value.value_or(0), b[i].value.value_or(0)});
  std::ranges::stable_sort(terms, std::greater<>(), [](const Term& t) { return std::abs(t.gain_s()); });
  return terms;
}

class SearchText {
 public:
  SearchText(const SearchResult& result, const Space& space, const SearchRequest& request)
      : result_(result), space_(space), request_(request) {}

  std::string text() {
    plans(result_.best);
    out_ += "\n";
    counts();
    if (result_.best.size() > 1) why();
    if (!result_.pareto.empty()) {
      out_ += fmt::format("\nnone is better in all of {}:\n", weighed());
      plans(result_.pareto);
    }
    return std::move(out_);
  }

 private:
  /// Keys that differ among the points reported.
  [[nodiscard]] std::vector<std::size_t> telling_keys(const std::vector<FoundPlan>& plans) const {
    std::vector<std::size_t> keys;
    for (std::size_t k = 0; k < space_.keys().size(); ++k) {
      const SpaceKey& key = space_.keys()[k];
      if (key.values.size() > 1 || key.interval || plans.front().trial.index >= space_.size())
        keys.push_back(k);
    }
    return keys;
  }

  [[nodiscard]] std::string weighed() const {
    std::string names = request_.objective.key();
    for (const Objective& objective : request_.pareto) names += ", " + objective.key();
    return names;
  }

  void plans(const std::vector<FoundPlan>& plans) {
    const std::vector<std::size_t> keys = telling_keys(plans);
    std::vector<std::string> headers{"", std::string(request_.objective.key())};
    for (const Objective& objective : request_.pareto) headers.push_back(objective.key());
    const bool shows_memory = std::ranges::find(headers, "memory.peak_gb") == headers.end();
    if (shows_memory) headers.emplace_back("memory.peak_gb");
    for (const std::size_t k : keys) headers.emplace_back(short_name(space_.keys()[k].key));
    TextTable table(headers);
    const Objective memory("memory.peak_gb");
    for (std::size_t i = 0; i < plans.size(); ++i) {
      std::vector<std::string> cells{std::to_string(i + 1),
                                     number(request_.objective.value(plans[i].report))};
      for (const Objective& objective : request_.pareto)
        cells.push_back(number(objective.value(plans[i].report)));
      if (shows_memory) cells.push_back(number(memory.value(plans[i].report)));
      for (const std::size_t k : keys) {
        const std::string& value = plans[i].trial.values[k];
        cells.push_back(value.empty() ? "-" : value);
      }
      table.add(std::move(cells));
    }
    out_ += table.text();
  }

  void counts() {
    out_ += fmt::format("{}\n", proof());
    for (const std::string& note : result_.notes) out_ += note + "\n";
    out_ += fmt::format(
        "{}, {} that differ and are valid, {} simulated, {} bounded by a run without contention\n", points(),
        result_.distinct, result_.simulated, result_.bounded);
    for (const auto& [by, count] : result_.removed) out_ += fmt::format("  {:>8} removed by {}\n", count, by);
    for (const auto& [why, count] : result_.losers) out_ += fmt::format("  {:>8} {}\n", count, why);
  }

  [[nodiscard]] std::string points() const {
    if (space_.continuous())
      return fmt::format("{} points looked at of a continuous space", result_.evaluated);
    if (result_.evaluated == result_.points) return fmt::format("{} points", result_.points);
    return fmt::format("{} points, {} looked at", result_.points, result_.evaluated);
  }

  [[nodiscard]] std::string proof() const {
    if (result_.optimal) return "The first is optimal: no point of the space is better.";
    if (result_.gap)
      return fmt::format("Not proven optimal: a point might be better by {:.2g} %.", 100 * *result_.gap);
    return fmt::format("The method {} proves nothing about points that it did not simulate.",
                       request_.method);
  }

  void why() {
    const Report& best = result_.best[0].report;
    const Report& next = result_.best[1].report;
    TextTable table({"mean over GPUs", "first ms", "second ms", "gain ms"});
    for (const Term& term : terms_of(best, next)) {
      if (std::abs(term.gain_s()) < 5e-7) continue;
      table.add({term.name, fmt::format("{:.3f}", 1e3 * term.best_s),
                 fmt::format("{:.3f}", 1e3 * term.next_s), fmt::format("{:+.3f}", 1e3 * term.gain_s())});
    }
    if (table.empty()) return;
    out_ += fmt::format("\nWhy the first step is {:.3f} ms {} than the second:\n",
                        1e3 * std::abs(next.step_time_s() - best.step_time_s()),
                        next.step_time_s() >= best.step_time_s() ? "shorter" : "longer");
    out_ += table.text();
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

SearchJson why_json(const SearchResult& result) {
  SearchJson terms = SearchJson::array();
  if (result.best.size() < 2) return terms;
  for (const Term& term : terms_of(result.best[0].report, result.best[1].report))
    terms.push_back({{"term", term.name},
                     {"best_s", term.best_s},
                     {"runner_up_s", term.next_s},
                     {"gain_s", term.gain_s()}});
  return terms;
}

}  // namespace

std::string search_text(const SearchResult& result, const Space& space, const SearchRequest& request) {
  return SearchText(result, space, request).text();
}

std::string search_json(const SearchResult& result, const Space& space, const SearchRequest& request) {
  const SearchJson json{{"method", request.method},
                        {"objective", request.objective.key()},
                        {"seed", request.seed},
                        {"optimal", result.optimal},
                        {"gap", result.gap ? SearchJson(*result.gap) : SearchJson()},
                        {"points", space.continuous() ? SearchJson() : SearchJson(result.points)},
                        {"evaluated", result.evaluated},
                        {"distinct", result.distinct},
                        {"infeasible", result.infeasible},
                        {"bounded", result.bounded},
                        {"simulated", result.simulated},
                        {"pruned", result.pruned},
                        {"removed", result.removed},
                        {"losers", result.losers},
                        {"improvements", improvements_json(result, request.objective)},
                        {"notes", result.notes},
                        {"why", why_json(result)},
                        {"best", plans_json(result.best, space)},
                        {"pareto", plans_json(result.pareto, space)}};
  return json.dump(2, ' ', false, SearchJson::error_handler_t::replace) + "\n";
}

}  // namespace orrery
