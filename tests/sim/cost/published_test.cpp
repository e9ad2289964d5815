// Prices with the catalog's constants against published rates of single kernels. The tables hold a
// sample; how well the whole of them is met stands in docs/theory/kernels.md.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/cost/gemm_cost.hpp"
#include "tests/sim/cost/kernels.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;

namespace {

/// A GPU of the catalog in a short run, as the tables were measured.
Gpu short_run(const std::string& name) {
  Gpu gpu = test::read(R"({"model": "bert-large", "cluster": {"gpu": ")" + name + "\"}}").cluster.gpu;
  gpu.sustained_clock = gpu.sustained_clock_fp8 = gpu.sustained_clock_attention = 1;
  return gpu;
}

struct Row {
  Precision precision;
  std::int64_t batch, m, n, k;
  double tflops;
};

void check(const std::string& name, const std::vector<Row>& rows, double worst, double mean) {
  const Gpu gpu = short_run(name);
  double sum = 0;
  for (const Row& row : rows) {
    const Kernel kernel = test::product(row.m, row.n, row.k, row.batch);
    const double time =
        gemm_seconds(kernel, gpu, gemm_rates(gpu, row.precision)) + gpu.kernel_launch_us * 1e-6;
    const double error = time * row.tflops * 1e12 / static_cast<double>(kernel.flops) - 1;
    CAPTURE(row.batch);
    CAPTURE(row.m);
    CAPTURE(row.n);
    CAPTURE(row.k);
    CHECK(std::abs(error) < worst);
    sum += std::abs(error);
  }
  CHECK(sum / static_cast<double>(rows.size()) < mean);
}

constexpr Precision bf16 = Precision::bf16;
constexpr Precision fp8 = Precision::fp8;

}  // namespace

// OpenXLA, xla/service/gpu/model/matmul_interpolator_data.h.
TEST_CASE("products on an H100") {
  check("h100",
        {{bf16, 1, 256, 256, 256, 6.722},
         {bf16, 1, 512, 512, 256, 23.63},
         {bf16, 1, 1024, 1024, 256, 80.854},
         {bf16, 1, 2048, 2048, 256, 219.669},
         {bf16, 1, 4096, 4096, 256, 398.568},
         {bf16, 2, 256, 256, 512, 22.795},
         {bf16, 2, 512, 512, 512, 84.733},
         {bf16, 2, 1024, 1024, 512, 246.724},
         {bf16, 2, 2048, 2048, 512, 450.395},
         {bf16, 2, 4096, 4096, 512, 613.216},
         {bf16, 4, 256, 256, 1024, 73.746},
         {bf16, 4, 512, 512, 1024, 247.178},
         {bf16, 4, 1024, 1024, 1024, 499.415},
         {bf16, 4, 2048, 2048, 1024, 685.44}},
        0.2, 0.08);
}

// OpenXLA, as above.
TEST_CASE("products on a B200") {
  check("b200",
        {{bf16, 1, 256, 256, 256, 6.765},
         {bf16, 1, 512, 512, 512, 48.48},
         {bf16, 1, 1024, 1024, 1024, 288.021},
         {bf16, 1, 2048, 2048, 2048, 985.763},
         {bf16, 1, 4096, 4096, 4096, 1416.867},
         {bf16, 2, 2048, 1024, 2048, 979.636},
         {bf16, 2, 4096, 2048, 4096, 1418.403},
         {bf16, 4, 512, 4096, 256, 404.88},
         {bf16, 4, 1024, 256, 1024, 286.79},
         {bf16, 4, 2048, 512, 2048, 964.457},
         {fp8, 1, 512, 1024, 1024, 154.273},
         {fp8, 1, 1024, 4096, 4096, 1937.616},
         {fp8, 1, 4096, 512, 1024, 510.334},
         {fp8, 2, 256, 2048, 4096, 927.038},
         {fp8, 2, 2048, 1024, 4096, 1957.151},
         {fp8, 4, 256, 4096, 512, 534.599},
         {fp8, 4, 512, 512, 4096, 863.137},
         {fp8, 4, 2048, 2048, 512, 1114.997}},
        0.2, 0.08);
}

// NVIDIA A100 blog, Figure 6: square products with cuBLAS in mixed precision.
TEST_CASE("products on an A100") {
  check("a100-40gb",
        {{bf16, 1, 1024, 1024, 1024, 89},
         {bf16, 1, 2048, 2048, 2048, 195},
         {bf16, 1, 3072, 3072, 3072, 235},
         {bf16, 1, 4096, 4096, 4096, 259},
         {bf16, 1, 5120, 5120, 5120, 261},
         {bf16, 1, 6144, 6144, 6144, 277},
         {bf16, 1, 7168, 7168, 7168, 280},
         {bf16, 1, 8192, 8192, 8192, 292}},
        0.1, 0.05);
}

namespace {

/// TFLOP/s of a pass forward and backward over 16,384 tokens and a hidden size of 2,048.
double attention_tflops(const Gpu& gpu, std::int64_t version, bool causal, std::int64_t head,
                        std::int64_t length, bool backward) {
  const std::int64_t batch = 16384 / length * (2048 / head);
  const Kernel ahead = test::fused_attention(batch, length, head, causal);
  const Kernel back = test::fused_attention(batch, length, head, causal, true);
  Picoseconds time = test::price(ahead, gpu, bf16, version);
  if (backward) time += test::price(back, gpu, bf16, version);
  return static_cast<double>(ahead.flops + (backward ? back.flops : 0)) / static_cast<double>(time);
}

struct AttentionRow {
  std::int64_t version;
  bool causal;
  std::int64_t head, length;
  double tflops;
};

void check_attention(const std::string& name, const std::vector<AttentionRow>& rows, bool backward,
                     double worst) {
  const Gpu gpu = short_run(name);
  for (const AttentionRow& row : rows) {
    CAPTURE(row.version);
    CAPTURE(row.causal);
    CAPTURE(row.head);
    CAPTURE(row.length);
    const double got = attention_tflops(gpu, row.version, row.causal, row.head, row.length, backward);
    CHECK(std::abs(row.tflops / got - 1) < worst);
  }
}

}  // namespace

// github Dao-AILab/flash-attention, assets/flash2_a100_fwd_bwd_benchmark.png and
// flash2_h100_fwd_bwd_benchmark.png.
TEST_CASE("fused attention forward and backward") {
  check_attention("a100-80gb",
                  {{2, false, 64, 512, 132},
                   {2, false, 64, 4096, 171},
                   {2, false, 128, 512, 151},
                   {2, false, 128, 4096, 196},
                   {2, true, 64, 512, 88},
                   {2, true, 64, 4096, 156},
                   {2, true, 128, 512, 99},
                   {2, true, 128, 4096, 173},
                   {1, false, 64, 4096, 108},
                   {1, true, 128, 4096, 76}},
                  true, 0.1);
  check_attention("h100",
                  {{2, false, 64, 512, 215},
                   {2, false, 64, 4096, 288},
                   {2, false, 128, 512, 248},
                   {2, false, 128, 4096, 326},
                   {2, true, 64, 512, 141},
                   {2, true, 64, 4096, 257},
                   {2, true, 128, 512, 163},
                   {2, true, 128, 4096, 294},
                   {1, false, 64, 4096, 161},
                   {1, true, 128, 4096, 126}},
                  true, 0.1);
}

// Ibid., assets/flash3_fp16_fwd.png.
TEST_CASE("FlashAttention 3 forward") {
  check_attention("h100",
                  {{3, false, 64, 512, 333},
                   {3, false, 64, 4096, 476},
                   {3, false, 128, 512, 467},
                   {3, false, 128, 4096, 638},
                   {3, true, 64, 512, 197},
                   {3, true, 64, 4096, 420},
                   {3, true, 128, 512, 292},
                   {3, true, 128, 4096, 579},
                   {3, false, 256, 4096, 746}},
                  false, 0.15);
}
