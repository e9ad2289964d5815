#include "studies/converge/rates.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace orrery {
namespace {

DataParallelSync with(SyncMethod method, std::int64_t period = 6) {
  DataParallelSync sync;
  sync.method = method;
  sync.period = period;
  return sync;
}

RateSetting workers(double n, double gap = 1, double b = 0) {
  RateSetting setting;
  setting.workers = n;
  setting.gap = gap;
  setting.heterogeneity = b;
  return setting;
}

TEST_CASE("parallel SGD: sigma/sqrt(nT) + 1/T, and linear speed-up from the start") {
  const Rate rate = *rate_of(with(SyncMethod::all_reduce), workers(16));
  CHECK(rate.statistical == 0.25);  // 1 / sqrt(16)
  CHECK(rate.slow == 0);
  CHECK(rate.fast == 0);
  CHECK(rate.error_after(100) == doctest::Approx(0.25 / 10 + 1.0 / 100));
  CHECK(rate.transient_iterations() == 0);
  CHECK(rate.has_linear_speed_up(0.5));
  // 0.25/sqrt(T) + 1/T <= 0.01: with s = 1/sqrt(T), s^2 + s/4 = 1/100, s = (-1/4 + sqrt(1/16 + 1/25)) / 2 =
  // 0.0350781, T = 812.69.
  CHECK(rate.iterations(0.01) == 813);
  CHECK(rate.error_after(813) <= 0.01);
  CHECK(rate.error_after(812) > 0.01);
  // Where noise dominates, sigma^2 / (n epsilon^2): 16 times the workers, a sixteenth of the steps.
  const double ratio =
      rate.iterations(1e-6) / rate_of(with(SyncMethod::all_reduce), workers(256))->iterations(1e-6);
  CHECK(ratio == doctest::Approx(16).epsilon(1e-3));
}

TEST_CASE("transient iterations of gossip: n^3 beta^4 / (1-beta)^2 iid, n^3 beta^4 / (1-beta)^4 not") {
  for (const double n : {8.0, 32.0, 1024.0}) {
    for (const double gap : {0.5, 0.1, 0.001}) {
      const double beta4 = std::pow(1 - gap, 4);
      const Rate iid = *rate_of(with(SyncMethod::gossip), workers(n, gap));
      // The 1/T term crosses at n beta^2 D^2, never later: n^2 beta^2 >= 1 here.
      CHECK(iid.transient_iterations() == doctest::Approx(n * n * n * beta4 / std::pow(gap, 2)));
      Rate apart = *rate_of(with(SyncMethod::gossip), workers(n, gap, 1));
      // The slow term has two parts; this is the one of heterogeneity: D^(1/3) b^(2/3) of sigma^(2/3) +
      // D^(1/3) b^(2/3).
      const double drift = std::cbrt(1 / gap);
      apart.slow *= drift / (1 + drift);
      CHECK(apart.transient_iterations() == doctest::Approx(n * n * n * beta4 / std::pow(gap, 4)));
    }
  }
}

TEST_CASE("transient iterations of Gossip-PGA: n^3 beta^4 C^2 iid, n^3 beta^4 C^2 D^2 not") {
  const double n = 64;
  const double gap = 0.1;
  for (const double period : {2.0, 6.0, 48.0}) {
    const double beta = 1 - gap;
    const double c = (1 - std::pow(beta, period)) / gap;
    const double d = std::min(period, 1 / gap);
    const double base = n * n * n * std::pow(beta, 4) * c * c;
    const auto method = with(SyncMethod::gossip_pga, static_cast<std::int64_t>(period));
    CHECK(rate_of(method, workers(n, gap))->transient_iterations() == doctest::Approx(base));
    Rate apart = *rate_of(method, workers(n, gap, 1));
    apart.slow *= std::cbrt(d) / (1 + std::cbrt(d));
    CHECK(apart.transient_iterations() == doctest::Approx(base * d * d));
  }
}

TEST_CASE("local SGD: n^3 H^2 iid, n^3 H^4 not") {
  const double n = 32;
  const double h = 8;
  CHECK(rate_of(with(SyncMethod::local_sgd, 8), workers(n))->transient_iterations() ==
        doctest::Approx(n * n * n * h * h));  // C = H, beta = 1
  Rate apart = *rate_of(with(SyncMethod::local_sgd, 8), workers(n, 1, 1));
  apart.slow *= 2.0 / 3;  // D^(1/3) = 2 of 1 + 2
  CHECK(apart.transient_iterations() == doctest::Approx(n * n * n * std::pow(h, 4)));
  CHECK(rate_of(with(SyncMethod::diloco, 8), workers(n))->slow ==
        rate_of(with(SyncMethod::local_sgd, 8), workers(n))->slow);
}

TEST_CASE("methods meet at their limits") {
  const auto setting = workers(16, 0.2, 0.7);
  const Rate gossip = *rate_of(with(SyncMethod::gossip), setting);
  const Rate rare = *rate_of(with(SyncMethod::gossip_pga, 1'000'000), setting);
  CHECK(rare.slow == doctest::Approx(gossip.slow));  // a global average that never comes
  CHECK(rare.fast == doctest::Approx(gossip.fast));
  const Rate still = *rate_of(with(SyncMethod::gossip_pga, 9), workers(16, 1e-12, 0.7));
  const Rate local = *rate_of(with(SyncMethod::local_sgd, 9), workers(16, 1, 0.7));
  CHECK(still.slow == doctest::Approx(local.slow));  // gossip that hardly mixes
  const Rate sgd = *rate_of(with(SyncMethod::all_reduce), setting);
  for (const SyncMethod method :
       {SyncMethod::local_sgd, SyncMethod::gossip_pga, SyncMethod::parameter_server}) {
    CHECK(rate_of(with(method, 1), setting)->error_after(50) == sgd.error_after(50));
  }
  CHECK(rate_of(with(SyncMethod::gossip), workers(16, 1, 0.7))->error_after(50) ==
        sgd.error_after(50));  // complete graph
  CHECK(rate_of(with(SyncMethod::none), workers(1))->error_after(50) ==
        doctest::Approx(1 / std::sqrt(50.0) + 0.02));
  // Gossip, iid: the last two terms are 1/((1-beta) T) together (Yuan et al.).
  CHECK(1 + gossip.fast == doctest::Approx(1 / 0.2));
}

TEST_CASE("a longer period, a smaller gap and heterogeneous data never need fewer steps") {
  double before = 0;
  for (const std::int64_t period : {1, 2, 4, 16, 64}) {
    const double steps =
        rate_of(with(SyncMethod::gossip_pga, period), workers(64, 0.01, 0.3))->iterations(1e-3);
    CHECK(steps >= before);
    before = steps;
  }
  before = 0;
  for (const double gap : {1.0, 0.5, 0.1, 0.01, 1e-4}) {
    const double steps = rate_of(with(SyncMethod::gossip), workers(64, gap, 0.3))->iterations(1e-3);
    CHECK(steps >= before);
    CHECK(steps >= rate_of(with(SyncMethod::gossip), workers(64, gap, 0))->iterations(1e-3));
    before = steps;
  }
}

TEST_CASE("methods that correct for different data have rates without them") {
  const double gap = 0.1;
  for (const SyncMethod method : {SyncMethod::gradient_tracking, SyncMethod::d2}) {
    const Rate alike = *rate_of(with(method), workers(16, gap));
    const Rate apart = *rate_of(with(method), workers(16, gap, 5));
    CHECK(alike.iterations(1e-3) == apart.iterations(1e-3));
  }
  // p = 1 - 0.9^2 = 0.19: (1 / (sqrt 0.19 + sqrt (0.19 16)))^(2/3) and 1 / 0.19.
  const Rate tracking = *rate_of(with(SyncMethod::gradient_tracking), workers(16, gap));
  CHECK(tracking.slow == doctest::Approx(std::pow(1 / (5 * std::sqrt(0.19)), 2.0 / 3)));
  CHECK(tracking.fast == doctest::Approx(1 / 0.19));
  // (I + W) / 2 has half the gap.
  CHECK(rate_of(with(SyncMethod::d2), workers(16, gap))->error_after(99) ==
        rate_of(with(SyncMethod::gossip), workers(16, gap / 2))->error_after(99));
  CHECK(rate_of(with(SyncMethod::qg_dsgdm), workers(16, gap, 1))->error_after(99) ==
        rate_of(with(SyncMethod::gossip), workers(16, gap, 1))->error_after(99));
  DataParallelSync slow = with(SyncMethod::slowmo, 8);
  CHECK(rate_of(slow, workers(16, gap, 1))->error_after(99) ==
        rate_of(with(SyncMethod::gossip_pga, 8), workers(16, gap, 1))->error_after(99));
  slow.base = SlowBase::local_sgd;
  CHECK(rate_of(slow, workers(16, gap, 1))->error_after(99) ==
        rate_of(with(SyncMethod::local_sgd, 8), workers(16, gap, 1))->error_after(99));
}

TEST_CASE("no guarantee is no rate") {
  for (const SyncMethod method : {SyncMethod::noloco, SyncMethod::sparse_loco, SyncMethod::demo}) {
    CHECK_FALSE(rate_of(with(method), workers(4)));
    CHECK_FALSE(reason_for_no_rate(method).empty());
  }
  CHECK_FALSE(rate_of(with(SyncMethod::none), workers(2)));
  CHECK_FALSE(rate_of(with(SyncMethod::gossip), workers(2, 0)));
  RateSetting unknown = workers(4);
  unknown.gap.reset();
  CHECK_FALSE(rate_of(with(SyncMethod::gossip), unknown));
  CHECK(rate_of(with(SyncMethod::local_sgd), unknown));
  DataParallelSync biased = with(SyncMethod::all_reduce);
  biased.compression.method = Compression::Method::top_k;
  CHECK(rate_of(biased, workers(4)));
  biased.compression.error_feedback = false;
  CHECK_FALSE(rate_of(biased, workers(4)));
  CHECK(std::isinf(rate_of(with(SyncMethod::all_reduce), workers(4))->iterations(0)));
}

TEST_CASE("constants of compressors") {
  Compression c;
  CHECK(compressor_constants(c, 1).omega == 0);
  c.method = Compression::Method::qsgd;
  c.levels = 16;
  c.bucket = 64;  // min(64 / 256, 8 / 16)
  CHECK(compressor_constants(c, 1).omega == 0.25);
  c.levels = 1;  // min(64, 8)
  CHECK(compressor_constants(c, 1).omega == 8);
  c.method = Compression::Method::quantize;
  c.bits = 8;  // 64 / (4 * 127^2)
  CHECK(compressor_constants(c, 1).omega == doctest::Approx(64.0 / 64516));
  c.method = Compression::Method::fp4;  // 1/8 + 64 (2^-6)^2 / 4
  CHECK(compressor_constants(c, 1).omega == 0.125 + 64.0 / 16384);
  c.method = Compression::Method::top_k;
  c.fraction = 0.05;
  CHECK(compressor_constants(c, 1).delta == 0.05);
  c.method = Compression::Method::random_k;
  CHECK(compressor_constants(c, 1).delta == 0.05);
  c.error_feedback = false;  // d/k - 1
  CHECK(compressor_constants(c, 1).unbiased);
  CHECK(compressor_constants(c, 1).omega == doctest::Approx(19));
  c.method = Compression::Method::sign;
  CHECK(compressor_constants(c, 1).delta == doctest::Approx(2 / std::numbers::pi));
  c.method = Compression::Method::low_rank;
  c.rank = 4;
  CHECK(compressor_constants(c, 1024).delta == 4.0 / 1024);
  CHECK(compressor_constants(c, 2).delta == 1);
}

TEST_CASE("compression: noise by 1 + omega, or (sigma / delta)^(2/3) / T^(2/3)") {
  DataParallelSync sync = with(SyncMethod::all_reduce);
  sync.compression.method = Compression::Method::qsgd;
  sync.compression.levels = 1;
  sync.compression.bucket = 9;  // omega = 3
  const Rate unbiased = *rate_of(sync, workers(16));
  CHECK(unbiased.statistical == doctest::Approx(0.5));  // sqrt((1 + 3) / 16)
  CHECK(unbiased.fast == doctest::Approx(3.0 / 16));
  const Rate apart = *rate_of(sync, workers(16, 1, 2));  // (4 * 1 + 3 * 4) / 16
  CHECK(apart.statistical == doctest::Approx(1));
  sync.method = SyncMethod::parameter_server;  // twice: 4^2 = 16
  CHECK(rate_of(sync, workers(16))->statistical == doctest::Approx(1));
  sync.method = SyncMethod::all_reduce;
  sync.compression.method = Compression::Method::top_k;
  sync.compression.fraction = 0.125;
  const Rate contractive = *rate_of(sync, workers(16));
  CHECK(contractive.statistical == 0.25);
  CHECK(contractive.slow == doctest::Approx(4));  // (1 / 0.125)^(2/3)
  CHECK(contractive.fast == doctest::Approx(8));
  // The statistical term takes over at n^3 / delta^4.
  CHECK(contractive.transient_iterations() == doctest::Approx(4096.0 * 4096));
  sync.method = SyncMethod::gossip;  // gap^2 delta = 1/8 of 1/4
  CHECK(rate_of(sync, workers(16, 0.5))->fast == doctest::Approx(31));
}

TEST_CASE("one-peer graphs take the order of the static exponential graph") {
  // n = 2^tau: the static graph's gap is 2 / (2 + floor(log2(n - 1))) = 2 / (1 + tau).
  for (const double tau : {1.0, 3.0, 5.0, 14.0}) {
    const double static_gap = 2 / (2 + std::floor(std::log2(std::exp2(tau) - 1)));
    CHECK(gap_of_exact_period(tau) == doctest::Approx(static_gap));
  }
}

}  // namespace
}  // namespace orrery
