#include "studies/converge/presence.hpp"

#include <algorithm>
#include <string>

#include "orrery/error.hpp"

namespace orrery {
namespace {

/// Goes through all changes of `present` and says which one contradicts.
void check_changes(const LearningProblem& problem, std::vector<bool> present) {
  std::int64_t left = std::ranges::count(present, true);
  for (std::size_t c = 0; c < problem.changes.size(); ++c) {
    const WorkerChange& change = problem.changes[c];
    const auto worker = static_cast<std::size_t>(change.worker());
    const bool joins = change.joins >= 0;
    const auto refuse = [&](const std::string& found, const std::string& allowed) {
      throw InputError("/problem/changes", "found worker " + std::to_string(worker) + " that " +
                                               (joins ? "joins" : "leaves") + " before iteration " +
                                               std::to_string(change.iteration) + found + ", allowed " +
                                               allowed);
    };
    if (worker >= present.size()) refuse("", "workers 0 to " + std::to_string(present.size() - 1));
    if (present[worker] == joins)
      refuse(joins ? " and is there" : " and is away", joins ? "one that is away" : "one that is there");
    present[worker] = joins;
    left += joins ? 1 : -1;
    if (left == 0) refuse(" as the last one", "changes that leave one or more");
  }
}

}  // namespace

Presence::Presence(const LearningProblem& problem, std::int64_t workers)
    : present_(static_cast<std::size_t>(workers), true), count_(workers) {
  std::vector<bool> met(present_.size(), false);
  for (const WorkerChange& change : problem.changes) {
    const auto worker = static_cast<std::size_t>(change.worker());
    if (worker >= present_.size()) continue;  // refused below
    if (change.joins >= 0 && !met[worker]) set(change.worker(), false);
    met[worker] = true;
  }
  check_changes(problem, present_);
}

void Presence::set(std::int64_t worker, bool present) {
  present_[static_cast<std::size_t>(worker)] = present;
  count_ = std::ranges::count(present_, true);
}

Vector Presence::mean(const Matrix& columns) const {
  if (everyone()) return columns.rowwise().mean();
  Vector sum = Vector::Zero(columns.rows());
  for (Eigen::Index worker = 0; worker < columns.cols(); ++worker)
    if (has(worker)) sum += columns.col(worker);
  return sum / static_cast<double>(count_);
}

GossipGraph Presence::spread(const GossipGraph& graph) const {
  if (everyone()) return graph;
  std::vector<std::uint32_t> number;  // of present workers
  for (std::uint32_t worker = 0; worker < present_.size(); ++worker)
    if (present_[worker]) number.push_back(worker);
  GossipGraph all{graph.topology, {}};
  for (const Mixing& round : graph.rounds) {
    Mixing& out = all.rounds.emplace_back();
    out.begin.push_back(0);
    std::uint32_t next = 0;
    for (std::uint32_t worker = 0; worker < present_.size(); ++worker) {
      if (present_[worker]) {
        for (const std::uint32_t from : round.neighbours(next)) out.from.push_back(number[from]);
        const auto weights = round.weights(next);
        out.weight.insert(out.weight.end(), weights.begin(), weights.end());
        out.self.push_back(round.self[next]);
        ++next;
      } else {
        out.self.push_back(1);
      }
      out.begin.push_back(static_cast<std::uint32_t>(out.from.size()));
    }
  }
  return all;
}

}  // namespace orrery
