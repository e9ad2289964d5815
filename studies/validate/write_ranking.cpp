#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "studies/validate/text_parts.hpp"
#include "studies/validate/writers.hpp"

namespace orrery {
namespace {

using RankingJson = nlohmann::ordered_json;

bool is_ranked(const RankedCase& of) { return of.plans() >= kSmallestGroup; }

std::string share_or(const std::optional<double>& ratio, const char* otherwise) {
  return ratio ? percent(*ratio) : otherwise;
}

void write_case(const RankedCase& of, const TextSink& sink) {
  sink(fmt::format("{}, {}: {} plans of {} GPUs ran", of.table, of.name, of.ran, of.gpus));
  if (of.ran > 0) sink(fmt::format(", the best in {:.4g} s ({})", of.best_s, of.best));
  sink("\n");
  std::size_t by = 2;
  std::size_t plan = 6;
  for (const PlanOrder& order : of.orders) {
    by = std::max(by, order.by.size());
    plan = std::max(plan, order.chosen.size());
  }
  sink(fmt::format("  {:<{}}  {:>6}  {:<{}}  {:>8}  {:>9}\n", "by", by, "tau", "chosen", plan, "regret",
                   "best of 3"));
  for (const PlanOrder& order : of.orders) {
    const std::string regret = order.chosen.empty() ? "-" : share_or(order.regret, "it fails");
    sink(fmt::format("  {:<{}}  {:>6}  {:<{}}  {:>8}  {:>9}\n", order.by, by, correlation(order.tau),
                     order.chosen, plan, regret, share_or(order.regret_of_3, "-")));
  }
  sink("\n");
}

/// Means over the cases of one kind of order.
struct OrderMeans {
  double tau = 0;
  double regret = 0;
  double regret_of_3 = 0;
  std::size_t cases = 0;
};

void write_means(const std::vector<RankedCase>& cases, const TextSink& sink) {
  sink("mean over cases    tau    regret  best of 3\n");
  for (const char* network : {"flow", "alpha-beta"}) {
    OrderMeans means;
    for (const RankedCase& of : cases) {
      const auto order = std::ranges::find(of.orders, network, &PlanOrder::by);
      if (!is_ranked(of) || !order->tau || !order->regret) continue;
      ++means.cases;
      means.tau += *order->tau;
      means.regret += *order->regret;
      means.regret_of_3 += *order->regret_of_3;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(means.cases, 1));
    sink(fmt::format("{:<15} {:>6.3f}  {:>8}  {:>9}\n", network, means.tau / n, percent(means.regret / n),
                     percent(means.regret_of_3 / n)));
  }
  sink("\n");
}

void write_memory(const std::vector<RankedCase>& cases, const TextSink& sink) {
  std::map<std::string, RankedCase> tables;
  std::size_t width = 5;
  for (const RankedCase& of : cases) {
    RankedCase& sum = tables[of.table];
    sum.ran += of.ran;
    sum.failed += of.failed;
    sum.failed_rightly += of.failed_rightly;
    sum.misjudged += of.misjudged;
    width = std::max(width, of.table.size());
  }
  sink(fmt::format("{:<{}}  {:>6}  {:>18}  {:>4}  {:>18}\n", "memory", width, "failed", "of them do not fit",
                   "ran", "of them do not fit"));
  for (const auto& [name, sum] : tables)
    sink(fmt::format("{:<{}}  {:>6}  {:>18}  {:>4}  {:>18}\n", name, width, sum.failed, sum.failed_rightly,
                     sum.ran, sum.misjudged));
}

RankingJson number_or_null(const std::optional<double>& value) {
  return value ? RankingJson(*value) : RankingJson();
}

RankingJson order_json(const PlanOrder& order) {
  return {{"by", order.by},
          {"kendall_tau", number_or_null(order.tau)},
          {"chosen", order.chosen.empty() ? RankingJson() : RankingJson(order.chosen)},
          {"regret", number_or_null(order.regret)},
          {"regret_of_3", number_or_null(order.regret_of_3)}};
}

}  // namespace

void write_ranking_text(const std::vector<RankedCase>& cases, const TextSink& sink) {
  std::size_t small = 0;
  for (const RankedCase& of : cases) is_ranked(of) ? write_case(of, sink) : void(++small);
  if (small < cases.size()) write_means(cases, sink);
  if (small > 0)
    sink(fmt::format("{} further case{} with fewer than {} plans\n\n", small, small == 1 ? "" : "s",
                     kSmallestGroup));
  write_memory(cases, sink);
}

void write_ranking_json(const std::vector<RankedCase>& cases, const TextSink& sink) {
  RankingJson out{{"cases", RankingJson::array()}};
  for (const RankedCase& of : cases) {
    RankingJson one{{"table", of.table},
                    {"case", of.name},
                    {"gpus", of.gpus},
                    {"ran", of.ran},
                    {"best", of.best.empty() ? RankingJson() : RankingJson(of.best)},
                    {"best_s", of.ran > 0 ? RankingJson(of.best_s) : RankingJson()},
                    {"failed", of.failed},
                    {"failed_and_infeasible", of.failed_rightly},
                    {"ran_and_infeasible", of.misjudged},
                    {"orders", RankingJson::array()}};
    for (const PlanOrder& order : of.orders) one["orders"].push_back(order_json(order));
    out["cases"].push_back(std::move(one));
  }
  sink(out.dump(2, ' ', false, RankingJson::error_handler_t::replace) + "\n");
}

}  // namespace orrery
