#include "sim/cost/attention_cost.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr double kBlock = 128;  ///< rows of scores one SM works on at a time, and columns of a step

/// A generation of FlashAttention, or cuDNN's kernel: how its speed depends on the shape, alike on every GPU.
/// Fitted to the measured tables of github Dao-AILab/flash-attention, for cuDNN together with those of github
/// MooreThreads/SimuMax (docs/theory/kernels.md).
struct Generation {
  double share;            ///< of the GPU's efficiency for this generation or the one it derives from
  double softmax;          ///< exponentials of a score cost a Hopper as much as this many more of head_dim
  double forward_columns;  ///< fixed work of a block of rows, as columns of scores
  double backward_columns;
  double backward_share;  ///< speed of the backward pass over that of the forward pass
  double widest;          ///< head_dim beyond which registers spill ...
  double spilled;         ///< ... and the speed falls to this share
};

constexpr Generation kFlash1{0.575, 22, 64, 64, 0.93, 64, 0.73};
constexpr Generation kFlash2{1, 22, 100, 260, 0.93, 128, 0.85};
constexpr Generation kFlash3{1, 51, 276, 276, 0.88, 256, 1};
constexpr Generation kCudnn{1.03, 81, 116, 261, 0.86, 128, 0.75};

const Generation& generation(const Software& software, bool newest) {
  if (newest && software.cudnn_attention) return kCudnn;
  if (newest && software.flash_version >= 3) return kFlash3;
  return software.flash_version == 1 ? kFlash1 : kFlash2;
}

/// Returns the work of the blocks over the useful part of it, and over the work of evenly loaded SMs.
double shape_factor(const Kernel& kernel, double fixed, double sms) {
  const auto columns = static_cast<double>(kernel.n);
  const double useful = kernel.causal ? columns / 2 : columns;
  // A causal mask leaves half of each block on the diagonal, but kernels compute these blocks whole.
  const double mean = (kernel.causal ? (columns + kBlock) / 2 : columns) + fixed;
  const double longest = columns + fixed;
  const double blocks = static_cast<double>(kernel.batch) * std::ceil(static_cast<double>(kernel.m) / kBlock);
  return mean / useful * std::max(1.0, sms * longest / (blocks * mean));
}

/// Returns the seconds that a generation's kernel takes on a GPU that runs it, at no more than the peak.
double seconds_of(const Generation& made, double efficiency, const Kernel& kernel, const Gpu& gpu,
                  Precision precision, double speed) {
  const auto head = static_cast<double>(kernel.k);
  double rate =
      gpu.peak(precision) * 1e12 * std::min(1.0, efficiency * made.share * gpu.clock_of_attention() * speed);
  rate *= head / (head + made.softmax / gpu.exponential_speed);
  if (head > made.widest) rate *= made.spilled;
  if (kernel.backward) rate *= made.backward_share;
  const double fixed = (kernel.backward ? made.backward_columns : made.forward_columns) + kernel.more_columns;
  return static_cast<double>(kernel.flops) / rate * shape_factor(kernel, fixed, static_cast<double>(gpu.sms));
}

}  // namespace

double attention_seconds(const Kernel& kernel, const Gpu& gpu, Precision precision, const Software& software,
                         const GemmRates& products) {
  if (gpu.flash_efficiency == 0)
    return static_cast<double>(kernel.flops) /
           std::min(products.most_per_s, products.flops_per_s * software.flash_speed);
  const auto seconds = [&](const Generation& made) {
    const bool newest = &made == &kFlash3 || &made == &kCudnn;
    const double efficiency = newest ? gpu.flash3_efficiency : gpu.flash_efficiency;
    return seconds_of(made, efficiency, kernel, gpu, precision, software.flash_speed);
  };
  const bool newest = gpu.flash3_efficiency > 0;
  if (software.flash_version > 0 || software.cudnn_attention) return seconds(generation(software, newest));
  const double older = std::min(seconds(kFlash1), seconds(kFlash2));
  return newest ? std::min({older, seconds(kFlash3), seconds(kCudnn)}) : older;
}

}  // namespace orrery
