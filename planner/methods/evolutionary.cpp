// Implements a (mu + lambda) evolution: the best of parents and children are the next parents (Baeck, Fogel
// and Michalewicz 2000, Evolutionary Computation 1, chapter 9). Random choices depend on the seed alone,
// since generations have the same size for any number of threads.
#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

#include "planner/methods/genome.hpp"
#include "planner/methods/search_run.hpp"

namespace orrery {
namespace {

constexpr std::size_t kParents = 24;
constexpr std::size_t kChildren = 24;       ///< simulated at a time
constexpr std::size_t kProposals = 192;     ///< looked at for them
constexpr std::size_t kMostDraws = 16'384;  ///< at random, for points that are valid
constexpr std::size_t kElders = 6;          ///< that survive when all others are drawn anew
constexpr int kStale = 4;                   ///< generations without a new parent, before that
constexpr int kFruitless = 6;               ///< generations without a new point, before the end

struct Individual {
  Genome genome;
  std::uint64_t index = 0;
  double bound = 0;
};

struct Parent {
  Genome genome;
  Trial trial;
};

class EvolutionarySearch {
 public:
  explicit EvolutionarySearch(SearchRun& run)
      : run_(run), breeder_(run.space()), random_(SplitMix64(run.request().seed).next()) {}

  void run() {
    while (run_.budget_left() && fruitless_ < kFruitless) {
      const bool anew = parents_.size() < 2 || stale_ >= kStale;
      if (anew) parents_.resize(std::min(parents_.size(), kElders));
      const std::size_t before = run_.trials().size();
      const bool changed = select(simulated(anew ? newcomers() : children()));
      stale_ = changed ? 0 : stale_ + 1;
      fruitless_ = run_.trials().size() > before ? 0 : fruitless_ + 1;
    }
  }

 private:
  /// The better one of two.
  const Parent& tournament() {
    const std::uint64_t a = random_.below(parents_.size());
    const std::uint64_t b = random_.below(parents_.size());
    return parents_[static_cast<std::size_t>(std::min(a, b))];  // they stand in order
  }

  std::vector<Individual> children() {
    std::vector<Genome> genomes;
    for (std::size_t i = 0; i < kProposals; ++i) {
      const Parent& a = tournament();
      const Parent& b = tournament();
      genomes.push_back(breeder_.child(a.genome, b.genome, random_));
    }
    return most_promising(valid_of(genomes));
  }

  std::vector<Individual> newcomers() {
    std::vector<Individual> found;
    for (std::size_t draws = 0; draws < kMostDraws && found.size() < kProposals; draws += kProposals) {
      std::vector<Genome> genomes;
      for (std::size_t i = 0; i < kProposals; ++i) genomes.push_back(breeder_.random(random_));
      std::ranges::move(valid_of(genomes), std::back_inserter(found));
    }
    return most_promising(std::move(found));
  }

  /// Returns new individuals that are valid, fit into memory and are not ruled out by their bounds.
  std::vector<Individual> valid_of(std::vector<Genome>& genomes) {
    std::vector<Individual> fresh;
    std::vector<std::uint64_t> indices;
    for (Genome& genome : genomes) {
      const std::uint64_t index = run_.index_of(breeder_.values(genome));
      if (!met_.insert(index).second) continue;
      indices.push_back(index);
      fresh.push_back({std::move(genome), index});
    }
    const std::vector<std::optional<Candidate>> candidates = run_.evaluate(indices);
    std::vector<Individual> valid;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      if (!candidates[i] || !may_survive(*candidates[i])) continue;
      fresh[i].bound = candidates[i]->bound;
      valid.push_back(std::move(fresh[i]));
    }
    return valid;
  }

  [[nodiscard]] bool may_survive(const Candidate& candidate) {
    if (run_.request().pareto.empty() && parents_.size() == kParents &&
        candidate.bound >= parents_.back().trial.cost) {
      run_.count_pruned(1, "its bound is no better than the worst parent");
      return false;
    }
    return true;
  }

  /// The least bounds; the others may be drawn again.
  std::vector<Individual> most_promising(std::vector<Individual> found) {
    std::ranges::stable_sort(found, {}, &Individual::bound);
    for (std::size_t i = kChildren; i < found.size(); ++i) met_.erase(found[i].index);
    found.resize(std::min(found.size(), kChildren));
    return found;
  }

  std::vector<Parent> simulated(std::vector<Individual> found) {
    std::vector<std::uint64_t> indices;
    for (const Individual& one : found) indices.push_back(one.index);
    const std::vector<std::optional<Trial>> trials = run_.simulate(indices);
    std::vector<Parent> made;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (trials[i]) made.push_back({std::move(found[i].genome), *trials[i]});
    return made;
  }

  /// Adds those to the parents and keeps the best, each step once; whether a new one is among them.
  bool select(std::vector<Parent> made) {
    bool changed = false;
    for (Parent& one : made) {
      const auto order = [](const Trial& a, const Trial& b) {
        return std::pair(a.cost, a.index) < std::pair(b.cost, b.index);
      };
      const auto at = std::ranges::lower_bound(parents_, one.trial, order, &Parent::trial);
      if (at != parents_.end() && at->trial.index == one.trial.index) continue;
      changed = changed || at - parents_.begin() < static_cast<std::ptrdiff_t>(kParents);
      parents_.insert(at, std::move(one));
    }
    if (parents_.size() > kParents) parents_.resize(kParents);
    return changed;
  }

  SearchRun& run_;
  Breeder breeder_;
  SplitMix64 random_;
  std::vector<Parent> parents_;  ///< the best first
  std::unordered_set<std::uint64_t> met_;
  int stale_ = 0;
  int fruitless_ = 0;
};

}  // namespace

void search_by_evolution(SearchRun& run) { EvolutionarySearch(run).run(); }

}  // namespace orrery
