// Sources, where [P] is in the paper and [R] is recalled from it and not read again:
// - Parallel SGD: sigma/sqrt(nT) + 1/T; decentralised SGD, iid: sigma/sqrt(nT) + beta^(2/3) sigma^(2/3) /
//   (T^(2/3) (1-beta)^(1/3)) + 1/((1-beta) T) [P: Yuan et al., "Faster learning over networks and BlueFog"].
// - Gossip-PGA (Chen et al. 2021, "Accelerating gossip SGD with periodic global averaging", theorem for
// non-convex
//   problems) [R], with C = sum of beta^k over a period, D = min(H, 1/(1-beta)):
//     sigma/sqrt(nT) + C^(1/3) beta^(2/3) (sigma^(2/3) + D^(1/3) b^(2/3)) / T^(2/3) + beta D / T.
//   Gossip is its limit H = infinity, where C = D = 1/(1-beta) and beta D + 1 = 1/(1-beta) as above; local
//   SGD its limit beta = 1, where C = D = H. With H = 1 the theorem is not tight: every step averages
//   globally, so parallel SGD's rate is taken.
// - Unbiased compression: noise grows by 1 + omega (QSGD, Alistarh et al. 2017) [P]; with heterogeneous data
// omega b^2
//   is added, since each worker's own gradient is compressed, and omega/n to the 1/T term [R].
// - Contractive compression with error feedback: (G/delta)^(2/3) / T^(2/3) + 1/(delta T), G^2 = sigma^2 + b^2
// (MEM-SGD:
//   Stich, Cordonnier and Jaggi 2018; Huang et al. 2022, table of rates) [R]; with H local steps G H
//   (Qsparse-local-SGD, Basu et al. 2019) [R].
// - Compressed gossip: the gap becomes gap^2 delta (CHOCO-SGD, Koloskova, Stich and Jaggi 2019, theorem 2,
// without its
//   constant of 82); unbiased compressors are scaled to delta = 1 / (1 + omega) [R].
// - Gradient tracking: (sigma / (sqrt(p) + sqrt(p n)))^(2/3) / T^(2/3) + 1/(p T), p = 1 - beta^2, without
//   a term of heterogeneity (Koloskova, Lin and Stich 2021, theorem for non-convex problems, whose c, 1 less
//   the square of W's most negative eigenvalue, is taken as 1) [R].
// - D2, exact diffusion: that of gossip with (I + W) / 2, whose gap is half, without heterogeneity (Alghunaim
// and
//   Yuan 2022) [R]. Quasi-global momentum: of gossip's order (Lin et al. 2021) [R]. SlowMo: that of its base
//   with global averages (Wang et al. 2020) [R].
#include "studies/converge/rates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace orrery {
namespace {

/// Averaging seen from a worker: the spread between global averages.
struct Mixture {
  double beta = 0;  ///< share of the distance to the average that a step leaves
  double c = 1;     ///< C: steps whose noise a worker remembers
  double d = 1;     ///< D: steps until a deviation is gone
};

Mixture gossip(double gap) { return {1 - gap, 1 / gap, 1 / gap}; }

Mixture local(double period) { return {1, period, period}; }

Mixture gossip_with_period(double gap, double period) {
  // 1 - beta^H by its logarithm: beta may be within 1e-16 of 1.
  const double forgotten = gap < 1 ? -std::expm1(period * std::log1p(-gap)) : 1;
  return {1 - gap, forgotten / gap, std::min(period, 1 / gap)};
}

Rate rate_with(const Mixture& mixture, const RateSetting& setting) {
  const double spread = std::cbrt(mixture.c * mixture.beta * mixture.beta);
  const double noise = std::pow(setting.noise, 2.0 / 3);
  const double drift = std::cbrt(mixture.d * setting.heterogeneity * setting.heterogeneity);
  return {setting.noise / std::sqrt(setting.workers), spread * (noise + drift), mixture.beta * mixture.d};
}

/// Adds the compression of a mean over all workers; `period` steps are in it.
void add_compression(const CompressorConstants& constants, double passes, double period,
                     const RateSetting& setting, Rate& rate) {
  const double noise2 = setting.noise * setting.noise;
  const double apart2 = setting.heterogeneity * setting.heterogeneity;
  if (constants.unbiased) {
    const double omega = std::pow(1 + constants.omega, passes) - 1;
    rate.statistical = std::sqrt(((1 + omega) * noise2 + omega * apart2) / setting.workers);
    rate.fast += omega / setting.workers;
  } else {
    const double memory = passes * period / constants.delta;
    rate.slow += std::pow(memory * std::sqrt(noise2 + apart2), 2.0 / 3);
    rate.fast += memory;
  }
}

bool compresses(const Compression& compression) { return compression.method != Compression::Method::none; }

/// Returns true if the compressor is biased without error feedback to make up for it.
bool diverges(const Compression& compression, const CompressorConstants& constants) {
  return compresses(compression) && !constants.unbiased && !compression.error_feedback;
}

double compressed_gap(double gap, const Compression& compression, const CompressorConstants& constants) {
  if (!compresses(compression)) return gap;
  return gap * gap * (constants.unbiased ? 1 / (1 + constants.omega) : constants.delta);
}

Rate gradient_tracking_rate(double gap, const RateSetting& setting) {
  const double p = gap * (2 - gap);
  const double spread = setting.noise / (std::sqrt(p) + std::sqrt(p * setting.workers));
  return {setting.noise / std::sqrt(setting.workers), std::pow(spread, 2.0 / 3), 1 / p};
}

/// Returns the rate of a method that averages models with neighbours. `gap` is above 0.
Rate neighbours_rate(const DataParallelSync& sync, double gap, double period, RateSetting setting) {
  if (sync.method == SyncMethod::gradient_tracking) return gradient_tracking_rate(gap, setting);
  if (sync.method == SyncMethod::d2) {
    setting.heterogeneity = 0;
    gap /= 2;
  }
  return rate_with(std::isinf(period) ? gossip(gap) : gossip_with_period(gap, period), setting);
}

/// Steps between global averages; infinite for pure gossip.
double period_of(const DataParallelSync& sync) {
  switch (sync.method) {
    case SyncMethod::local_sgd:
    case SyncMethod::gossip_pga:
    case SyncMethod::diloco:
    case SyncMethod::slowmo:
      return static_cast<double>(sync.period);
    case SyncMethod::gossip_aga:  // its period grows to this one, so this bounds it
      return static_cast<double>(sync.final_period);
    case SyncMethod::gossip:
    case SyncMethod::push_sum:
    case SyncMethod::gradient_tracking:
    case SyncMethod::d2:
    case SyncMethod::qg_dsgdm:
      return std::numeric_limits<double>::infinity();
    default:
      return 1;
  }
}

/// Time at which first / sqrt(T) = second / T^power.
double crossing(double first, double second, double power) {
  if (second <= 0) return 0;
  return std::pow(second / first, 1 / (power - 0.5));
}

/// Root mean square of the values that share a scale: QSGD's bound with `values` of them and s levels.
double quantization_omega(double values, double levels) {
  return std::min(values / (levels * levels), std::sqrt(values) / levels);
}

/// Stochastic rounding between 2^(bits-1) - 1 steps of the largest of `values`: each value errs by at most a
/// quarter of a step squared, and the largest is at most the norm.
double rounding_omega(double bits, double values) {
  if (bits >= 16) return 0;  // rounded to 11 digits or 8: under 1e-5
  const double steps = std::exp2(bits - 1) - 1;
  return values / (4 * steps * steps);
}

/// Stochastic rounding between powers of two: (x - a) (2 a - x) is at most x^2 / 8 (Horvath et al. 2022,
/// natural compression); between 0 and the least, 2^-6 of the largest of `values`, at most a quarter of that
/// squared.
double exponent_omega(double values) { return 0.125 + values * std::exp2(-12) / 4; }

}  // namespace

double Rate::error_after(double iterations) const {
  return statistical / std::sqrt(iterations) + slow / std::pow(iterations, 2.0 / 3) + (1 + fast) / iterations;
}

double Rate::iterations(double target) const {
  constexpr double kMost = 1e300;
  double low = 0.5;
  double high = 1;
  while (error_after(high) > target && high < kMost) {
    low = high;
    high *= 2;
  }
  if (high >= kMost) return std::numeric_limits<double>::infinity();
  // Halves until whole numbers, or the digits of a double, are told apart.
  for (int i = 0; i < 60 && std::ceil(low) + 1 < high; ++i) {
    const double middle = std::floor(low + (high - low) / 2);
    (error_after(middle) > target ? low : high) = middle;
  }
  return std::max(1.0, std::ceil(high));
}

double Rate::transient_iterations() const {
  if (slow <= 0 && fast <= 0) return 0;
  if (statistical <= 0) return std::numeric_limits<double>::infinity();
  return std::max(crossing(statistical, slow, 2.0 / 3), crossing(statistical, fast, 1));
}

bool Rate::has_linear_speed_up(double target) const { return iterations(target) >= transient_iterations(); }

std::optional<Rate> rate_of(const DataParallelSync& sync, const RateSetting& setting) {
  if (setting.workers <= 1) return Rate{setting.noise, 0, 0};
  if (!reason_for_no_rate(sync.method).empty()) return std::nullopt;
  const CompressorConstants constants = compressor_constants(sync.compression, setting.smaller_side);
  if (diverges(sync.compression, constants)) return std::nullopt;
  const double period = period_of(sync);
  if (sync.gossips() && period > 1) {
    if (!setting.gap || *setting.gap <= 0) return std::nullopt;
    const double gap = compressed_gap(std::min(*setting.gap, 1.0), sync.compression, constants);
    return neighbours_rate(sync, gap, period, setting);
  }
  Rate rate = rate_with(period > 1 ? local(period) : Mixture{}, setting);
  // Servers compress their answers too.
  const double passes = sync.method == SyncMethod::parameter_server ? 2 : 1;
  if (compresses(sync.compression)) add_compression(constants, passes, period, setting, rate);
  return rate;
}

std::string_view reason_for_no_rate(SyncMethod method) {
  switch (method) {
    case SyncMethod::none:
      return "replicas never meet";
    case SyncMethod::noloco:
      return "its analysis is of quadratic problems";
    case SyncMethod::sparse_loco:
      return "there is no rate for an error feedback that decays";
    case SyncMethod::ad_psgd:
    case SyncMethod::easgd:
    case SyncMethod::async_diloco:
      return "its bounds depend on how late workers are";
    case SyncMethod::demo:
      return "there is no rate for signs of momenta that meet in part";
    default:
      return {};
  }
}

CompressorConstants compressor_constants(const Compression& compression, double smaller_side) {
  const auto bucket = static_cast<double>(compression.bucket);
  switch (compression.method) {
    case Compression::Method::none:
      break;
    case Compression::Method::quantize:
      return {true, rounding_omega(static_cast<double>(compression.bits), bucket), 1};
    case Compression::Method::qsgd:
      return {true, quantization_omega(bucket, static_cast<double>(compression.levels)), 1};
    case Compression::Method::fp4:
      return {true, exponent_omega(bucket), 1};
    case Compression::Method::sign:
      // ||x||_1^2 / (d ||x||_2^2), which is 2 / pi for normally distributed values and at least 1 / d.
      return {false, 0, 2 * std::numbers::inv_pi};
    case Compression::Method::top_k:
    case Compression::Method::dct_top_k:
      return {false, 0, compression.fraction};
    case Compression::Method::random_k:
      // Scaled by d / k it is unbiased; as it is, it contracts.
      if (compression.error_feedback) return {false, 0, compression.fraction};
      return {true, 1 / compression.fraction - 1, 1};
    case Compression::Method::low_rank:
      // The best matrix of rank r keeps at least r of the singular values' equal shares.
      return {false, 0, std::min(1.0, static_cast<double>(compression.rank) / smaller_side)};
  }
  return {};
}

double gap_of_exact_period(double period) { return 2 / (1 + period); }

}  // namespace orrery
