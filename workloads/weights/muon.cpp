#include "workloads/weights/muon.hpp"

#include <algorithm>

#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

constexpr int kIterations = 5;
constexpr Bytes kElement = 2;  // bf16

/// Calls with the matrices of each block of the stage.
template <class Call>
void for_each_block(const Stage& stage, const ModelBlocks& blocks, const Call& call) {
  for (const Chunk& chunk : stage.chunks)
    for (const PlacedBlock& block : chunk.blocks) call(blocks.kinds[block.kind].matrices);
}

/// Matrices of one shape together, as many as all blocks have.
std::vector<WeightMatrices> matrices_of(const Stage& stage, const ModelBlocks& blocks) {
  std::vector<WeightMatrices> all;
  for_each_block(stage, blocks, [&](const std::vector<WeightMatrices>& matrices) {
    for (const WeightMatrices& one : matrices) {
      const auto alike = std::ranges::find_if(all, [&](const WeightMatrices& other) {
        return other.rows == one.rows && other.columns == one.columns;
      });
      alike == all.end() ? all.push_back(one) : void(alike->count += one.count);
    }
  });
  return all;
}

/// X X^T = A, A A = B, then B X: with the shorter side m and the longer n, 4 m^2 n + 2 m^3 FLOPs.
void add_iteration(const WeightMatrices& matrices, std::vector<Kernel>& kernels) {
  const std::int64_t m = std::min(matrices.rows, matrices.columns);
  const std::int64_t n = std::max(matrices.rows, matrices.columns);
  const std::int64_t count = matrices.count;
  for (Kernel product : {gemm(m, m, n, count), gemm(m, m, m, count), gemm(m, n, m, count)}) {
    product.in_16_bits = true;
    kernels.push_back(product);
  }
  kernels.push_back(
      memory(3 * kElement * count * (m * m + m * n)));  // sums of powers, read twice and written
}

}  // namespace

std::int64_t muon_parameters(const Stage& stage, const ModelBlocks& blocks, Weights of) {
  std::int64_t sum = 0;
  for_each_block(stage, blocks, [&](const std::vector<WeightMatrices>& matrices) {
    for (const WeightMatrices& one : matrices)
      if (one.of_experts == (of == Weights::experts)) sum += one.parameters();
  });
  return sum;
}

Bytes second_moments_beside_muon(const Plan& plan, const Stage& stage, const ModelBlocks& blocks) {
  if (plan.optimizer != Optimizer::muon) return 0;
  Bytes sum = 0;
  for (const Weights of : kAllWeights) {
    const bool experts = of == Weights::experts;
    const std::int64_t trained = experts ? stage.experts() : stage.trained() - stage.experts();
    const std::int64_t ranks = experts ? plan.expert_copies() : plan.sharding_ranks();
    const std::int64_t others = trained - muon_parameters(stage, blocks, of);
    sum += divide_up(divide_up(others * bytes_of_32(plan.moment_precision), 32),
                     plan.zero_stage >= 1 ? ranks : 1);
  }
  return sum;
}

std::vector<Kernel> muon_kernels(const Plan& plan, const Stage& stage, const ModelBlocks& blocks) {
  std::vector<Kernel> kernels;
  if (plan.optimizer != Optimizer::muon) return kernels;
  for (const WeightMatrices& matrices : matrices_of(stage, blocks)) {
    kernels.push_back(memory(2 * kElement * matrices.parameters()));  // norm of each, which it is divided by
    for (int i = 0; i < kIterations; ++i) add_iteration(matrices, kernels);
  }
  return kernels;
}

}  // namespace orrery
