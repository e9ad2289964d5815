// One effect of the price model at a time, by hand, and laws that hold for all of them together.
#include <doctest/doctest.h>

#include <random>

#include "tests/sim/cost/kernels.hpp"
#include "workloads/models/layer_products.hpp"

using namespace orrery;
using orrery::test::fused_attention;
using orrery::test::price;
using orrery::test::product;
using orrery::test::round_gpu;

namespace {

Kernel traffic(Bytes bytes) { return {Kernel::Kind::memory, 1, 0, 0, 0, bytes, 0}; }

/// A GPU with every effect on.
Gpu full_gpu() {
  Gpu gpu = round_gpu();
  gpu.memory_gb_per_s = 2000;
  gpu.kernel_launch_us = 1.5;
  gpu.gemm_efficiency = 0.9;
  gpu.gemm_efficiency_fp8 = 0.8;
  gpu.memory_efficiency = 0.9;
  gpu.sustained_clock = 0.85;
  gpu.tile_feed_elements = 44;
  gpu.gemm_tile_us = 1.5;
  gpu.gemm_start_us = 3.5;
  gpu.memory_ramp_us = 1.5;
  gpu.flash_efficiency = 0.8;
  gpu.flash3_efficiency = 0.9;
  return gpu;
}

}  // namespace

TEST_CASE("without constants: one size of tile, whole waves") {
  const Gpu gpu = round_gpu();
  // 10 x 10 tiles of 128 x 128 are one wave: 2 * 128^2 * 1000 FLOPs of an SM at 1e12 FLOP/s.
  CHECK(price(product(1280, 1280, 1000), gpu) == 32'768'000);
  // One row more makes 110 tiles, two waves. Batches count as tiles: 4 * 25 = 100.
  CHECK(price(product(1281, 1280, 1000), gpu) == 2 * 32'768'000);
  CHECK(price(product(640, 640, 1000, 4), gpu) == 32'768'000);
}

TEST_CASE("convolutions: a start each, and Winograd's algorithm for small filters in fp32") {
  Gpu gpu = round_gpu();
  gpu.gemm_start_us = 5;
  gpu.convolution_start_us = 15;
  gpu.peak_tflops[static_cast<std::size_t>(Precision::fp32)] = 10;
  gpu.peak_tflops[static_cast<std::size_t>(Precision::fp16)] = 100;
  Kernel direct;
  direct.kind = Kernel::Kind::convolution;
  direct.batch = 3;
  direct.flops = 1'000'000'000;
  Kernel small = direct;
  small.kind = Kernel::Kind::small_filter;
  small.flops = 900'000'000;
  Software software;
  software.convolution_speed = 0.5;
  const auto price = [&](Precision precision) {
    return price_compute({{direct, small}, 0}, gpu, software, precision).duration_ps;
  };
  // 3 starts of 20 us; 1e9 FLOPs at 5e12 a second are 200 us, 4/9 of 0.9e9 are 80 us.
  CHECK(price(Precision::fp32) == (60 + 200 + 80) * Picoseconds{1'000'000});
  // At 5e13 a second, all of them: 20 us and 18 us.
  CHECK(price(Precision::fp16) == (60 + 20 + 18) * Picoseconds{1'000'000});
  // Matrix products have a library of their own.
  software.gemm_speed = 0.25;
  CHECK(price(Precision::fp16) == (60 + 20 + 18) * Picoseconds{1'000'000});
}

TEST_CASE("products of experts share waves as one kernel, and have waves of their own in turn") {
  Gpu gpu = round_gpu();
  gpu.gemm_start_us = 5;
  Kernel experts = product(640, 640, 1000, 4);  // 25 tiles each, together one wave
  experts.grouped = true;
  Software software;
  const auto price = [&](Precision precision) {
    return price_compute({{experts}, experts.flops}, gpu, software, precision).duration_ps;
  };
  CHECK(price(Precision::bf16) == 5'000'000 + 32'768'000);
  software.experts_in_turn = true;
  CHECK(price(Precision::bf16) == 5'000'000 + 4 * 32'768'000);
  // In fp8 the rows and weights of all four are cast: 4 * 2 * (640 * 1000 + 1000 * 640) bytes / 1e15 B/s.
  CHECK(price(Precision::fp8) == 5'000'000 + 4 * 32'768'000 + 10'240);
}

TEST_CASE("no SMs: products at the full rate whatever their shape") {
  Gpu gpu = round_gpu();
  gpu.sms = 0;
  gpu.tile_feed_elements = 44;
  CHECK(price(product(1, 1, 1000), gpu) == 20);                     // 2000 / 1e14 s
  CHECK(price(product(1281, 1280, 1000), gpu) == 32'793'600);       // 2 * 1281 * 1280 * 1000 / 1e14 s
  CHECK(price(fused_attention(1, 100, 50, false), gpu) == 20'000);  // 4 * 100^2 * 50 / 1e14 s
}

TEST_CASE("memory limits thin products") {
  Gpu gpu = round_gpu();
  gpu.memory_gb_per_s = 1000;
  gpu.memory_efficiency = 0.5;
  // (128 * 64 + 64 * 12800 + 128 * 12800) * 2 bytes / 5e11 B/s; the products would take 2.1 us.
  CHECK(price(product(128, 12800, 64), gpu) == 9'863'168);
}

TEST_CASE("what training sustains of the clock slows products and attention, not memory") {
  Gpu gpu = round_gpu();
  gpu.sustained_clock = 0.5;
  CHECK(price(product(1280, 1280, 1000), gpu) == 2 * 32'768'000);
  gpu.flash_efficiency = 1;
  const Picoseconds slow = price(fused_attention(100, 1024, 64, false), gpu);
  gpu.sustained_clock = 1;
  CHECK(slow == 2 * price(fused_attention(100, 1024, 64, false), gpu));
  CHECK(price(traffic(1'000'000'000), gpu) == 1'000'000);
}

TEST_CASE("narrow products and attention may keep another share of their speed") {
  Gpu gpu = round_gpu();
  gpu.sms = 0;
  gpu.sustained_clock = 0.5;
  gpu.flash_efficiency = 1;
  const Kernel scores = fused_attention(100, 1024, 64, false);
  const Picoseconds attention = price(scores, gpu);
  CHECK(price(product(1000, 1000, 1000), gpu, Precision::fp8) == 40'004'000);  // casts 4e6 / 1e15
  gpu.sustained_clock_fp8 = 0.8;
  gpu.sustained_clock_attention = 1;
  CHECK(price(product(1000, 1000, 1000), gpu) == 40'000'000);
  CHECK(price(product(1000, 1000, 1000), gpu, Precision::fp8) == 25'004'000);
  CHECK(2 * price(scores, gpu) == attention);
}

TEST_CASE("each narrow precision has an efficiency of its own, or that of fp8") {
  Gpu gpu = round_gpu();
  gpu.sms = 0;
  gpu.memory_gb_per_s = 1e12;  // casts take nothing
  const Kernel kernel = product(1000, 1000, 1000);
  gpu.gemm_efficiency_fp8 = 0.5;
  for (const Precision precision : {Precision::fp8, Precision::fp8_blockwise, Precision::fp4})
    CHECK(price(kernel, gpu, precision) == 40'000'000);
  gpu.gemm_efficiency_fp8_blockwise = 0.25;
  gpu.gemm_efficiency_fp4 = 0.2;
  CHECK(price(kernel, gpu, Precision::fp8) == 40'000'000);
  CHECK(price(kernel, gpu, Precision::fp8_blockwise) == 80'000'000);
  CHECK(price(kernel, gpu, Precision::fp4) == 100'000'000);
}

TEST_CASE("cuDNN's attention where the GPU has it") {
  Gpu gpu = round_gpu();
  gpu.sms = 0;
  gpu.flash_efficiency = 0.5;
  Software software;
  const auto takes = [&](const Kernel& kernel) {
    return price_compute({{kernel}, kernel.flops}, gpu, software, Precision::bf16).duration_ps;
  };
  const Kernel wide = fused_attention(500, 400, 119, false);
  const Picoseconds second = takes(wide);
  software.cudnn_attention = true;
  CHECK(takes(wide) == second);
  gpu.flash3_efficiency = 0.5;
  // 119 / (119 + 81) of 5.15e13 FLOP/s; 4 * 500 * 400^2 * 119 FLOPs, 116 columns beside 400.
  CHECK(takes(wide) == 1'603'106'796);
  // Wider heads reach three quarters of the speed: 159 / (159 + 81).
  CHECK(takes(fused_attention(500, 400, 159, false)) == 2'564'970'874);
}

TEST_CASE("the fastest tile of the list is chosen") {
  Gpu gpu = round_gpu();
  gpu.tile_feed_elements = 128;  // 256 x 128: 1 + 1.5 = 2.5; 128 x 128: 3; 64 x 64: 5
  // 10 x 10 tiles of 256 x 128, one wave: 2 * 256 * 128 * 1024 / 1e12 s. With 128 x 128: 3/2.5 of it.
  CHECK(price(product(2560, 1280, 1024), gpu) == 67'108'864);
  // The depth counts in steps of 64.
  CHECK(price(product(2560, 1280, 961), gpu) == 67'108'864);
  // 10 x 10 tiles of 64 x 64: 5/2.5 times 2 * 64^2 * 1024 / 1e12 s, after the start of 10 us. Splitting k
  // of 25 tiles of 128 x 128 in four would take 10.1 us, and a second start.
  gpu.gemm_start_us = 10;
  CHECK(price(product(640, 640, 1024), gpu) == 10'000'000 + 16'777'216);
}

TEST_CASE("a partial last wave costs its share of what it leaves idle") {
  Gpu gpu = round_gpu();
  // 11 x 10 tiles of 128 x 128 on 100 SMs: 1.1 waves of 32.768 us, and 0.9 of one are idle.
  gpu.partial_wave = 0;
  CHECK(price(product(1408, 1280, 1000), gpu) == 36'044'800);
  gpu.partial_wave = 0.5;
  CHECK(price(product(1408, 1280, 1000), gpu) == 50'790'400);
  // Less than one wave takes as long as one.
  CHECK(price(product(1152, 1280, 1000), gpu) == 32'768'000);
}

TEST_CASE("sums that a product adds to are traffic beside its multiplications") {
  Gpu gpu = round_gpu();
  gpu.memory_gb_per_s = 1000;
  gpu.sms = 0;
  Kernel gradient = product(1000, 1000, 1000);
  // 2e9 FLOPs / 1e14 s = 20 us; operands and result are 6e6 bytes / 1e12 B/s = 6 us, with sums 6e7 more.
  CHECK(price(gradient, gpu) == 20'000'000);
  gradient.bytes = 60'000'000;
  CHECK(price(gradient, gpu) == 66'000'000);
}

TEST_CASE("few tiles and a deep product: k is split") {
  Gpu gpu = round_gpu();
  gpu.tile_feed_elements = 128;
  gpu.gemm_start_us = 1;
  // 25 tiles of 128 x 128 times 4 parts of 256: 3/2.5 * 2 * 128^2 * 256 / 1e12 s = 10.0663296 us, and the
  // start of the product and of the kernel that adds the parts up.
  CHECK(price(product(640, 640, 1024), gpu) == 2'000'000 + 10'066'330);
  // The parts are written and read in 32 bits, which a slow memory makes dearer than no split: operands
  // and result once are 2 * (640 * 1024 * 2 + 640 * 640) bytes / 2e11 B/s = 17.2032 us.
  gpu.memory_gb_per_s = 200;
  CHECK(price(product(640, 640, 1024), gpu) == 1'000'000 + 17'203'200);
}

TEST_CASE("every tile is filled and drained") {
  Gpu gpu = round_gpu();
  gpu.gemm_tile_us = 2;  // of 256 x 128; half of it for the one tile of 128 x 128
  CHECK(price(product(1281, 1280, 1000), gpu) == 2 * (32'768'000 + 1'000'000));
}

TEST_CASE("kernels have a start") {
  Gpu gpu = round_gpu();
  gpu.gemm_start_us = 3;
  gpu.memory_ramp_us = 2;
  gpu.kernel_launch_us = 1;
  CHECK(price(product(1280, 1280, 1000), gpu) == 32'768'000 + 4'000'000);
  CHECK(price(traffic(1'000'000'000), gpu) == 1'000'000 + 3'000'000);
}

TEST_CASE("fp8 products have a rate of their own and casts before them") {
  Gpu gpu = round_gpu();
  gpu.sms = 0;
  gpu.memory_gb_per_s = 1000;
  gpu.memory_ramp_us = 2;
  const Kernel kernel = product(1000, 1000, 10'000);
  // 2e10 FLOPs / 1e14 s = 200 us; casts 2 * 2 * 1e7 bytes / 1e12 B/s = 40 us and their start.
  CHECK(price(kernel, gpu, Precision::fp8) == 242'000'000);
  gpu.gemm_efficiency_fp8 = 0.5;
  CHECK(price(kernel, gpu, Precision::fp8) == 442'000'000);
  CHECK(price(kernel, gpu, Precision::bf16) == 200'000'000);
  // The attention core stays in 16 bits.
  CHECK(price(product(1000, 1000, 10'000, 2), gpu, Precision::fp8) == 400'000'000);
}

TEST_CASE("recipes of few bits differ in what their casts move, and in their units") {
  Gpu gpu = round_gpu();
  gpu.sms = 0;
  gpu.memory_gb_per_s = 1000;
  gpu.peak_tflops[static_cast<std::size_t>(Precision::fp4)] = 200;
  const Kernel kernel = product(1000, 1000, 10'000);
  // 2e7 operand values: 2 bytes read, twice 33/32 written, half of it each: 2.03125 bytes, 40.625 us.
  CHECK(price(kernel, gpu, Precision::fp8_blockwise) == 200'000'000 + 40'625'000);
  CHECK(price(kernel, gpu, Precision::mxfp8) == 200'000'000 + 40'625'000);
  // NVFP4 reads twice and writes twice 9/16: 2.5625 bytes, 51.25 us; its unit is twice as fast.
  CHECK(price(kernel, gpu, Precision::fp4) == 100'000'000 + 51'250'000);
  gpu.peak_tflops[static_cast<std::size_t>(Precision::fp4)] = 0;
  CHECK(gpu.peak(Precision::mxfp8) == 0);
  CHECK(gpu.peak(Precision::fp8_blockwise) == 100);
}

TEST_CASE("fused attention by head size, mask, direction and generation") {
  Gpu gpu = round_gpu();
  gpu.sms = 0;
  gpu.flash_efficiency = 0.5;
  // 44 / (44 + 22) = 2/3 of 5e13 FLOP/s; 4 * 500 * 400^2 * 44 = 1.408e10 FLOPs: 422.4 us. Each block of
  // rows costs 100 columns beside its 400.
  CHECK(price(fused_attention(500, 400, 44, false), gpu) == 528'000'000);
  // Causal: half the FLOPs, (400 + 128)/2 + 100 = 364 columns in place of 200.
  CHECK(price(fused_attention(500, 400, 44, true), gpu) == 384'384'000);
  // Backward: 2.5 times the FLOPs at 0.93 of the speed, 260 columns beside 400: 422.4 * 2.5 / 0.93 * 1.65.
  CHECK(price(fused_attention(500, 400, 44, false, true), gpu) == 1'873'548'387);
  // Over packed samples as many more columns as the software says: 422.4 us * (400 + 100 + 100) / 400.
  Kernel packed = fused_attention(500, 400, 44, false);
  packed.more_columns = 100;
  CHECK(price(packed, gpu) == 633'600'000);
  // Generation 1: 0.575 of the rate, 64 columns: 422.4 / 0.575 * 1.16. Generation 3 is not on this GPU.
  CHECK(price(fused_attention(500, 400, 44, false), gpu, Precision::bf16, 1) == 852'146'087);
  CHECK(price(fused_attention(500, 400, 44, false), gpu, Precision::bf16, 3) == 528'000'000);
  // With it: 49 / (49 + 51) of 1e14 FLOP/s, 276 columns: 4 * 500 * 400^2 * 49 / 4.9e13 * 1.69.
  gpu.flash3_efficiency = 1;
  CHECK(price(fused_attention(500, 400, 49, false), gpu, Precision::bf16, 3) == 540'800'000);
}

TEST_CASE("few blocks of attention leave SMs idle") {
  Gpu gpu = round_gpu();
  gpu.flash_efficiency = 1;
  // 25 * 4 blocks of 128 rows fill 100 SMs; 5 * 4 take as long.
  CHECK(price(fused_attention(25, 512, 64, false), gpu) == price(fused_attention(5, 512, 64, false), gpu));
  CHECK(price(fused_attention(50, 512, 64, false), gpu) ==
        2 * price(fused_attention(25, 512, 64, false), gpu));
}

TEST_CASE("no kernel gets faster when it gets larger") {
  std::mt19937_64 random(20220512);
  const auto size = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % most) + 1; };
  for (const Gpu& gpu : {round_gpu(), full_gpu()}) {
    for (int i = 0; i < 3000; ++i) {
      const Precision precision = i % 2 == 0 ? Precision::bf16 : Precision::fp8;
      const std::int64_t batch = i % 3 == 0 ? 2 * size(32) : 1;
      const std::int64_t m = size(5000), n = size(5000), k = size(5000);
      CAPTURE(batch);
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      const Picoseconds time = price(product(m, n, k, batch), gpu, precision);
      CHECK(time <= price(product(2 * m, n, k, batch), gpu, precision));
      CHECK(time <= price(product(m, 2 * n, k, batch), gpu, precision));
      CHECK(time <= price(product(m, n, 2 * k, batch), gpu, precision));
      if (batch > 1) CHECK(time <= price(product(m, n, k, 2 * batch), gpu, precision));
      const bool causal = i % 5 < 2, backward = i % 7 < 3;
      const std::int64_t version = i % 3 + 1;
      const std::int64_t head = size(64);
      const Picoseconds core =
          price(fused_attention(batch, m, head, causal, backward), gpu, precision, version);
      CHECK(core <= price(fused_attention(batch, 2 * m, head, causal, backward), gpu, precision, version));
      CHECK(core <= price(fused_attention(2 * batch, m, head, causal, backward), gpu, precision, version));
      CHECK(core <= price(fused_attention(batch, m, 2 * head, causal, backward), gpu, precision, version));
    }
  }
}

TEST_CASE("no kernel is faster than the GPU") {
  std::mt19937_64 random(20230717);
  const Gpu gpu = full_gpu();
  const auto size = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % most) + 1; };
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t m = size(9000), n = size(9000), k = size(9000);
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    const Kernel kernel = product(m, n, k);
    const auto time = static_cast<double>(price(kernel, gpu)) * 1e-12;
    CHECK(time >= static_cast<double>(kernel.flops) / (100e12 * 0.9 * 0.85));
    CHECK(time >= static_cast<double>(2 * (m * k + k * n + m * n)) / (2000e9 * 0.9));
    const Kernel core = fused_attention(4, m, 128, i % 2 == 0);
    CHECK(static_cast<double>(price(core, gpu)) * 1e-12 >=
          static_cast<double>(core.flops) / (100e12 * 0.8 * 0.85));
  }
}

TEST_CASE("16-bit products of an FP8 plan take the 16-bit peak that the GPU has") {
  Gpu gpu = round_gpu();
  gpu.sms = 0;
  const auto peak = [&](Precision precision) -> double& {
    return gpu.peak_tflops[static_cast<std::size_t>(precision)];
  };
  peak(Precision::bf16) = 0;
  peak(Precision::fp16) = 50;
  // 2 * 1000^3 * 5 FLOPs at 50e12 FLOP/s.
  CHECK(price(product(1000, 1000, 1000, 5), gpu, Precision::fp8) == 200'000'000);
  peak(Precision::bf16) = 25;
  CHECK(price(product(1000, 1000, 1000, 5), gpu, Precision::fp8) == 400'000'000);
}

TEST_CASE("operands that lie ready in few bits are not cast") {
  Gpu gpu = round_gpu();
  gpu.sms = 0;
  gpu.memory_gb_per_s = 1000;  // 1e12 B/s
  Kernel kernel = product(1000, 2000, 500);
  const auto cast = [&] { return price(kernel, gpu, Precision::fp8); };
  // Half of 2 bytes read and 1 + 1 written a value: 2 * (1000 * 500 + 500 * 2000) bytes.
  const Picoseconds both = cast();
  kernel.right_ready = true;
  CHECK(both - cast() == 2 * 500 * 2000);
  kernel.left_ready = true;
  CHECK(both - cast() == 2 * (1000 * 500 + 500 * 2000));
  CHECK(price(kernel, gpu) == price(product(1000, 2000, 500), gpu));
}

TEST_CASE("the logits and the router keep 16 bits, and so do their gradients") {
  for (const Kernel& kernel : {logits_product(Model{}, 8, 8), router_product(Model{}, 8)}) {
    CHECK(kernel.in_16_bits);
    CHECK(input_gradient(kernel).in_16_bits);
    CHECK(weight_gradient(kernel).in_16_bits);
    CHECK(weight_gradient(kernel, 2.0).in_16_bits);
  }
}
