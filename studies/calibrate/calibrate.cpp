#include "studies/calibrate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

#include "studies/calibrate/identifiability.hpp"
#include "studies/calibrate/optimizer.hpp"
#include "studies/calibrate/row_predictor.hpp"
#include "studies/calibrate/short_value.hpp"

namespace orrery {
namespace {

constexpr double kFirstStep = 0.1;  ///< of the way between the bounds
constexpr double kFoldStep = 0.03;  ///< a fold starts from the fit to all rows
constexpr int kEvaluationsPerConstant = 40;
constexpr double kDifference = 0.02;     ///< for derivatives, of a constant's scale
constexpr double kTenth = 0.1;           ///< the change whose effect is reported
constexpr double kLeastEffect = 0.0005;  ///< of a change by a tenth
constexpr double kMostError = 0.5;       ///< of an identifiable constant
constexpr double kSameLoss = 0.01;
constexpr double kNoLoss = 1e-6;

using ConstantValues = std::vector<double>;
using Rows = std::vector<std::size_t>;

/// Files give constants with as many digits as mean anything.
double rounded(const FitVariable& variable, double value) {
  return std::clamp(short_value(value, 5), variable.bounds.low, variable.bounds.high);
}

/// Uniform below `bound`; the standard's distributions differ between libraries.
std::uint64_t draw(std::mt19937_64& random, std::uint64_t bound) { return random() % bound; }

class Fitter {
 public:
  Fitter(const FitProblem& problem, const FitOptions& options, const FitProgress& progress)
      : predictor_(problem, options.threads), progress_(progress) {
    fit_.problem = problem;
    fit_.options = options;
    const auto rows = static_cast<unsigned>(problem.rows.size());
    fit_.options.folds = options.folds < 2 || rows < 3 ? 0 : std::min(options.folds, rows);
    const int constants = static_cast<int>(problem.variables.size());
    if (fit_.options.evaluations <= 0) fit_.options.evaluations = kEvaluationsPerConstant * (constants + 1);
    all_.resize(problem.rows.size());
    std::iota(all_.begin(), all_.end(), std::size_t{0});
  }

  Fit run() {
    predict_base();
    fit_all();
    determine();
    const auto ratios = predictor_.ratios(all_, values_);
    for (std::size_t i = 0; i < all_.size(); ++i) fit_.rows[i].fitted = ratios[i];
    fit_.loss = predictor_.loss(all_, values_);
    if (fit_.options.folds > 0) cross_validate();
    return std::move(fit_);
  }

 private:
  void predict_base() {
    ConstantValues base;
    for (const FitVariable& v : variables()) base.push_back(v.base_value);
    for (const double ratio : predictor_.ratios(all_, base))
      fit_.rows.push_back({ratio, ratio, std::nullopt});
    fit_.base_loss = predictor_.loss(all_, base);
    values_ = base;
  }

  /// The best of all starts; the base's values stay if nothing is better.
  void fit_all() {
    std::mt19937_64 random(fit_.options.seed);
    double best = fit_.base_loss;
    for (unsigned start = 0; start < std::max(1U, fit_.options.starts); ++start) {
      ConstantValues places;
      for (const FitVariable& v : variables()) {
        places.push_back(start == 0 ? v.place_of(v.base_value) : std::ldexp(double(random() >> 11U), -53));
      }
      const std::string phase = fit_.options.starts > 1 ? fmt::format("start {}", start + 1) : "fit";
      const Minimum minimum = search(all_, places, kFirstStep, fit_.options.evaluations, phase);
      fit_.evaluations += minimum.evaluations;
      if (minimum.value >= best) continue;
      best = minimum.value;
      values_ = values_at(minimum.at);
    }
    for (std::size_t j = 0; j < values_.size(); ++j) {
      if (values_[j] != variables()[j].base_value) values_[j] = rounded(variables()[j], values_[j]);
    }
  }

  Minimum search(const Rows& rows, const ConstantValues& start, double step, int evaluations,
                 const std::string& phase) {
    int done = 0;
    double best = 0;
    const FitObjective objective = [&](std::span<const double> places) {
      const double loss = predictor_.loss(rows, values_at(places));
      best = done == 0 ? loss : std::min(best, loss);
      if (progress_) progress_(phase, done + 1, best);
      ++done;
      return loss;
    };
    return minimize(objective, start, step, evaluations);
  }

  [[nodiscard]] ConstantValues values_at(std::span<const double> places) const {
    ConstantValues out;
    for (std::size_t j = 0; j < places.size(); ++j) out.push_back(variables()[j].value_at(places[j]));
    return out;
  }

  /// Derivatives of the logarithms of all ratios by the constants in their scales, by central differences.
  [[nodiscard]] Sensitivity sensitivity() {
    Sensitivity out(all_.size(), ConstantValues(values_.size()));
    for (std::size_t j = 0; j < values_.size(); ++j) {
      const FitVariable& v = variables()[j];
      const double scale = v.scale(values_[j]);
      ConstantValues below = values_, above = values_;
      below[j] = std::max(v.constant.minimum, values_[j] - kDifference * scale);
      above[j] = std::min(v.constant.maximum, values_[j] + kDifference * scale);
      const ConstantValues low = predictor_.ratios(all_, below);
      const ConstantValues high = predictor_.ratios(all_, above);
      for (std::size_t i = 0; i < all_.size(); ++i)
        out[i][j] = std::log(high[i] / low[i]) * scale / (above[j] - below[j]);
    }
    return out;
  }

  void determine() {
    ConstantValues residuals, weights;
    for (const double ratio : predictor_.ratios(all_, values_)) {
      residuals.push_back(std::log(ratio));
      weights.push_back(robust_weight(residuals.back()));
    }
    Sensitivity by_row = sensitivity();
    const ConstantValues effects = take_effects(by_row);
    const Determination found = determination(by_row, residuals, weights);
    fit_.singular_values = found.singular_values;
    fit_.leaning = leaning(by_row, weights);
    for (std::size_t j = 0; j < values_.size(); ++j) {
      const double effect = effects[j];
      if (effect < kLeastEffect) keep_base(j);
      fit_.constants.push_back({variables()[j], values_[j], found.standard_errors[j], effect,
                                effect >= kLeastEffect && found.standard_errors[j] <= kMostError});
    }
  }

  /// Returns the largest effect of a tenth of each constant. A constant without effect is not fitted, so it
  /// must not make others uncertain: its derivatives become 0.
  static ConstantValues take_effects(Sensitivity& by_row) {
    ConstantValues effects(by_row.front().size(), 0);
    for (std::size_t j = 0; j < effects.size(); ++j) {
      for (const ConstantValues& row : by_row) effects[j] = std::max(effects[j], kTenth * std::abs(row[j]));
      if (effects[j] >= kLeastEffect) continue;
      for (ConstantValues& row : by_row) row[j] = 0;
    }
    return effects;
  }

  /// Sets a constant without effect back to the base's value, unless that changes the loss.
  void keep_base(std::size_t j) {
    ConstantValues other = values_;
    other[j] = variables()[j].base_value;
    const double loss = predictor_.loss(all_, values_);
    if (predictor_.loss(all_, other) <= loss * (1 + kSameLoss) + kNoLoss) values_ = std::move(other);
  }

  /// Every row is predicted by a fit to the folds it is not in.
  void cross_validate() {
    const unsigned folds = fit_.options.folds;
    Rows order = all_;
    std::mt19937_64 random(fit_.options.seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw(random, i)]);
    ConstantValues start;
    for (std::size_t j = 0; j < values_.size(); ++j) start.push_back(variables()[j].place_of(values_[j]));
    for (unsigned fold = 0; fold < folds; ++fold) {
      Rows seen, held_out;
      for (std::size_t i = 0; i < order.size(); ++i)
        (i % folds == fold ? held_out : seen).push_back(order[i]);
      const int evaluations = std::max(1, fit_.options.evaluations / 4);
      const Minimum minimum =
          search(seen, start, kFoldStep, evaluations, fmt::format("fold {} of {}", fold + 1, folds));
      const auto ratios = predictor_.ratios(held_out, values_at(minimum.at));
      for (std::size_t i = 0; i < held_out.size(); ++i) fit_.rows[held_out[i]].held_out = ratios[i];
    }
  }

  [[nodiscard]] const std::vector<FitVariable>& variables() const { return fit_.problem.variables; }

  Fit fit_;
  RowPredictor predictor_;
  const FitProgress& progress_;
  Rows all_;
  ConstantValues values_;
};

}  // namespace

Fit calibrate(const FitProblem& problem, const FitOptions& options, const FitProgress& progress) {
  return Fitter(problem, options, progress).run();
}

}  // namespace orrery
