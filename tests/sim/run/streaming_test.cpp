// DiLoCo as a stream of layers: what each fragment holds, when it leaves and when it is needed, and the
// bandwidths of table 4 of Douillard et al. 2025 (arXiv 2501.18512).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "orrery/fragments.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::example;
using orrery::test::read;

namespace {

/// The paper's grid: 50 bandwidths from 0.1 to 1000 Gb/s, each 10^(4/49) = 1.207 times the one before.
constexpr int kGridSize = 50;
double grid_gbps(int place) { return std::pow(10, -1 + 4.0 * place / (kGridSize - 1)); }
int place_in_grid(double gbps) {
  return static_cast<int>(std::lround((std::log10(gbps) + 1) * (kGridSize - 1) / 4));
}

using Overrides = std::vector<std::string>;

double utilization_at(Overrides overrides, const std::string& sync, double gbps) {
  overrides.push_back("data_parallel_sync=" + sync);
  overrides.push_back(fmt::format("cluster.fabric.nic_gbps={}", gbps));
  return run(example("streaming-diloco.json", overrides)).report.gpu_utilization_mean;
}

/// The least bandwidth of the grid that keeps GPUs that busy.
int least_place(const Overrides& overrides, const std::string& sync, double utilization) {
  int low = -1;
  int high = kGridSize;
  while (low + 1 < high) {
    const int middle = (low + high) / 2;
    (utilization_at(overrides, sync, grid_gbps(middle)) < utilization ? low : high) = middle;
  }
  return high;
}

std::string streaming_sync(const std::string& more) {
  return "{method: diloco, period: 100, overlap: adapt-then-combine, " + more + "}";
}

/// Data-parallel, DiLoCo, streaming, with overlap, and in FP4; Gb/s for 50, 80, 90, 95 and 99 %.
using PublishedRows = std::array<std::array<double, 5>, 5>;

void check_published(const Overrides& overrides, int fragments, const PublishedRows& published) {
  constexpr std::array kUtilizations{0.5, 0.8, 0.9, 0.95, 0.99};
  const std::string parts = fmt::format("fragments: {}, fragment_pattern: strided, ", fragments);
  const std::array<std::string, 5> syncs{"{method: all-reduce}", streaming_sync("compression: quantize"),
                                         streaming_sync(parts + "compression: quantize"),
                                         streaming_sync(parts + "delay: 1, compression: quantize"),
                                         streaming_sync(parts + "delay: 1, compression: fp4")};
  for (std::size_t row = 0; row < syncs.size(); ++row) {
    for (std::size_t i = 0; i < kUtilizations.size(); ++i) {
      CAPTURE(syncs[row]);
      CAPTURE(kUtilizations[i]);
      const int place = least_place(overrides, syncs[row], kUtilizations[i]);
      CHECK(std::abs(place - place_in_grid(published[row][i])) <= 1);
    }
  }
}

/// Two workers with four layers of 1000 x 1000, on a GPU whose memory takes next to no time.
std::string four_layers(const std::string& sync, double gbps, const std::string& plan = "") {
  return fmt::format(
      R"({{"model": {{"kind": "mlp", "widths": [1000, 1000, 1000, 1000, 1000], "seq_length": 1000}},
          "cluster": {{"nodes": 2, "gpu": {{"peak_tflops": {{"fp32": 2}}, "memory_gb": 10, "memory_gb_per_s": 1e5}},
                       "fabric": {{"kind": "switch", "nic_gbps": {}}}}},
          "plan": {{"precision": "fp32"{}}}, "stack": "ideal", "data_parallel_sync": {}}})",
      gbps, plan, sync);
}

}  // namespace

TEST_CASE("fragments cover all layers, spread over the period as evenly as whole steps allow") {
  DataParallelSync sync;
  sync.period = 100;
  sync.fragments = 8;
  std::vector<std::int64_t> ends;
  for (std::int64_t step = 0; step < 200; ++step) {
    if (const auto fragment = fragment_due(sync, step)) {
      CHECK(*fragment == static_cast<std::int64_t>(ends.size()) % 8);
      ends.push_back(step + 1);
    }
  }
  // floor(12.5 f): 12 25 37 50 62 75 87 100, and again.
  CHECK(ends ==
        std::vector<std::int64_t>{12, 25, 37, 50, 62, 75, 87, 100, 112, 125, 137, 150, 162, 175, 187, 200});
  sync.fragment_pattern = FragmentPattern::sequential;
  CHECK(fragment_of_layer(sync, 2, 24) == 0);
  CHECK(fragment_of_layer(sync, 3, 24) == 1);
  CHECK(fragment_of_layer(sync, 23, 24) == 7);
  sync.fragment_pattern = FragmentPattern::strided;
  CHECK(fragment_of_layer(sync, 3, 24) == 3);
  CHECK(fragment_of_layer(sync, 8, 24) == 0);
}

TEST_CASE("a layer's fragment travels between its update and its next forward pass") {
  // A product takes g = 2 x 1000^3 / 2e12 s = 1 ms, a step 3 g a layer but 2 g the first. Layer l leaves
  // after its backward pass and is needed in its next forward pass: meanwhile run the backward passes of l
  // layers, which take 2 g but g of the first, and l forward passes: 3 l - 1 of g, nothing for l = 0. A layer
  // has 4 MB.
  constexpr double g = 1e-3;
  const auto seconds = [](const std::string& sync, double gbps) {
    return to_seconds(
        run(read(four_layers(sync, gbps, R"(, "overlap_gradient_reduce": true)"))).report.makespan_ps);
  };
  const std::string even = R"({"method": "diloco", "period": 8})";
  const double alone = seconds(even, 1e5);
  CHECK(alone == doctest::Approx(8 * 11 * g).epsilon(0.01));
  for (const std::string pattern : {"sequential", "strided"}) {
    for (const int delay : {0, 1}) {
      CAPTURE(pattern);
      CAPTURE(delay);
      const std::string sync = fmt::format(
          R"({{"method": "diloco", "period": 8, "fragments": 4, "fragment_pattern": "{}", "delay": {},
               "overlap": "adapt-then-combine"}})",
          pattern, delay);
      for (const double transfer : {0.5 * g, 6.5 * g, 25 * g}) {
        double exposed = 0;
        for (int layer = 0; layer < 4; ++layer) {
          double window = layer > 0 ? (3 * layer - 1) * g : 0;
          if (layer == 3)
            window -= 3 * g;  // the last fragment is needed when the run ends, before the next step
          exposed += std::max(0.0, transfer - window - delay * 11 * g);
        }
        CHECK(seconds(sync, 8 * 4e-3 / transfer) == doctest::Approx(alone + exposed).epsilon(0.003));
      }
    }
  }
}

TEST_CASE("streams of layers move each parameter once a period, folded or not, with stages and in nodes") {
  for (const std::string pattern : {"sequential", "strided"}) {
    for (const std::string overlap : {"none", "adapt-then-combine"}) {
      for (const std::string level : {"gpu", "node"}) {
        for (const std::string network : {"flow", "alpha-beta"}) {
          const std::string text = fmt::format(
              R"({{"model": {{"kind": "mlp", "widths": [64, 64, 64, 64, 64, 64, 64], "seq_length": 8}},
                  "cluster": {{"base": "dgx-1", "gpus_per_node": 4, "nodes": 4}},
                  "plan": {{"pipeline_parallel": 2, "rank_order": "dp-tp-cp-ep-pp", "global_batch_size": 24}},
                  "simulation": {{"network": "{}"}}, "stack": "ideal",
                  "data_parallel_sync": {{"method": "diloco", "period": 10, "delay": 1, "fragments": 3,
                    "fragment_pattern": "{}", "overlap": "{}", "level": "{}"}}}})",
              network, pattern, overlap, level);
          CAPTURE(text);
          Experiment e = read(text);
          const Report folded = run(e).report;
          e.simulation.folding = Folding::off;
          const Report unfolded = run(e).report;
          check_same_times(folded, unfolded);
          CHECK(folded.bytes_per_gpu == unfolded.bytes_per_gpu);
          if (level == "node") continue;
          // A ring of 8 sends 14/8 of 3 layers of 4096 values in 4 bytes, in 10 steps.
          CHECK(folded.bytes_per_gpu[static_cast<std::size_t>(Dimension::data)] ==
                doctest::Approx(14.0 / 8 * 3 * 4096 * 4 / 10));
        }
      }
    }
  }
}

TEST_CASE("bandwidths for a utilisation are those of the paper's simulator within a step of its grid") {
  check_published({}, 8,
                  {{{86.8, 152.6, 184.2, 222.3, 569.0},
                    {1.4, 6.2, 13.3, 23.3, 86.8},
                    {1.4, 5.2, 9.1, 16.0, 28.1},
                    {1.4, 4.3, 6.2, 9.1, 11.0},
                    {0.4, 0.9, 1.7, 2.0, 3.0}}});
}

TEST_CASE("and so are those of ten times the parameters") {
  // 48 layers of 14434 x 14434, 10^10 parameters; 143 products of 2 x 14434^2 x 10^4 in 0.8 s: 744.81
  // Tflop/s. The paper's gradients leave layer by layer: a bucket of 2 x 14434^2 bytes.
  std::string widths = "model.widths=[14434";
  for (int layer = 0; layer < 48; ++layer) widths += ", 14434";
  check_published(
      {widths + "]", "cluster.gpu.peak_tflops={bf16: 744.81, fp32: 744.81}", "plan.bucket_mb=416.680712"}, 16,
      {{{104.8, 222.3, 222.3, 268.3, 471.5},
        {1.7, 7.5, 16.0, 33.9, 104.8},
        {1.7, 5.2, 9.1, 13.3, 19.3},
        {1.7, 3.6, 5.2, 6.2, 7.5},
        {0.4, 0.9, 1.4, 1.4, 1.7}}});
}
