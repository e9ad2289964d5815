#include "workloads/communicators/expert_load.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "workloads/communicators/ranks_in_node.hpp"

namespace orrery {
namespace {

/// Shares of all tokens by expert, which add up to 1.
std::vector<double> shares_of(const Model& model, const Plan& plan) {
  std::vector<double> shares(static_cast<std::size_t>(model.experts), 1.0);
  if (plan.token_imbalance == TokenImbalance::zipf) {
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = 1.0 / static_cast<double>(i + 1);
  } else if (plan.token_imbalance == TokenImbalance::histogram) {
    std::ranges::copy(plan.token_histogram, shares.begin());
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

/// An expert takes no more than its capacity.
double taken(double share, const Model& model, const Plan& plan) {
  if (plan.capacity_factor == 0) return share;
  return std::min(share, plan.capacity_factor / static_cast<double>(model.experts));
}

double worst_load(const Model& model, const Plan& plan) {
  const auto held = static_cast<double>(model.experts / plan.expert_parallel);
  const auto chosen = static_cast<double>(model.experts_per_token);
  const double load = std::min(chosen, held) * static_cast<double>(plan.expert_parallel) / chosen;
  // All tokens at each expert of the rank, E / K times the mean.
  const double each = static_cast<double>(model.experts) / chosen;
  if (plan.capacity_factor == 0 || plan.capacity_factor >= each) return load;
  return load * plan.capacity_factor / each;
}

/// The chance that none of `chosen` of `all` experts is among `held` of them.
double chance_of_none(std::int64_t all, std::int64_t held, std::int64_t chosen) {
  double chance = 1;
  for (std::int64_t i = 0; i < chosen; ++i)
    chance *= std::max(0.0, static_cast<double>(all - held - i) / static_cast<double>(all - i));
  return chance;
}

}  // namespace

std::int64_t histogram_tokens(const Plan& plan) {
  return std::accumulate(plan.token_histogram.begin(), plan.token_histogram.end(), std::int64_t{0});
}

double token_load(const Model& model, const Plan& plan) {
  if (plan.token_imbalance == TokenImbalance::worst) return worst_load(model, plan);
  if (plan.token_imbalance == TokenImbalance::uniform)
    return plan.capacity_factor == 0 ? 1 : std::min(1.0, plan.capacity_factor);
  const std::vector<double> shares = shares_of(model, plan);
  const std::size_t held = shares.size() / static_cast<std::size_t>(plan.expert_parallel);
  double most = 0;
  for (std::size_t first = 0; first < shares.size(); first += held) {
    double sum = 0;
    for (std::size_t i = first; i < first + held; ++i) sum += taken(shares[i], model, plan);
    most = std::max(most, sum);
  }
  return most * static_cast<double>(plan.expert_parallel);
}

double holders_per_token(const Model& model, std::int64_t holders) {
  const std::int64_t candidates = model.experts / model.expert_groups * model.groups_per_token;
  const std::int64_t each = model.experts / holders;
  const std::int64_t in_group = model.experts / model.expert_groups;
  const auto total = static_cast<double>(holders);
  if (each <= in_group) {  // a holder lies in one group
    const double chosen =
        static_cast<double>(model.groups_per_token) / static_cast<double>(model.expert_groups);
    return total * chosen * (1 - chance_of_none(candidates, each, model.experts_per_token));
  }
  // A holder has several groups: it is met where one of the chosen ones, each of which is used, is among
  // them.
  return total * (1 - chance_of_none(model.expert_groups, each / in_group, model.groups_per_token));
}

std::int64_t expert_ranks_in_node(const Experiment& experiment) {
  return ranks_in_node(RankGrid::of_experts(experiment.plan), Axis::expert, experiment.cluster);
}

}  // namespace orrery
