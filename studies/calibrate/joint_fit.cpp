#include "studies/calibrate/joint_fit.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "studies/calibrate/row_predictor.hpp"

namespace orrery {
namespace {

using Rows = std::vector<std::size_t>;
using Values = std::vector<double>;

constexpr double kNudge = 0.05;       ///< of a value, for derivatives
constexpr double kLargestStep = 0.4;  ///< of a logarithm in one round
constexpr int kMostRounds = 12;
constexpr int kMostHalvings = 4;
constexpr int kReweightings = 12;
constexpr double kLeastGain = 1e-3;  ///< of the loss, for another round
/// Standard deviation of the logarithm of a root over where it starts: within a factor of e.
constexpr double kRootDeviation = 1;

/// The rows near some values: logarithms of their ratios, and the derivatives of these by the logarithms of
/// the values.
struct Linear {
  Eigen::VectorXd ratios;
  Eigen::MatrixXd slopes;  ///< [row, variable]
};

class JointFitter {
 public:
  JointFitter(const JointProblem& problem, unsigned threads, const JointProgress& progress)
      : problem_(problem), predictor_(problem.fit, threads), progress_(progress) {
    all_.resize(rows().size());
    std::iota(all_.begin(), all_.end(), std::size_t{0});
    for (const FitVariable& v : variables()) keys_.insert(v.constant.key);
    expected_ = static_cast<int>(keys_.size()) + 1;
  }

  JointFit fit() {
    expected_ = kMostRounds * (static_cast<int>(keys_.size()) + 2);
    JointFit out;
    out.values = base_values();
    out.base_ratios = simulated(out.values, "base");
    out.ratios = out.base_ratios;
    out.base_loss = out.loss = loss(out.ratios, out.values);
    Linear near = linear(out.ratios, out.values);
    for (bool better = true; better && out.rounds < kMostRounds; ++out.rounds) {
      better = advance(near, out);
      near = linear(out.ratios, out.values);
    }
    out.standard_errors = errors(near, out.values);
    out.leaning = leaning_pairs(near);
    return out;
  }

  std::vector<Values> leave_out(const std::vector<LeftOut>& by) {
    expected_ = static_cast<int>(keys_.size() + 1 + by.size());
    const Values base = base_values();
    const Linear near = linear(simulated(base, "all rows"), base);
    std::vector<Values> out;
    for (const LeftOut what : by) {
      out.push_back(left_out(groups_of(problem_, what), near, base));
      count(std::string(kLeftOutNames[static_cast<std::size_t>(what)]));
    }
    return out;
  }

 private:
  [[nodiscard]] const std::vector<FitRow>& rows() const { return problem_.fit.rows; }
  [[nodiscard]] const std::vector<FitVariable>& variables() const { return problem_.fit.variables; }

  /// A value of the catalog outside its bounds starts at the nearer one: steps from beyond it would all end
  /// there, and seem to make the fit worse.
  [[nodiscard]] Values base_values() const {
    Values out;
    for (const FitVariable& v : variables())
      out.push_back(std::clamp(v.base_value, v.bounds.low, v.bounds.high));
    return out;
  }

  Values left_out(const std::vector<std::string>& groups, const Linear& near, const Values& base) {
    std::map<std::string, Rows> members;
    for (const std::size_t i : all_)
      if (!groups[i].empty()) members[groups[i]].push_back(i);
    Values ratios(all_.size());
    for (const auto& [group, hidden] : members) {
      std::vector<bool> seen(all_.size(), true);
      for (const std::size_t i : hidden) seen[i] = false;
      const Values found = predictor_.ratios(hidden, stepped(base, solve(near, base, seen)));
      for (std::size_t k = 0; k < hidden.size(); ++k) ratios[hidden[k]] = found[k];
    }
    return ratios;
  }

  Values simulated(const Values& values, const std::string& phase) {
    Values out = predictor_.ratios(all_, values);
    count(phase);
    return out;
  }

  void count(const std::string& phase) {
    ++done_;
    if (progress_) progress_(phase, done_, std::max(done_, expected_));
  }

  /// By differences, all variables of a key at once: a row takes each constant from one calibration.
  Linear linear(const Values& ratios, const Values& values) {
    Linear out{Eigen::VectorXd(all_.size()), Eigen::MatrixXd::Zero(all_.size(), values.size())};
    for (const std::size_t i : all_) out.ratios(i) = std::log(ratios[i]);
    for (const std::string& key : keys_) add_slopes(key, ratios, values, out.slopes);
    return out;
  }

  void add_slopes(const std::string& key, const Values& here, const Values& values, Eigen::MatrixXd& slopes) {
    Values other = values;
    Rows takers;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (variables()[j].constant.key != key) continue;
      other[j] = nudged(j, values[j]);
      for (const std::size_t i : all_)
        if (rows()[i].takes[j]) takers.push_back(i);
    }
    const Values there = predictor_.ratios(takers, other);
    for (std::size_t k = 0; k < takers.size(); ++k) {
      const std::size_t i = takers[k];
      for (std::size_t j = 0; j < values.size(); ++j) {
        if (variables()[j].constant.key == key && rows()[i].takes[j])
          slopes(i, j) = std::log(there[k] / here[i]) / std::log(other[j] / values[j]);
      }
    }
    count(key);
  }

  [[nodiscard]] double nudged(std::size_t j, double value) const {
    const double up = value * (1 + kNudge);
    return up <= variables()[j].constant.maximum ? up : value / (1 + kNudge);
  }

  /// Logarithm of the value over its parent's; 0 of a root.
  [[nodiscard]] double distance(std::size_t j, const Values& values) const {
    const Prior& heritage = problem_.heritage[j];
    if (heritage.is_root()) return 0;
    return std::log(values[j] / (heritage.parent ? values[*heritage.parent] : *heritage.parent_value));
  }

  [[nodiscard]] double loss(const Values& ratios, const Values& values) const {
    double sum = 0;
    for (const std::size_t i : all_) sum += robust_loss(std::log(ratios[i]));
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (problem_.heritage[j].is_root()) continue;
      const double off = distance(j, values) / problem_.heritage[j].spread;
      sum += off * off / 2;
    }
    return sum;
  }

  /// The curvature of the loss of the rows `seen` and of the spreads, and its slope, at a step away.
  void add_rows(const Linear& near, const std::vector<bool>& seen, const Eigen::VectorXd& step,
                Eigen::MatrixXd& curvature, Eigen::VectorXd& slope) const {
    for (const std::size_t i : all_) {
      if (!seen[i]) continue;
      const Eigen::VectorXd row = near.slopes.row(i);
      const double residual = near.ratios(i) + row.dot(step);
      const double weight = robust_weight(residual) / (kErrorOfInterest * kErrorOfInterest);
      curvature.noalias() += weight * row * row.transpose();
      slope += weight * near.ratios(i) * row;
    }
  }

  void add_spreads(const Values& values, Eigen::MatrixXd& curvature, Eigen::VectorXd& slope) const {
    for (std::size_t j = 0; j < values.size(); ++j) {
      const Prior& heritage = problem_.heritage[j];
      const double deviation = heritage.is_root() ? kRootDeviation : heritage.spread;
      const double weight = 1 / (deviation * deviation);
      const double off = distance(j, values);
      curvature(j, j) += weight;
      slope(j) += weight * off;
      if (!heritage.parent) continue;
      const std::size_t p = *heritage.parent;
      curvature(p, p) += weight;
      curvature(j, p) -= weight;
      curvature(p, j) -= weight;
      slope(p) -= weight * off;
    }
  }

  /// The step of the logarithms to the least loss of the rows `seen`, were all of them linear.
  [[nodiscard]] Eigen::VectorXd solve(const Linear& near, const Values& values,
                                      const std::vector<bool>& seen) const {
    const auto n = static_cast<Eigen::Index>(values.size());
    Eigen::VectorXd step = Eigen::VectorXd::Zero(n);
    for (int i = 0; i < kReweightings; ++i) {
      Eigen::MatrixXd curvature = Eigen::MatrixXd::Zero(n, n);
      Eigen::VectorXd slope = Eigen::VectorXd::Zero(n);
      add_rows(near, seen, step, curvature, slope);
      add_spreads(values, curvature, slope);
      step = -curvature.ldlt().solve(slope);
    }
    return step;
  }

  [[nodiscard]] Values stepped(const Values& from, const Eigen::VectorXd& step) const {
    Values out;
    for (std::size_t j = 0; j < from.size(); ++j) {
      const Bounds& bounds = variables()[j].bounds;
      out.push_back(std::clamp(from[j] * std::exp(step(j)), bounds.low, bounds.high));
    }
    return out;
  }

  /// One round; whether it gained enough for another. Rows take the constants of their own calibrations
  /// alone, so each stack goes its own way: one that its step makes worse goes half of it, and in the end
  /// none.
  bool advance(const Linear& near, JointFit& fit) {
    const std::vector<bool> everything(all_.size(), true);
    Eigen::VectorXd step = solve(near, fit.values, everything).cwiseMin(kLargestStep).cwiseMax(-kLargestStep);
    const std::map<std::string, double> before = losses_by_stack(fit.ratios, fit.values);
    for (int halvings = 0; halvings <= kMostHalvings; ++halvings) {
      const Values values = stepped(fit.values, step);
      const Values ratios = simulated(values, fmt::format("round {}", fit.rounds + 1));
      bool all_better = true;
      for (const auto& [stack, now] : losses_by_stack(ratios, values)) {
        if (now <= before.at(stack)) continue;
        all_better = false;
        scale(stack, halvings + 1 < kMostHalvings ? 0.5 : 0, step);
      }
      if (!all_better && halvings < kMostHalvings) continue;
      return accept(values, ratios, fit);
    }
    return false;
  }

  bool accept(const Values& values, const Values& ratios, JointFit& fit) const {
    const double found = loss(ratios, values);
    if (found >= fit.loss) return false;
    const bool enough = fit.loss - found > kLeastGain * fit.loss;
    fit.values = values;
    fit.ratios = ratios;
    fit.loss = found;
    return enough;
  }

  /// Returns how much the rows of each stack and the spreads of its own constants add to the loss.
  [[nodiscard]] std::map<std::string, double> losses_by_stack(const Values& ratios,
                                                              const Values& values) const {
    std::map<std::string, double> out;
    for (const std::size_t i : all_) out[rows()[i].experiment.stack] += robust_loss(std::log(ratios[i]));
    for (std::size_t j = 0; j < values.size(); ++j) {
      const auto of = out.find(variables()[j].base);
      if (of == out.end() || problem_.heritage[j].is_root()) continue;
      const double off = distance(j, values) / problem_.heritage[j].spread;
      of->second += off * off / 2;
    }
    return out;
  }

  void scale(const std::string& stack, double by, Eigen::VectorXd& step) const {
    for (std::size_t j = 0; j < variables().size(); ++j)
      if (variables()[j].base == stack) step(j) *= by;
  }

  [[nodiscard]] std::vector<Leaning> leaning_pairs(const Linear& near) const {
    Sensitivity by_row;
    Values weights;
    for (const std::size_t i : all_) {
      const Eigen::VectorXd row = near.slopes.row(i);
      by_row.emplace_back(row.begin(), row.end());
      weights.push_back(robust_weight(near.ratios(i)));
    }
    return leaning(by_row, weights);
  }

  /// Square roots of the diagonal of the inverse of the loss's curvature.
  [[nodiscard]] Values errors(const Linear& near, const Values& values) const {
    const auto n = static_cast<Eigen::Index>(values.size());
    Eigen::MatrixXd curvature = Eigen::MatrixXd::Zero(n, n);
    Eigen::VectorXd slope = Eigen::VectorXd::Zero(n);
    add_rows(near, std::vector<bool>(all_.size(), true), Eigen::VectorXd::Zero(n), curvature, slope);
    add_spreads(values, curvature, slope);
    const Eigen::MatrixXd inverse = curvature.ldlt().solve(Eigen::MatrixXd::Identity(n, n));
    Values out;
    for (Eigen::Index j = 0; j < n; ++j) out.push_back(std::sqrt(inverse(j, j)));
    return out;
  }

  const JointProblem& problem_;
  RowPredictor predictor_;
  const JointProgress& progress_;
  Rows all_;
  std::set<std::string> keys_;
  int done_ = 0;
  int expected_ = 0;
};

}  // namespace

JointFit fit_jointly(const JointProblem& problem, unsigned threads, const JointProgress& progress) {
  return JointFitter(problem, threads, progress).fit();
}

std::vector<std::vector<double>> leave_out(const JointProblem& problem, const std::vector<LeftOut>& by,
                                           unsigned threads, const JointProgress& progress) {
  return JointFitter(problem, threads, progress).leave_out(by);
}

std::vector<std::string> groups_of(const JointProblem& problem, LeftOut by) {
  std::vector<std::string> out;
  for (const FitRow& row : problem.fit.rows) {
    const Experiment& e = row.experiment;
    switch (by) {
      case LeftOut::model:
        out.push_back(row.table + ": " + row.model_key);
        break;
      case LeftOut::stack:
        out.push_back(e.stack);
        break;
      case LeftOut::gpu:
        out.push_back(e.cluster.gpu.calibration);
        break;
      case LeftOut::fabric:
        out.push_back(e.cluster.nodes > 1 ? e.cluster.fabric.calibration : "");
        break;
    }
  }
  return out;
}

}  // namespace orrery
