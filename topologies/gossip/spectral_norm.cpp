#include "topologies/gossip/spectral_norm.hpp"

#include <Spectra/SymEigsSolver.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <cmath>
#include <optional>

#include "orrery/error.hpp"
#include "topologies/gossip/analysis.hpp"

namespace orrery {
namespace {

using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// Below it a product is the average, as far as doubles tell.
constexpr double kNothing = 1e-12;
constexpr double kTolerance = 1e-10;
/// Rows of W^T W up to this long are factorised: rings, grids and tori.
constexpr std::int64_t kSparseRow = 16;
/// From the factorised matrix to singular.
constexpr double kShift = 1e-9;

Sparse sparse_of(const Mixing& mixing) {
  const auto n = static_cast<Eigen::Index>(mixing.workers());
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(mixing.from.size() + mixing.self.size());
  for (std::uint32_t worker = 0; worker < mixing.workers(); ++worker) {
    entries.emplace_back(worker, worker, mixing.self[worker]);
    for (std::uint32_t edge = mixing.begin[worker]; edge < mixing.begin[worker + 1]; ++edge) {
      entries.emplace_back(worker, mixing.from[edge], mixing.weight[edge]);
    }
  }
  Sparse matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

std::vector<Sparse> sparse_rounds(const GossipGraph& graph) {
  std::vector<Sparse> rounds;
  for (const Mixing& round : graph.rounds) rounds.push_back(sparse_of(round));
  return rounds;
}

void take_off_mean(Vector& x) { x.array() -= x.mean(); }

/// Represents a symmetric matrix by its products with vectors. One type for all, so that the eigenvalue
/// solver, a large template, is compiled once.
class SymmetricOperator {
 public:
  using Scalar = double;
  SymmetricOperator() = default;
  SymmetricOperator(const SymmetricOperator&) = delete;
  SymmetricOperator& operator=(const SymmetricOperator&) = delete;
  virtual ~SymmetricOperator() = default;
  [[nodiscard]] virtual Eigen::Index rows() const = 0;
  [[nodiscard]] Eigen::Index cols() const { return rows(); }
  virtual void perform_op(const double* in, double* out) const = 0;
};

/// x -> D^T D x with D = W_{r-1} ... W_0 - 11^T/n, whose largest eigenvalue is ||D||^2.
class Squared final : public SymmetricOperator {
 public:
  explicit Squared(const std::vector<Sparse>& rounds) : rounds_(rounds) {}
  [[nodiscard]] Eigen::Index rows() const override { return rounds_.front().rows(); }
  void perform_op(const double* in, double* out) const override {
    const Vector x = Eigen::Map<const Vector>(in, rows());
    Vector y = x;
    for (const Sparse& round : rounds_) y = round * y;
    y.array() -= x.mean();
    const double mean = y.mean();
    for (auto round = rounds_.rbegin(); round != rounds_.rend(); ++round) y = round->transpose() * y;
    y.array() -= mean;
    Eigen::Map<Vector>(out, rows()) = y;
  }

 private:
  const std::vector<Sparse>& rounds_;
};

/// x -> P ((1 + shift) I - W^T W)^{-1} P x with P = I - 11^T/n. Its largest eigenvalue belongs to the
/// second largest of W^T W where W is doubly stochastic.
class Inverted final : public SymmetricOperator {
 public:
  explicit Inverted(const Sparse& square) : rows_(square.rows()) {
    Eigen::SparseMatrix<double> shifted = -square;
    for (Eigen::Index i = 0; i < rows_; ++i) shifted.coeffRef(i, i) += 1 + kShift;
    solver_.compute(shifted);
  }
  [[nodiscard]] bool ready() const { return solver_.info() == Eigen::Success; }
  [[nodiscard]] Eigen::Index rows() const { return rows_; }
  [[nodiscard]] Eigen::Index cols() const { return rows_; }
  void perform_op(const double* in, double* out) const {
    Vector x = Eigen::Map<const Vector>(in, rows_);
    take_off_mean(x);
    x = solver_.solve(x);
    take_off_mean(x);
    Eigen::Map<Vector>(out, rows_) = x;
  }

 private:
  Eigen::Index rows_;
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver_;
};

std::optional<double> largest_eigenvalue(SymmetricOperator& op, int restarts) {
  const Eigen::Index width = std::min<Eigen::Index>(24, op.rows());
  Spectra::SymEigsSolver<SymmetricOperator> solver(op, 1, width);
  solver.init();
  solver.compute(Spectra::SortRule::LargestAlge, restarts, kTolerance);
  if (solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
  return solver.eigenvalues()[0];
}

bool is_nothing(const Squared& op) {
  Vector x(op.rows()), y(op.rows());
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i * i + 1));
  op.perform_op(x.data(), y.data());
  return y.norm() <= kNothing * x.norm();
}

/// Entries of W^T W at most, one row with another.
std::int64_t square_row(const Mixing& mixing) {
  std::int64_t products = 0;
  for (std::uint32_t worker = 0; worker < mixing.workers(); ++worker) {
    const auto row = static_cast<std::int64_t>(mixing.neighbours(worker).size()) + 1;
    products += row * row;
  }
  return products / mixing.workers();
}

std::optional<double> by_inverse(const Sparse& round) {
  const Sparse square = round.transpose() * round;
  Inverted op(square);
  if (!op.ready()) return std::nullopt;
  const auto theta = largest_eigenvalue(op, 100);
  if (!theta) return std::nullopt;
  return std::sqrt(std::max(0.0, 1 + kShift - 1 / *theta));
}

}  // namespace

double dense_distance_to_average(const GossipGraph& graph) {
  const auto n = static_cast<Eigen::Index>(graph.workers());
  Eigen::MatrixXd product = Eigen::MatrixXd::Identity(n, n);
  for (const Sparse& round : sparse_rounds(graph)) product = round * product;
  product.array() -= 1.0 / static_cast<double>(n);
  if (product.norm() <= kNothing) return 0;
  const Eigen::MatrixXd square = product.transpose() * product;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(square, Eigen::EigenvaluesOnly);
  return std::sqrt(std::max(0.0, solver.eigenvalues()[n - 1]));
}

double iterative_distance_to_average(const GossipGraph& graph) {
  const std::vector<Sparse> rounds = sparse_rounds(graph);
  Squared op(rounds);
  if (is_nothing(op)) return 0;
  const bool sparse = rounds.size() == 1 && square_row(graph.rounds.front()) <= kSparseRow;
  if (sparse && is_doubly_stochastic(graph.rounds.front())) {
    if (const auto distance = by_inverse(rounds.front())) return *distance;
  }
  if (const auto square = largest_eigenvalue(op, 2000)) return std::sqrt(std::max(0.0, *square));
  throw RunError("the spectral gap of \"" + graph.topology + "\" over " + std::to_string(graph.workers()) +
                 " workers does not converge");
}

}  // namespace orrery
