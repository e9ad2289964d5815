// Reinforcement learning by the cross-entropy method (Rubinstein 1999; de Boer et al. 2005, A Tutorial on the
// Cross-Entropy Method): a policy with a distribution over the values of each key draws plans, and is moved
// towards the best ones it has met.
#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "planner/methods/plan_environment.hpp"
#include "planner/methods/search_run.hpp"
#include "topologies/gossip/random_numbers.hpp"

namespace orrery {
namespace {

constexpr std::size_t kBatch = 24;     ///< episodes that are simulated at a time
constexpr std::size_t kEpisodes = 96;  ///< drawn for them
constexpr std::size_t kElites = 24;    ///< plans that the policy learns from
constexpr double kLearningRate = 0.3;  ///< 0.7 of the policy stays, as de Boer et al. smooth it
constexpr double kExploration = 0.1;   ///< of the probability is shared by all values that are not masked

class Policy {
 public:
  explicit Policy(const Space& space) {
    for (const SpaceKey& key : space.keys())
      probabilities_.emplace_back(key.values.size(), 1.0 / static_cast<double>(key.values.size()));
  }

  [[nodiscard]] std::size_t draw(std::size_t key, const std::vector<bool>& mask, SplitMix64& random) const {
    const std::vector<double> weights = masked(key, mask);
    double rest = random.uniform();
    std::size_t drawn = 0;
    for (std::size_t v = 0; v < mask.size() && rest >= 0; ++v) {
      if (!mask[v]) continue;
      drawn = v;
      rest -= weights[v];
    }
    return drawn;
  }

  /// Moves it towards plans, each a value per key.
  void learn(const std::vector<std::vector<std::size_t>>& plans) {
    for (std::size_t k = 0; k < probabilities_.size(); ++k) {
      std::vector<double> shares(probabilities_[k].size(), 0.0);
      for (const std::vector<std::size_t>& plan : plans)
        shares[plan[k]] += 1.0 / static_cast<double>(plans.size());
      for (std::size_t v = 0; v < shares.size(); ++v)
        probabilities_[k][v] += kLearningRate * (shares[v] - probabilities_[k][v]);
    }
  }

 private:
  /// Probabilities of the values of a key among those allowed.
  [[nodiscard]] std::vector<double> masked(std::size_t key, const std::vector<bool>& mask) const {
    const auto allowed = static_cast<double>(std::ranges::count(mask, true));
    double sum = 0;
    for (std::size_t v = 0; v < mask.size(); ++v)
      if (mask[v]) sum += probabilities_[key][v];
    std::vector<double> weights(mask.size(), 0.0);
    for (std::size_t v = 0; v < mask.size(); ++v) {
      if (!mask[v]) continue;
      const double learned = sum > 0 ? probabilities_[key][v] / sum : 1 / allowed;
      weights[v] = kExploration / allowed + (1 - kExploration) * learned;
    }
    return weights;
  }

  std::vector<std::vector<double>> probabilities_;
};

class CrossEntropySearch {
 public:
  explicit CrossEntropySearch(SearchRun& run)
      : run_(run),
        environment_(run.space(), run.evaluate_bounds()),
        policy_(run.space()),
        random_(SplitMix64(run.request().seed).next()) {}

  void run() {
    while (environment_.left() > 0 && run_.budget_left()) {
      run_.simulate(most_promising(episodes()));
      policy_.learn(elites());
    }
    set_lower_bound();
  }

 private:
  /// Candidates at which episodes have ended, each once.
  std::vector<std::size_t> episodes() {
    std::vector<std::size_t> ended;
    while (ended.size() < kEpisodes && environment_.left() > 0) {
      environment_.reset();
      for (std::size_t key = 0; key < environment_.keys(); ++key)
        environment_.take(policy_.draw(key, environment_.mask(), random_));
      ended.push_back(environment_.end());
      environment_.take_out(ended.back());
    }
    return ended;
  }

  /// Returns the points with the least bounds, without those that can be no elites; the others are put back.
  std::vector<std::uint64_t> most_promising(std::vector<std::size_t> ended) {
    const std::vector<Candidate>& candidates = environment_.candidates();
    const bool may_prune = run_.request().pareto.empty();
    const double worst = run_.cost_of(kElites - 1);
    const auto pruned =
        std::erase_if(ended, [&](std::size_t c) { return may_prune && candidates[c].bound >= worst; });
    run_.count_pruned(pruned, "its bound is no better than all that the policy learns from");
    std::ranges::stable_sort(ended, {}, [&](std::size_t c) { return candidates[c].bound; });
    for (std::size_t i = kBatch; i < ended.size(); ++i) environment_.put_back(ended[i]);
    ended.resize(std::min(ended.size(), kBatch));
    std::vector<std::uint64_t> indices;
    for (const std::size_t c : ended) indices.push_back(candidates[c].index);
    return indices;
  }

  [[nodiscard]] std::vector<std::vector<std::size_t>> elites() const {
    std::vector<std::vector<std::size_t>> plans;
    for (std::size_t k = 0; k < std::min(kElites, run_.trials().size()); ++k)
      plans.push_back(environment_.values_at(run_.trials()[k].index));
    return plans;
  }

  /// Sets the lower bound: a plan that was not simulated may be as good as its own bound.
  void set_lower_bound() {
    std::unordered_set<std::uint64_t> simulated;
    for (const Trial& trial : run_.trials()) simulated.insert(trial.index);
    double least = run_.cost_of(0);
    for (const Candidate& candidate : environment_.candidates())
      if (!simulated.contains(candidate.index)) least = std::min(least, candidate.bound);
    run_.set_lower_bound(least);
  }

  SearchRun& run_;
  PlanEnvironment environment_;
  Policy policy_;
  SplitMix64 random_;
};

}  // namespace

void search_by_reinforcement(SearchRun& run) { CrossEntropySearch(run).run(); }

}  // namespace orrery
