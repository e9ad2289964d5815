#include "studies/converge/vector_compressor.hpp"
#include "tests/studies/converge/runs.hpp"

namespace orrery::test {
namespace {

using Kind = Compression::Method;

Compression compression_of(Kind method) {
  Compression compression;
  compression.method = method;
  compression.fraction = 0.1;
  compression.bits = 8;
  compression.rank = 2;
  return compression;
}

Vector random_vector(Eigen::Index length, std::int64_t seed) {
  SplitMix64 random = random_stream(seed, 99);
  Vector x(length);
  for (double& value : x) value = normal(random);
  return x;
}

}  // namespace

TEST_CASE("compressors contract") {
  for (const Kind kind :
       {Kind::quantize, Kind::qsgd, Kind::sign, Kind::top_k, Kind::random_k, Kind::low_rank, Kind::fp4}) {
    VectorCompressor compressor(compression_of(kind), 100, false);
    double lost = 0, whole = 0;
    for (std::int64_t seed = 0; seed < 300; ++seed) {
      const Vector x = random_vector(100, seed);
      SplitMix64 random = random_stream(seed, 98);
      lost += (compressor.compress(x, random) - x).squaredNorm();
      whole += x.squaredNorm();
    }
    CAPTURE(static_cast<int>(kind));
    // On average over normal vectors: 1 - k/d of random-k, 1 - 2/pi of sign, and less than the bounds.
    CHECK(lost <= whole);
    if (kind == Kind::random_k) CHECK(lost / whole == doctest::Approx(0.9).epsilon(0.02));
    if (kind == Kind::sign) CHECK(lost / whole == doctest::Approx(1 - 0.6366).epsilon(0.05));
    if (kind == Kind::top_k) CHECK(lost / whole < 0.9);
    if (kind == Kind::quantize) CHECK(lost / whole < 1e-4);
    if (kind == Kind::fp4) CHECK(lost / whole < 1.0 / 9);  // at most a third of each
    if (kind == Kind::qsgd) CHECK(lost / whole < 1 - compressor.contraction());
  }
}

TEST_CASE("qsgd and scaled random-k are right on average") {
  const Vector x = random_vector(20, 1);
  for (const Kind kind : {Kind::qsgd, Kind::random_k}) {
    VectorCompressor compressor(compression_of(kind), 20, true);
    Vector sum = Vector::Zero(20);
    for (std::int64_t draw = 0; draw < 20'000; ++draw) {
      SplitMix64 random = random_stream(draw, 97);
      sum += compressor.compress(x, random);
    }
    CHECK((sum / 20'000 - x).norm() <= 0.05 * x.norm());
  }
}

TEST_CASE("exact cases of the compressors") {
  SplitMix64 random(1);
  Vector x(4);
  x << 3, -1, 0.5, -4;
  Compression top = compression_of(Kind::top_k);
  top.fraction = 0.5;
  CHECK(VectorCompressor(top, 4, false).compress(x, random) == Vector{{3, 0, 0, -4}});
  // ||x||_1 / d = 8.5 / 4.
  CHECK(VectorCompressor(compression_of(Kind::sign), 4, false).compress(x, random) ==
        Vector{{2.125, -2.125, 2.125, -2.125}});
  // A 2 x 2 matrix has rank 2.
  Compression low = compression_of(Kind::low_rank);
  CHECK((VectorCompressor(low, 4, false).compress(x, random) - x).norm() <= 1e-14);
  Compression half = compression_of(Kind::quantize);
  half.bits = 16;
  CHECK(VectorCompressor(half, 2, false).compress(Vector{{1 + 1.0 / 4096, 1e-9}}, random) == Vector{{1, 0}});
  Compression four = compression_of(Kind::quantize);
  four.bits = 4;  // steps of 7 / 7
  CHECK(VectorCompressor(four, 2, false).compress(Vector{{7, 2.4}}, random) == Vector{{7, 2}});
  // E3M0: 0 and +-8, 4, 2, ... 0.125; 5.9 is nearer to 4 than to 8, and below 0.0625 0 is nearest.
  CHECK(VectorCompressor(compression_of(Kind::fp4), 6, false)
            .compress(Vector{{-8, 5.9, 6.1, 0.13, 0.0624, 0.0626}}, random) ==
        Vector{{-8, 4, 8, 0.125, 0, 0.125}});
}

TEST_CASE("error feedback helps top-k") {
  ConvergenceSetup setup = setup_of(SyncMethod::all_reduce);
  setup.problem.iterations = 2000;
  setup.problem.heterogeneity = 1;
  setup.problem.batch = setup.problem.samples_per_worker;
  setup.sync.compression = compression_of(Kind::top_k);
  const double with = excess(converge(setup));
  setup.sync.compression.error_feedback = false;
  const double without = excess(converge(setup));
  CHECK(with <= 0.1 * without);
}

TEST_CASE("every compressor learns, through servers, by gossip and in local steps") {
  for (const Kind kind :
       {Kind::quantize, Kind::qsgd, Kind::sign, Kind::top_k, Kind::random_k, Kind::low_rank, Kind::fp4}) {
    for (const SyncMethod method : {SyncMethod::all_reduce, SyncMethod::parameter_server, SyncMethod::gossip,
                                    SyncMethod::local_sgd, SyncMethod::gossip_pga, SyncMethod::diloco}) {
      // Nesterov's momentum diverges with large errors that are fed back.
      if (method == SyncMethod::diloco && kind != Kind::quantize && kind != Kind::qsgd && kind != Kind::fp4)
        continue;
      CAPTURE(static_cast<int>(kind));
      CAPTURE(static_cast<int>(method));
      ConvergenceSetup setup = setup_of(method, "ring");
      setup.problem.iterations = 400;
      setup.problem.evaluate_every = 400;
      setup.sync.compression = compression_of(kind);
      const ConvergenceRun run = converge(setup);
      CHECK_FALSE(run.diverged);
      CHECK(excess(run) <= 0.4 * (run.points.front().loss - run.least_loss.value()));
    }
  }
}

TEST_CASE("compressed gossip agrees in the end") {
  ConvergenceSetup setup = setup_of(SyncMethod::gossip, "ring");
  setup.problem.learning_rate = 0;
  setup.problem.initial_spread = 1;
  setup.problem.iterations = 3000;
  for (const Kind kind : {Kind::qsgd, Kind::sign, Kind::top_k, Kind::random_k}) {
    CAPTURE(static_cast<int>(kind));
    setup.sync.compression = compression_of(kind);
    const ConvergenceRun run = converge(setup);
    CHECK(run.points.back().consensus_error <= 1e-6 * run.points.front().consensus_error);
    CHECK(run.points.back().loss == doctest::Approx(run.points.front().loss).epsilon(1e-9));
  }
}

}  // namespace orrery::test
