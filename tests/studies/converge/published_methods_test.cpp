// Methods against a few lines of their papers: models X, a column per worker, gradients G(X), mixing X W^T.
#include <numbers>

#include "studies/converge/vector_compressor.hpp"
#include "tests/sanitized.hpp"
#include "tests/studies/converge/runs.hpp"
#include "topologies/gossip/gossip.hpp"

namespace orrery::test {
namespace {

/// Holds the state that the lines of a paper's algorithm need of a set-up.
class Lines {
 public:
  explicit Lines(const ConvergenceSetup& setup)
      : setup_(setup), objective_(make_objective(setup.problem, setup.workers, setup.seed)) {
    if (!setup.sync.gossips()) return;
    graph_ =
        build_gossip_graph(setup.sync, {setup.workers, setup.workers_per_node,
                                        static_cast<std::uint32_t>(setup.problem.iterations), setup.seed});
  }
  [[nodiscard]] Matrix start() const {
    Matrix x(objective_->dimension(), setup_.workers);
    x.colwise() = objective_->start();
    return x;
  }
  [[nodiscard]] Matrix gradients(std::int64_t k, const Matrix& x) const {
    Matrix out(x.rows(), x.cols());
    for (Eigen::Index i = 0; i < x.cols(); ++i) out.col(i) = objective_->gradient(i, k, x.col(i));
    return out;
  }
  /// W^T of a round.
  [[nodiscard]] Matrix mixing(std::int64_t k) const {
    const Mixing& round = graph_.rounds[static_cast<std::size_t>(k) % graph_.rounds.size()];
    Matrix out = Matrix::Zero(setup_.workers, setup_.workers);
    for (std::uint32_t to = 0; to < round.workers(); ++to) {
      out(to, to) = round.self[to];
      for (std::size_t edge = 0; edge < round.neighbours(to).size(); ++edge)
        out(round.neighbours(to)[edge], to) = round.weights(to)[edge];
    }
    return out;
  }

 private:
  const ConvergenceSetup& setup_;
  std::unique_ptr<LearningObjective> objective_;
  GossipGraph graph_;
};

double distance(const Matrix& expected, const ConvergenceRun& run) {
  double most = 0;
  for (Eigen::Index i = 0; i < expected.cols(); ++i) {
    for (Eigen::Index d = 0; d < expected.rows(); ++d) {
      const double found = run.models[static_cast<std::size_t>(i)][static_cast<std::size_t>(d)];
      most = std::max(most, std::abs(expected(d, i) - found));
    }
  }
  return most;
}

/// Keeps the `kept` largest of every `chunk` values, as a sign and the nearest of `steps` steps up to the
/// largest.
Vector largest_of_chunks(const Vector& x, Eigen::Index chunk, std::size_t kept, double steps) {
  Vector out = Vector::Zero(x.size());
  for (Eigen::Index begin = 0; begin < x.size(); begin += chunk) {
    std::vector<std::pair<double, Eigen::Index>> sorted;
    for (Eigen::Index i = begin; i < std::min(begin + chunk, x.size()); ++i)
      sorted.emplace_back(-std::abs(x[i]), i);
    std::sort(sorted.begin(), sorted.end());
    const double unit = -sorted.front().first / steps;
    for (std::size_t j = 0; j < std::min(kept, sorted.size()); ++j) {
      const Eigen::Index at = sorted[j].second;
      out[at] = std::copysign(unit * std::max(1.0, std::round(std::abs(x[at]) / unit)), x[at]);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("gradient tracking is x' = W (x - a y), y' = W y + g' - g") {
  const ConvergenceSetup setup = setup_of(SyncMethod::gradient_tracking);  // four rounds in turn
  const Lines lines(setup);
  const double a = setup.problem.learning_rate;
  Matrix x = lines.start();
  Matrix g = lines.gradients(0, x);
  Matrix y = g;
  for (std::int64_t k = 0; k < setup.problem.iterations; ++k) {
    x = (x - a * y) * lines.mixing(k);
    const Matrix next = lines.gradients(k + 1, x);
    y = y * lines.mixing(k) + next - g;
    g = next;
  }
  CHECK(distance(x, converge(setup)) <= 1e-12);
}

TEST_CASE("d2 is x'' = (I + W) / 2 (2 x' - x - a (g' - g))") {
  const ConvergenceSetup setup = setup_of(SyncMethod::d2, "ring");
  const Lines lines(setup);
  const double a = setup.problem.learning_rate;
  const Matrix w = (Matrix::Identity(8, 8) + lines.mixing(0)) / 2;
  Matrix before = lines.start();
  Matrix g = lines.gradients(0, before);
  Matrix x = (before - a * g) * w;
  for (std::int64_t k = 1; k < setup.problem.iterations; ++k) {
    const Matrix now = lines.gradients(k, x);
    const Matrix next = (2 * x - before - a * (now - g)) * w;
    before = x;
    x = next;
    g = now;
  }
  CHECK(distance(x, converge(setup)) <= 1e-11);
}

TEST_CASE("quasi-global momentum follows whole steps") {
  ConvergenceSetup setup = setup_of(SyncMethod::qg_dsgdm);
  setup.problem.momentum = 0.9;
  setup.problem.learning_rate = 0.02;
  const Lines lines(setup);
  Matrix x = lines.start();
  Matrix follows = Matrix::Zero(x.rows(), x.cols());
  for (std::int64_t k = 0; k < setup.problem.iterations; ++k) {
    const Matrix local = 0.9 * follows + lines.gradients(k, x);
    const Matrix next = (x - 0.02 * local) * lines.mixing(k);
    follows = 0.9 * follows + 0.1 * (x - next) / 0.02;
    x = next;
  }
  CHECK(distance(x, converge(setup)) <= 1e-12);
}

TEST_CASE("slow momentum takes what a period of base steps changed") {
  ConvergenceSetup setup = setup_of(SyncMethod::slowmo, "ring");
  setup.sync.period = 6;
  setup.problem.outer_learning_rate = 0.8;
  setup.problem.outer_momentum = 0.6;
  for (const SlowBase base : {SlowBase::gossip, SlowBase::local_sgd}) {
    setup.sync.base = base;
    const Lines lines(setup);
    Matrix x = lines.start();
    Vector first = x.col(0);
    Vector slow = Vector::Zero(x.rows());
    for (std::int64_t k = 0; k < setup.problem.iterations; ++k) {
      x -= 0.1 * lines.gradients(k, x);
      if (base == SlowBase::gossip) x = x * lines.mixing(k);  // that of the last step does not move the mean
      if (k % 6 != 5) continue;
      slow = 0.6 * slow + (first - x.rowwise().mean()) / 0.1;
      first -= 0.8 * 0.1 * slow;
      x.colwise() = first;
    }
    CHECK(distance(x, converge(setup)) <= 1e-12);
  }
}

TEST_CASE("slow momentum of 0 with learning rate 1 is its base with global averages") {
  ConvergenceSetup slow = setup_of(SyncMethod::slowmo, "ring");
  slow.problem.outer_learning_rate = 1;
  slow.problem.outer_momentum = 0;
  ConvergenceSetup base = setup_of(SyncMethod::gossip_pga, "ring");
  CHECK(largest_difference(converge(slow), converge(base)) <= 1e-12);
  slow.sync.base = SlowBase::local_sgd;
  base.sync.method = SyncMethod::local_sgd;
  CHECK(largest_difference(converge(slow), converge(base)) <= 1e-12);
}

TEST_CASE("streaming diloco mixes in the outer model of a fragment, a step after its change was made") {
  ConvergenceSetup setup = setup_of(SyncMethod::diloco);
  setup.sync.period = 7;
  setup.sync.fragments = 2;
  setup.sync.delay = 1;
  setup.sync.mixing = 0.3;
  const Lines lines(setup);
  const LearningProblem& p = setup.problem;
  Matrix x = lines.start();
  Vector outer = x.col(0);
  Vector velocity = Vector::Zero(x.rows());
  Vector change = velocity;
  // Fragments are due after steps 2 and 6 of 0 to 6: floor(7/2) - 1 and 7 - 1; they leave a step before.
  constexpr std::array<std::int64_t, 2> kDue{2, 6};
  for (std::int64_t k = 0; k < p.iterations; ++k) {
    x -= p.learning_rate * lines.gradients(k, x);
    for (Eigen::Index f = 0; f < 2; ++f) {
      const auto due = kDue[static_cast<std::size_t>(f)];
      const Eigen::Index begin = x.rows() * f / 2;
      const Eigen::Index size = x.rows() * (f + 1) / 2 - begin;
      auto delta = change.segment(begin, size);
      auto v = velocity.segment(begin, size);
      auto y = outer.segment(begin, size);
      auto own = x.middleRows(begin, size);
      if (k % 7 == due - 1) delta = y - own.rowwise().mean();
      if (k % 7 != due) continue;
      v = p.outer_momentum * v + delta;
      y -= p.outer_learning_rate * (delta + p.outer_momentum * v);
      own = (0.3 * own).colwise() + 0.7 * y;
    }
  }
  CHECK(distance(x, converge(setup)) <= 1e-12);
}

TEST_CASE("noloco averages changes and models of pairs") {
  ConvergenceSetup setup = setup_of(SyncMethod::noloco, "random-matching");
  setup.sync.period = 5;
  setup.problem.outer_learning_rate = 0.7;
  setup.problem.outer_momentum = 0.5;
  const Lines lines(setup);
  Matrix slow = lines.start();
  Matrix x = slow;
  Matrix m = Matrix::Zero(x.rows(), x.cols());
  for (std::int64_t k = 0; k < setup.problem.iterations; ++k) {
    x -= 0.1 * lines.gradients(k, x);
    if (k % 5 != 4) continue;
    const Matrix pairs = lines.mixing(k / 5);
    m = 0.5 * m + 0.7 * (x - slow) * pairs + 0.7 * (slow * pairs - slow);
    slow += m;
    x = slow;
  }
  CHECK(distance(x, converge(setup)) <= 1e-12);
}

TEST_CASE("noloco with learning rate 1 and no momentum averages models with partners every period") {
  ConvergenceSetup setup = setup_of(SyncMethod::noloco, "random-matching");
  setup.sync.period = 5;
  setup.problem.outer_learning_rate = 1;
  setup.problem.outer_momentum = 0;
  const Lines lines(setup);
  Matrix x = lines.start();
  for (std::int64_t k = 0; k < setup.problem.iterations; ++k) {
    x -= 0.1 * lines.gradients(k, x);
    if (k % 5 == 4) x = x * lines.mixing(k / 5);
  }
  CHECK(distance(x, converge(setup)) <= 1e-12);
}

TEST_CASE("sparse-loco sends the largest changes and feeds the rest back") {
  ConvergenceSetup setup = setup_of(SyncMethod::sparse_loco);
  setup.sync.period = 3;
  setup.sync.compression.method = Compression::Method::top_k;
  setup.sync.compression.chunk = 4;  // of 10 values: 4, 4 and 2, of which 2, 2 and 1 are kept
  setup.sync.compression.fraction = 0.5;
  setup.sync.compression.bits = 2;  // a half or the whole of the largest
  setup.sync.compression.error_decay = 0.95;
  setup.problem.outer_learning_rate = 0.9;
  const Lines lines(setup);
  Matrix x = lines.start();
  Vector y = x.col(0);
  Matrix e = Matrix::Zero(x.rows(), x.cols());
  for (std::int64_t k = 0; k < setup.problem.iterations; ++k) {
    x -= 0.1 * lines.gradients(k, x);
    if (k % 3 != 2) continue;
    Vector sum = Vector::Zero(x.rows());
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      e.col(i) = 0.95 * e.col(i) + y - x.col(i);
      Vector sent = largest_of_chunks(e.col(i), 4, 2, 2);
      sent.tail(2) = largest_of_chunks(e.col(i).tail(2), 2, 1, 2);
      e.col(i) -= sent;
      sum += sent / 8;
    }
    y -= 0.9 * sum;
    x.colwise() = y;
  }
  CHECK(distance(x, converge(setup)) <= 1e-12);
}

TEST_CASE("demo sends the largest frequencies of its momentum and steps by signs") {
  ConvergenceSetup setup = setup_of(SyncMethod::demo);
  setup.problem.dimension = 9;  // a square of 3 x 3
  setup.problem.learning_rate = 0.01;
  setup.sync.compression.method = Compression::Method::dct_top_k;
  setup.sync.compression.bits = 32;
  setup.sync.compression.fraction = 0.3;  // of 9: 3
  setup.sync.compression.error_decay = 0.999;
  const Lines lines(setup);
  Matrix cosines(9, 9);  // of the square, column by column
  const auto basis = [](Eigen::Index k, Eigen::Index i) {
    return std::sqrt((k == 0 ? 1 : 2) / 3.0) *
           std::cos(std::numbers::pi * static_cast<double>((2 * i + 1) * k) / 6);
  };
  for (Eigen::Index f = 0; f < 9; ++f)
    for (Eigen::Index i = 0; i < 9; ++i) cosines(f, i) = basis(f / 3, i / 3) * basis(f % 3, i % 3);
  CHECK((cosines * cosines.transpose() - Matrix::Identity(9, 9)).cwiseAbs().maxCoeff() <= 1e-14);
  Matrix x = lines.start();
  Matrix m = Matrix::Zero(9, 8);
  for (std::int64_t k = 0; k < setup.problem.iterations; ++k) {
    m = 0.999 * m + lines.gradients(k, x);
    Vector sum = Vector::Zero(9);
    for (Eigen::Index i = 0; i < 8; ++i) {
      const Vector q = cosines.transpose() * largest_of_chunks(cosines * m.col(i), 9, 3, 1e15);
      m.col(i) -= q;
      sum += q / 8;
    }
    x.colwise() -= (0.01 * sum.array().sign()).matrix();
  }
  CHECK(distance(x, converge(setup)) <= 1e-9);
}

TEST_CASE("tracking, exact diffusion and what different data cost gossip" * doctest::skip(test::kSanitized)) {
  const auto floor_of = [](SyncMethod method) {
    ConvergenceSetup setup = setup_of(method, "ring");
    setup.workers = 16;
    setup.problem.heterogeneity = 1;
    setup.problem.regularization = 0.1;
    setup.problem.batch = setup.problem.samples_per_worker;  // full gradients: no noise
    setup.problem.iterations = 4000;
    setup.problem.evaluate_every = 0;
    return excess(converge(setup));
  };
  CHECK(floor_of(SyncMethod::gossip) > 1e-6);
  CHECK(std::abs(floor_of(SyncMethod::gradient_tracking)) <= 1e-10);
  CHECK(std::abs(floor_of(SyncMethod::d2)) <= 1e-10);
}

TEST_CASE("methods whose workers differ keep their mean on the way of the mean gradient") {
  // Every mixing here leaves the mean as it is: mean' = mean - a mean(g), whatever the graph.
  for (const SyncMethod method : {SyncMethod::gradient_tracking, SyncMethod::d2}) {
    ConvergenceSetup setup = setup_of(method, "ring");
    setup.problem.iterations = 1;
    const Lines lines(setup);
    const Vector mean = (lines.start() - 0.1 * lines.gradients(0, lines.start())).rowwise().mean();
    const ConvergenceRun run = converge(setup);
    Vector found = Vector::Zero(mean.size());
    for (const std::vector<double>& model : run.models)
      found += Eigen::Map<const Vector>(model.data(), mean.size()) / 8;
    CHECK((found - mean).cwiseAbs().maxCoeff() <= 1e-14);
  }
}

}  // namespace orrery::test
