// Clocks that power allows: by hand, of cards that others measured, and of a card that power never limits.
#include <doctest/doctest.h>

#include <string>

#include "tests/sim/cost/kernels.hpp"
#include "tests/sim/run/experiments.hpp"

using namespace orrery;

namespace {

Gpu catalog_gpu(const std::string& name) {
  return test::read(R"({"model": "bert-large", "cluster": {"gpu": ")" + name + "\"}}").cluster.gpu;
}

/// TFLOP/s of the largest products in steady state.
double best_tflops(const Gpu& gpu, Precision precision) {
  return gpu.peak(precision) * gpu.efficiency_of_products(precision) * gpu.clock_of_products(precision);
}

}  // namespace

TEST_CASE("products run at the clock at which they draw what is left of the power") {
  Gpu gpu = test::round_gpu();  // 100 TFLOP/s
  gpu.power_w = 200;
  gpu.static_power_w = 56;
  CHECK(gpu.clock_of_products(Precision::bf16) == 1);  // nothing is known of their energy
  gpu.product_pj_per_flop = 4;                         // 400 W at the full clock: sqrt(144 / 400)
  CHECK(gpu.clock_of_products(Precision::bf16) == doctest::Approx(0.6));
  CHECK(gpu.clock_of_products(Precision::fp8) == doctest::Approx(0.6));  // as the wider ones
  CHECK(gpu.clock_of_attention() == doctest::Approx(0.6));
  gpu.product_pj_per_flop_fp8 = 1.44;  // 144 W: all that is left
  CHECK(gpu.clock_of_products(Precision::fp8) == 1);
  CHECK(gpu.clock_of_products(Precision::mxfp8) == 1);
  CHECK(gpu.clock_of_products(Precision::fp4) == 1);
  gpu.product_pj_per_flop_fp4 = 2.25;  // 225 W: sqrt(144 / 225)
  CHECK(gpu.clock_of_products(Precision::fp4) == doctest::Approx(0.8));
  gpu.flash_efficiency = 0.5;
  gpu.attention_pj_per_flop = 4.5;  // 225 W again, of 50 TFLOP/s
  CHECK(gpu.clock_of_attention() == doctest::Approx(0.8));
  CHECK(test::price(test::product(1280, 1280, 1000), gpu) == 54'613'333);  // 32.768 us / 0.6
  gpu.power_w = 0;                                                         // unknown: no limit
  CHECK(gpu.clock_of_products(Precision::bf16) == 1);
  gpu.sustained_clock = 0.7;  // as measured, whatever the energy
  CHECK(gpu.clock_of_products(Precision::bf16) == 0.7);
  CHECK(gpu.clock_of_products(Precision::fp8) == 0.7);
  CHECK(gpu.clock_of_attention() == 0.7);
}

TEST_CASE("a T4 has kernels of an A100, and 70 W, at a clock of its own") {
  const Gpu gpu = catalog_gpu("t4");
  CHECK(gpu.static_power_w > gpu.power_w);
  CHECK(gpu.clock_of_products(Precision::fp16) == gpu.sustained_clock);
  CHECK(gpu.clock_of_attention() == gpu.sustained_clock);
}

// AMD's blog, Measuring Max-Achievable FLOPs, part 2 (2025). The constants are those of an MI300X.
TEST_CASE("an MI325X is an MI300X with more power") {
  CHECK(best_tflops(catalog_gpu("mi300x"), Precision::bf16) == doctest::Approx(708).epsilon(0.001));
  CHECK(best_tflops(catalog_gpu("mi300x"), Precision::fp8) == doctest::Approx(1273).epsilon(0.001));
  CHECK(best_tflops(catalog_gpu("mi325x"), Precision::bf16) == doctest::Approx(843).epsilon(0.02));
  CHECK(best_tflops(catalog_gpu("mi325x"), Precision::fp8) == doctest::Approx(1519).epsilon(0.02));
}

TEST_CASE("power never limits an H20, which has a seventh of the products of an H100") {
  for (const Precision precision : {Precision::bf16, Precision::fp8})
    CHECK(catalog_gpu("h20").clock_of_products(precision) == 1);
  CHECK(catalog_gpu("h100").clock_of_products(Precision::bf16) == doctest::Approx(0.82).epsilon(0.001));
}

TEST_CASE("more power never slows a card down, and a step at less takes longer") {
  const auto step_ps = [](int watts) {
    const std::string text =
        R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-h100", "gpu": {"base": "h100", "power_w": )" +
        std::to_string(watts) + R"(}}, "plan": {"global_batch_size": 64}})";
    return run(test::read(text)).report.makespan_ps;
  };
  CHECK(step_ps(350) > step_ps(500));
  CHECK(step_ps(500) > step_ps(700));
  CHECK(step_ps(1500) == step_ps(3000));
}

TEST_CASE("power that leaves products nothing is refused") {
  CHECK_THROWS_WITH(
      test::read(R"({"model": "bert-large", "cluster": {"gpu": {"base": "h100", "power_w": 100}}})"),
      doctest::Contains("allowed less than power_w, 100 W"));
}
