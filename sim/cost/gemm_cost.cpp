#include "sim/cost/gemm_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {
namespace {

/// An output tile that one SM computes at a time.
struct Tile {
  double m, n;
  [[nodiscard]] double area() const { return m * n; }
  /// Operand elements a step of k needs per multiply-add: 1/m + 1/n.
  [[nodiscard]] double feed() const { return (m + n) / (m * n); }
};

constexpr Tile kLargest{256, 128};
constexpr std::array<Tile, 6> kTiles{Tile{256, 128}, Tile{128, 256}, Tile{128, 128},
                                     Tile{128, 64},  Tile{64, 128},  Tile{64, 64}};
constexpr Tile kOnlyTile{128, 128};
constexpr std::array<double, 4> kSplits{1, 2, 4, 8};  ///< parts into which k may be cut
constexpr double kDepthStep = 64;                     ///< k advances by whole steps

class Product {
 public:
  Product(const Kernel& kernel, const Gpu& gpu, const GemmRates& rates)
      : gpu_(gpu),
        rates_(rates),
        flops_(static_cast<double>(kernel.flops)),
        batch_(static_cast<double>(kernel.batch)),
        m_(static_cast<double>(kernel.m)),
        n_(static_cast<double>(kernel.n)),
        k_(static_cast<double>(kernel.k)),
        sums_(static_cast<double>(kernel.bytes)),
        weight_bytes_(kernel.weight_bytes > 0 ? kernel.weight_bytes : rates.operand_bytes) {}

  /// Returns the seconds of the fastest tile and split of a short list, as the library picks them. Without a
  /// constant for their cost small tiles would be free, so there is one tile then.
  [[nodiscard]] double seconds() const {
    const double whole = operand_bytes() / rates_.bytes_per_s;
    if (gpu_.sms == 0) return std::max(flops_ / rates_.flops_per_s, whole);
    if (gpu_.tile_feed_elements == 0) return std::max(tile_seconds(tiling(kOnlyTile), 1, depth(1, 1)), whole);
    std::array<Tiling, kTiles.size()> tilings;
    for (std::size_t i = 0; i < kTiles.size(); ++i) tilings[i] = tiling(kTiles[i]);
    double best = HUGE_VAL;
    for (const double split : kSplits) {
      const double part = depth(split, kDepthStep);
      const double traffic = split > 1 ? partial_sums(split) : whole;
      const double reduction = split > 1 ? gpu_.gemm_start_us * 1e-6 : 0;
      if (traffic + reduction >= best) continue;  // no tile makes up for it
      for (const Tiling& tiles : tilings)
        best = std::min(best, std::max(tile_seconds(tiles, split, part), traffic) + reduction);
    }
    return best;
  }

 private:
  [[nodiscard]] double operand_bytes() const {
    return batch_ *
               (rates_.operand_bytes * m_ * k_ + weight_bytes_ * k_ * n_ + rates_.result_bytes * m_ * n_) +
           sums_;
  }
  /// Each part of a split k writes its sums in 32 bits, and a second kernel reads them.
  [[nodiscard]] double partial_sums(double split) const {
    return (operand_bytes() + split * batch_ * m_ * n_ * 8) / rates_.bytes_per_s;
  }
  /// Returns the padded depth of each part of k.
  [[nodiscard]] double depth(double split, double step) const {
    return std::ceil(k_ / (split * step)) * step;
  }
  /// The result cut into tiles, whatever the depth.
  struct Tiling {
    double area;
    double count;
    double slower;  ///< than with the largest tile
    double turn_s;  ///< fixed time of each
  };
  [[nodiscard]] Tiling tiling(const Tile& tile) const {
    const double feed = gpu_.tile_feed_elements;
    return {tile.area(), batch_ * std::ceil(m_ / tile.m) * std::ceil(n_ / tile.n),
            (1 + feed * tile.feed()) / (1 + feed * kLargest.feed()),
            gpu_.gemm_tile_us * 1e-6 * (tile.area() / kLargest.area())};
  }
  /// Tiles are worked off in waves of one per SM. Where a partial last wave takes less time than a full one,
  /// its tiles are cut along k and spread over all SMs (stream-K, Osama et al. 2023).
  [[nodiscard]] double tile_seconds(const Tiling& tiles, double split, double depth) const {
    const auto sms = static_cast<double>(gpu_.sms);
    const double multiply = 2 * tiles.area * depth * sms / rates_.flops_per_s * tiles.slower;
    const double waves = tiles.count * split / sms;
    const double lost = gpu_.partial_wave * (std::ceil(waves) - waves);
    return std::max(1.0, waves + lost) * (multiply + tiles.turn_s);
  }

  const Gpu& gpu_;
  const GemmRates& rates_;
  double flops_;
  double batch_, m_, n_, k_;
  double sums_;          ///< bytes of traffic to add the result to
  double weight_bytes_;  ///< in memory, of a value of the right operand
};

}  // namespace

Precision core_precision(const Gpu& gpu, Precision precision) {
  if (!is_narrow(precision)) return precision;
  return gpu.peak(Precision::bf16) > 0 ? Precision::bf16 : Precision::fp16;
}

GemmRates gemm_rates(const Gpu& gpu, Precision precision, double speed) {
  const double share = gpu.efficiency_of_products(precision) * gpu.clock_of_products(precision) * speed;
  GemmRates rates;
  rates.most_per_s = gpu.peak(precision) * 1e12;
  rates.flops_per_s = rates.most_per_s * std::min(1.0, share);
  rates.bytes_per_s = gpu.memory_gb_per_s * 1e9 * gpu.memory_efficiency;
  if (is_narrow(precision)) rates.operand_bytes = value_bytes(precision);
  if (precision == Precision::fp32 || precision == Precision::tf32)
    rates.operand_bytes = rates.result_bytes = 4;
  return rates;
}

double widened_product_seconds(const Kernel& kernel, const GemmRates& rates) {
  constexpr double kRows = 16;
  const auto batch = static_cast<double>(kernel.batch);
  const auto m = static_cast<double>(kernel.m), n = static_cast<double>(kernel.n);
  const auto k = static_cast<double>(kernel.k);
  const double flops = 2 * batch * std::ceil(m / kRows) * kRows * n * k;
  const double values =
      rates.operand_bytes * m * k + kernel.weight_bytes * k * n + rates.result_bytes * m * n;
  return std::max(flops / rates.flops_per_s, batch * values / rates.bytes_per_s);
}

double gemm_seconds(const Kernel& kernel, const Gpu& gpu, const GemmRates& rates) {
  return gpu.gemm_start_us * 1e-6 + Product(kernel, gpu, rates).seconds();
}

}  // namespace orrery
