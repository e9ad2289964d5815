// Checks if predictions put the right plan first. Plans were all tried on one cluster, in the order in
// which each network model predicts them, and in that of the planner that chose them.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "studies/validate/measured_table.hpp"
#include "studies/validate/validate.hpp"

namespace orrery {

/// Describes one plan of a case.
struct TriedPlan {
  std::string name;
  double predicted_s = 0;
  std::optional<double> measured_s;  ///< none: it failed
  bool fits = true;                  ///< by the model; a plan that does not fit is not chosen
};

/// Holds the result of choosing plans by one kind of prediction.
struct PlanOrder {
  std::string by;             ///< the network model, or the planner
  std::optional<double> tau;  ///< Kendall's tau-b of the plans that ran; none for fewer than kSmallestGroup
  std::string chosen;         ///< the plan predicted to be the fastest of those that fit; "" where none does
  /// Its measured time over the best measured one, less 1; nullopt if it failed.
  std::optional<double> regret;
  std::optional<double> regret_of_3;  ///< of the best of the three predicted to be the fastest, likewise
};

/// Orders plans by prediction; of plans predicted to be equally fast it chooses the first.
[[nodiscard]] PlanOrder order_plans(std::string by, std::span<const TriedPlan> plans);

/// Plans of one model on one cluster.
struct RankedCase {
  std::string table;
  std::string name;
  std::int64_t gpus = 0;
  std::size_t ran = 0;
  std::string best;  ///< the plan measured to be the fastest; "" where all failed
  double best_s = 0;
  std::size_t failed = 0;          ///< for lack of memory
  std::size_t failed_rightly = 0;  ///< of these, plans that do not fit by the model
  std::size_t misjudged = 0;       ///< plans that ran and do not fit by the model
  std::vector<PlanOrder> orders;   ///< by kRankedNetworks, then by the planner where it is known

  [[nodiscard]] std::size_t plans() const { return ran + failed; }
};

/// Names in the order of Network.
inline constexpr std::array<std::string_view, 2> kRankedNetworks{"alpha-beta", "flow"};

/// The cases of `tables`, in their order: rows of a table with the same cell `case`, else of the same model.
/// Rows without a measured step time that did not fail are left out. @throws InputError as validate().
[[nodiscard]] std::vector<RankedCase> rank_plans(const std::vector<MeasuredTable>& tables, unsigned threads,
                                                 const Progress& progress = {});

}  // namespace orrery
