// Prices of kernels with the catalog's constants against published times: measured_kernels.csv, as
// scripts/convert_kernels.py writes it. kernel_errors.txt has the mean error of each table, GPU, kernel and
// precision; its head says how to renew it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "orrery/names.hpp"
#include "sim/cost/gemm_cost.hpp"
#include "tests/sim/cost/kernels.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/source_dir.hpp"

using namespace orrery;

namespace {

constexpr double kGrowth = 0.5;        ///< percentage points
constexpr double kExpertIssueUs = 10;  ///< of the host for the product of an expert
const std::string kFolder = (test::source_dir() / "tests/sim/cost").string() + "/";

using Cells = std::vector<std::string>;

std::vector<Cells> cells_of(const std::string& name) {
  std::ifstream file(kFolder + name);
  std::vector<Cells> rows;
  std::string line;
  REQUIRE(std::getline(file, line));
  while (std::getline(file, line)) {
    Cells& row = rows.emplace_back(1);
    for (const char c : line) {
      if (c == ',') row.emplace_back();
      if (c != ',') row.back() += c;
    }
  }
  return rows;
}

/// Describes how a table was measured: the time of a kernel beside its work, the bytes that a cast of its
/// left operand moves for each value, and the share of its speed that the GPU kept. These were fitted beside
/// the constants of GPUs; SimuMax measured a node in steady state, for which the catalog's constants stand.
struct Bench {
  double start_us = 0;
  double cast_bytes = 0;
  double clock = 0;
};

std::map<std::string, Bench> benches() {
  std::map<std::string, Bench> found;
  for (const Cells& row : cells_of("kernel_benches.csv"))
    found[row[0] + " " + row[1] + " " + row[2]] = {std::stod(row[3]), std::stod(row[4]), std::stod(row[5])};
  return found;
}

Gpu gpu_in(const std::string& name, const Bench& bench) {
  Gpu gpu = test::read(R"({"model": "bert-large", "cluster": {"gpu": ")" + name + "\"}}").cluster.gpu;
  if (bench.clock == 0) return gpu;
  gpu.sustained_clock = gpu.sustained_clock_fp8 = gpu.sustained_clock_attention = bench.clock;
  gpu.kernel_launch_us = 0;
  gpu.gemm_start_us = bench.start_us;
  return gpu;
}

Precision precision_named(const std::string& name) {
  const auto* const found = std::ranges::find(kPrecisionNames, name);
  REQUIRE(found != std::end(kPrecisionNames));
  return static_cast<Precision>(found - std::begin(kPrecisionNames));
}

/// Describes the kernel of a row.
struct KernelRow {
  explicit KernelRow(const Cells& cells)
      : gpu(cells[1]),
        kernel(cells[2]),
        precision(precision_named(cells[3])),
        bench(cells[0] + " " + cells[1] + " " + cells[3]),
        group(cells[0] + " " + cells[1] + " " + cells[2] + " " + cells[3]),
        batch(std::stoll(cells[4])),
        m(std::stoll(cells[5])),
        n(std::stoll(cells[6])),
        k(std::stoll(cells[7])),
        measured_us(std::stod(cells[8])) {}

  [[nodiscard]] bool is(const char* what) const { return kernel.find(what) != std::string::npos; }

  std::string gpu, kernel;
  Precision precision;
  std::string bench, group;
  std::int64_t batch, m, n, k;
  double measured_us;
};

double microseconds(const Kernel& kernel, const Gpu& gpu, const Software& software, Precision precision) {
  return static_cast<double>(price_compute({{kernel}, kernel.flops}, gpu, software, precision).duration_ps) *
         1e-6;
}

/// Gradients of weights are added to sums of the width of the result.
double product_us(const KernelRow& row, const Gpu& gpu, const Bench& bench) {
  Kernel kernel = test::product(row.m, row.n, row.k, row.batch);
  const GemmRates rates = gemm_rates(gpu, row.precision);
  const double bytes_per_us = rates.bytes_per_s * 1e-6;
  if (row.is("weight-gradient")) kernel.bytes = row.batch * row.m * row.n * (row.is("-32") ? 6 : 2);
  const double cast = bench.cast_bytes * static_cast<double>(row.m * row.k) / bytes_per_us;
  return gemm_seconds(kernel, gpu, rates) * 1e6 + gpu.kernel_launch_us + cast;
}

/// The host takes its time for each; rows of gradients of weights are the depth of the product.
double grouped_us(const KernelRow& row, const Gpu& gpu) {
  Software software;
  software.experts_in_turn = true;
  const bool weights = row.is("weight-gradient");
  Kernel kernel = test::product(row.m, row.n, row.k, row.batch);
  if (row.is("input-gradient")) kernel = test::product(row.m, row.k, row.n, row.batch);
  if (weights) kernel = test::product(row.k, row.n, row.m, row.batch);
  kernel.grouped = true;
  if (weights) kernel.bytes = row.batch * row.n * row.k * 6;
  const double us = microseconds(kernel, gpu, software, row.precision);
  return std::max(us, kExpertIssueUs * static_cast<double>(row.batch));
}

double attention_us(const KernelRow& row, const Gpu& gpu) {
  Software software;
  software.cudnn_attention = row.is("cudnn");
  software.flash_version = row.is("flash3") ? 3 : 2;
  const auto price = [&](bool backward) {
    Kernel kernel = test::fused_attention(row.batch, row.m, row.k, row.is("causal"), backward);
    kernel.flops = kernel.flops / (2 * row.k) * (row.k + row.n);
    return microseconds(kernel, gpu, software, row.precision);
  };
  if (row.is("both")) return price(false) + price(true);
  return price(row.is("backward"));
}

double priced_us(const KernelRow& row, const Gpu& gpu, const Bench& bench) {
  if (row.is("flash") || row.is("cudnn")) return attention_us(row, gpu);
  return row.is("grouped") ? grouped_us(row, gpu) : product_us(row, gpu, bench);
}

/// Mean of |priced / measured - 1| in percent, and how many rows.
struct Error {
  double sum = 0;
  int rows = 0;
  [[nodiscard]] double mean() const { return 100 * sum / rows; }
};

std::map<std::string, Error> errors() {
  const std::map<std::string, Bench> all = benches();
  std::map<std::string, Gpu> gpus;
  std::map<std::string, Error> found;
  for (const Cells& cells : cells_of("measured_kernels.csv")) {
    const KernelRow row(cells);
    const auto at = all.find(row.bench);
    const Bench bench = at == all.end() ? Bench{} : at->second;
    const auto gpu = gpus.find(row.bench);
    const Gpu& used = gpu != gpus.end() ? gpu->second : gpus[row.bench] = gpu_in(row.gpu, bench);
    Error& error = found[row.group];
    error.sum += std::abs(priced_us(row, used, bench) / row.measured_us - 1);
    ++error.rows;
  }
  return found;
}

std::map<std::string, double> recorded_errors(std::string& head) {
  std::ifstream file(kFolder + "kernel_errors.txt");
  std::map<std::string, double> found;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) {
      head += line + "\n";
      continue;
    }
    const std::size_t mean = line.rfind(' ');
    const std::size_t rows = line.rfind(' ', mean - 1);
    found[line.substr(0, rows)] = std::stod(line.substr(mean));
  }
  return found;
}

}  // namespace

TEST_CASE("published times of kernels are met as well as recorded") {
  std::string head;
  const std::map<std::string, double> recorded = recorded_errors(head);
  const std::map<std::string, Error> found = errors();
  CHECK(found.size() == recorded.size());
  for (const auto& entry : found) {
    const std::string& group = entry.first;
    CAPTURE(group);
    REQUIRE(recorded.contains(group));
    CHECK(entry.second.mean() < recorded.at(group) + kGrowth);
  }
}

TEST_CASE("renew the recorded errors of kernels" * doctest::skip()) {
  std::string head;
  recorded_errors(head);
  const std::map<std::string, Error> found = errors();
  std::ofstream file(kFolder + "kernel_errors.txt");
  file << head;
  for (const auto& [group, error] : found) {
    char mean[32];
    std::snprintf(mean, sizeof mean, "%.1f", error.mean());
    file << group << " " << error.rows << " " << mean << "\n";
  }
}
