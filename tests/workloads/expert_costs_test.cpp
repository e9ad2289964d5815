// Checks the costs of a layer of experts beside its products: routing, the host, sums of gradients.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/workloads/models.hpp"
#include "workloads/lowering/lower.hpp"

using namespace orrery;

namespace {

/// Two layers of 8 experts of 256 x 512 on 4 ranks, a token takes 2.
Experiment expert_layers() {
  Experiment e = test::experiment(test::gpt(2, 256, 4, 128, 1024), 1, 1, 4, 1);
  e.model.kind = ModelKind::moe_transformer;
  e.model.experts = 8;
  e.model.experts_per_token = 2;
  e.model.expert_ffn_hidden = 512;
  e.model.biases = false;
  e.plan.expert_parallel = 4;
  return e;
}

template <class Counts>
std::int64_t count_ops(const Workload& w, Phase phase, Counts counts) {
  std::int64_t sum = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.part == Part::experts && op.phase == phase) sum += counts(op);
  }
  return sum;
}

Picoseconds host_time(const Experiment& e, Phase phase) {
  const Workload w = lower(e);
  return count_ops(w, phase, [&](const Op& op) {
    return op.kind == Op::Kind::compute ? w.kernel_sequences[op.work].host_ps : 0;
  });
}

std::int64_t host_waits(const Experiment& e, Phase phase) {
  return count_ops(lower(e), phase, [](const Op& op) { return op.stream == Stream::host ? 1 : 0; });
}

}  // namespace

TEST_CASE("routing takes small kernels, half as many backward") {
  Experiment e = expert_layers();
  const auto kernels = [&](Phase phase) {
    const Workload w = lower(e);
    return count_ops(w, phase, [&](const Op& op) {
      return op.kind == Op::Kind::compute ? std::ssize(w.kernel_sequences[op.work].kernels) : 0;
    });
  };
  const std::int64_t ahead = kernels(Phase::forward), back = kernels(Phase::backward);
  e.software.routing_kernels = 11;
  CHECK(kernels(Phase::forward) == ahead + 2 * 11);
  CHECK(kernels(Phase::backward) == back + 2 * 5);
}

TEST_CASE("the host pays for each expert and each slice of rows, and waits for the router") {
  Experiment e = expert_layers();
  CHECK(host_time(e, Phase::forward) == 0);
  e.software.expert_issue_us = 3;
  // Two layers, two products of two experts; backward twice as many.
  CHECK(host_time(e, Phase::forward) == 2 * 2 * 2 * 3'000'000);
  CHECK(host_time(e, Phase::backward) == 2 * 4 * 2 * 3'000'000);
  e.software.expert_issue_us = 0;
  e.software.row_slice_issue_us = 1;
  CHECK(host_time(e, Phase::forward) ==
        2 * 4 * 8 * 1'000'000);  // rows and probabilities of 8 experts, both ways
  CHECK(host_waits(e, Phase::forward) == 0);
  e.software.dispatch_waits_for_host = true;
  CHECK(host_waits(e, Phase::forward) == 2);
  CHECK(host_waits(e, Phase::backward) == 0);
  e.plan.capacity_factor = 1;
  CHECK(host_waits(e, Phase::forward) == 0);
  CHECK(host_time(e, Phase::forward) == 0);
}

TEST_CASE("CUDA graphs of layers are issued like one kernel each, one of the step in no time") {
  Experiment e = expert_layers();
  e.software.forward_issue_us = 2;
  e.software.expert_issue_us = 3;
  e.software.dispatch_waits_for_host = true;
  e.plan.cuda_graphs = CudaGraphs::layers;
  // Routing and the sum at the end are a graph each; sorting, activation and sorting back, and four products.
  CHECK(host_time(e, Phase::forward) == 2 * (2 * 2 + 3 * 2 + 4 * 3) * 1'000'000);
  CHECK(host_waits(e, Phase::forward) == 2);
  e.plan.cuda_graphs = CudaGraphs::step;
  CHECK(host_time(e, Phase::forward) == 0);
  CHECK(host_waits(e, Phase::forward) == 0);
}

TEST_CASE("gradients are added up by a kernel of their own or inside the products that make them") {
  Experiment e = expert_layers();
  e.software.accumulation_bytes_per_parameter = 8;
  const auto traffic = [&](Kernel::Kind kind) {
    const Workload w = lower(e);
    std::int64_t sum = 0;
    for (const Op& op : w.programs[0].ops) {
      if (op.kind != Op::Kind::compute || op.phase != Phase::backward) continue;
      for (const Kernel& kernel : w.kernel_sequences[op.work].kernels)
        sum += kernel.kind == kind ? kernel.bytes : 0;
    }
    return sum;
  };
  const std::int64_t apart = traffic(Kernel::Kind::memory);
  CHECK(traffic(Kernel::Kind::gemm) == 0);
  e.software.fuses_accumulation = true;
  // 8 bytes of each weight are no kernel's; of those that products make, 6 beside their 16-bit result.
  // Attention has 4 h^2, a rank 2 experts of 2 h f, the head V h; the embedding is no product.
  const std::int64_t made = 2 * (4 * 256 * 256 + 2 * 2 * 256 * 512) + 1024 * 256;
  CHECK(apart - traffic(Kernel::Kind::memory) == 8 * made);
  CHECK(traffic(Kernel::Kind::gemm) == 6 * made);
}

// Four ranks route 128 tokens each to 2 of 8 experts: 256 rows of 256 values on two experts. Forward for each
// expert 4 and 10 bytes a value, then 8 and 6; backward 6 and 4, and 6, 8, 4, 8, 4 for each expert.
TEST_CASE("biases of experts are kernels of their own") {
  Experiment e = expert_layers();
  const auto traffic = [&](Phase phase) {
    const Workload w = lower(e);
    return count_ops(w, phase, [&](const Op& op) {
      Bytes sum = 0;
      if (op.kind != Op::Kind::compute) return sum;
      for (const Kernel& kernel : w.kernel_sequences[op.work].kernels)
        if (kernel.kind == Kernel::Kind::memory) sum += kernel.bytes;
      return sum;
    });
  };
  const auto kernels = [&](Phase phase) {
    const Workload w = lower(e);
    return count_ops(w, phase, [&](const Op& op) {
      return op.kind == Op::Kind::compute ? std::ssize(w.kernel_sequences[op.work].kernels) : 0;
    });
  };
  e.software.expert_bias_kernels = true;
  const Bytes ahead = traffic(Phase::forward), back = traffic(Phase::backward);
  const std::int64_t few = kernels(Phase::forward), few_back = kernels(Phase::backward);
  e.model.biases = true;
  constexpr Bytes kValues = 256 * 256;
  CHECK(traffic(Phase::forward) == ahead + 2 * kValues * (4 + 10 + 8 + 6));
  CHECK(traffic(Phase::backward) == back + 2 * kValues * (6 + 6 + 8 + 4 + 8 + 4 + 4));
  CHECK(kernels(Phase::forward) == few + 2 * (2 * 2 + 2));
  CHECK(kernels(Phase::backward) == few_back + 2 * (5 * 2 + 2));
  // Without a kernel for the gradient of the first product's bias that product makes it.
  e.software.bias_gradient_kernels = true;
  CHECK(traffic(Phase::backward) == back + 2 * (kValues * 40 + 256 * 512 * 2));
  e.software.expert_bias_kernels = false;
  CHECK(traffic(Phase::backward) == back + 2 * 2 * (kValues + 256 * 512));
  CHECK(traffic(Phase::forward) == ahead);
}

// Each rank has 256 rows of 2 x 512 values before the gate. Forward 2 bytes for the clamp of each half and 4
// to join them, of each value; backward a half compares once (3) or twice and joins (9) and chooses (5), in
// the mean 11 bytes, and 4 to join. Biases cost 28 and 40 bytes of each of 256 x 256 values.
TEST_CASE("gated experts with biases clamp, as kernels of their own where biases are") {
  Experiment e = expert_layers();
  e.model.gated_mlp = true;
  e.software.bias_gradient_kernels = false;
  const auto traffic = [&](Phase phase) {
    const Workload w = lower(e);
    return count_ops(w, phase, [&](const Op& op) {
      Bytes sum = 0;
      if (op.kind != Op::Kind::compute) return sum;
      for (const Kernel& kernel : w.kernel_sequences[op.work].kernels)
        if (kernel.kind == Kernel::Kind::memory) sum += kernel.bytes;
      return sum;
    });
  };
  e.software.expert_bias_kernels = true;
  const Bytes ahead = traffic(Phase::forward), back = traffic(Phase::backward);
  e.model.biases = true;
  constexpr Bytes kInputs = 256 * 2 * 512, kValues = 256 * 256;
  CHECK(traffic(Phase::forward) == ahead + 2 * (kInputs * 8 + kValues * 28));
  CHECK(traffic(Phase::backward) == back + 2 * (kInputs * 15 + kValues * 40));
  e.software.expert_bias_kernels = false;
  CHECK(traffic(Phase::forward) == ahead);
}

// Four ranks share the experts. On two nodes of two, messages go over NVLink to the rail of their receiver
// and on from there; on four nodes of one, or one of four, they do not. Hops without duplicates are DeepEP's.
TEST_CASE("all-to-alls among several ranks of several nodes reach 40 of 48 GB/s of a NIC") {
  Experiment e = expert_layers();
  const auto slowest = [&](std::int64_t nodes, std::int64_t gpus) {
    e.cluster.nodes = nodes;
    e.cluster.gpus_per_node = gpus;
    double share = 1;
    for (const Message& message : lower(e).messages) share = std::min(share, message.efficiency);
    return share;
  };
  CHECK(slowest(1, 4) == 1);
  CHECK(slowest(4, 1) == 1);
  CHECK(slowest(2, 2) == doctest::Approx(40.0 / 48));
  e.plan.dispatcher = Dispatcher::deduplicated;
  CHECK(slowest(2, 2) == 1);
}

namespace {

/// Kernels of the pass through the experts that holds their products, from the first product to the last.
std::vector<Kernel> between_products(const Experiment& e, Phase phase) {
  const Workload w = lower(e);
  for (const Op& op : w.programs[0].ops) {
    if (op.part != Part::experts || op.phase != phase || op.kind != Op::Kind::compute) continue;
    std::vector<Kernel> kernels = w.kernel_sequences[op.work].kernels;
    const auto grouped = [](const Kernel& kernel) { return kernel.grouped; };
    const auto first = std::ranges::find_if(kernels, grouped);
    if (first == kernels.end()) continue;
    kernels.erase(kernels.begin(), first);
    while (!kernels.back().grouped) kernels.pop_back();
    return kernels;
  }
  return {};
}

}  // namespace

TEST_CASE("a fused MLP of experts leaves nothing to run between its products") {
  Experiment e = expert_layers();
  e.plan.precision = Precision::fp8;
  e.software.fuses_expert_mlp = true;
  CHECK(between_products(e, Phase::forward).size() ==
        3);  // product, activation, product: no graph of the step
  e.plan.cuda_graphs = CudaGraphs::step;
  const std::vector<Kernel> ahead = between_products(e, Phase::forward);
  REQUIRE(ahead.size() == 2);
  const std::int64_t rows = ahead[0].batch * ahead[0].m;
  CHECK(ahead[0].launches() == 1);
  CHECK(ahead[0].bytes == 2 * rows * 512);  // the activation in 8 bits, as it is and transposed
  CHECK(!ahead[0].left_ready);
  CHECK(ahead[1].left_ready);
  // Gradients of the input, and of both weights.
  std::vector<Kernel> back = between_products(e, Phase::backward);
  REQUIRE(back.size() == 5);
  CHECK(!back[2].grouped);  // rows go back to the order of their ranks
  back.erase(back.begin() + 2);
  // No gate: reads what went into the activation in 16 bits, writes its gradient twice in 8 bits in place of
  // the activation's once in 16: 2 + 2 - 2 bytes a value.
  CHECK(back[0].bytes == 2 * rows * 512);
  CHECK(back[1].left_ready);
  CHECK(back[2].left_ready);  // of the second weight: its input came cast
  CHECK(!back[2].right_ready);
  CHECK(!back[3].left_ready);
  CHECK(back[3].right_ready);  // of the first: the gradient of its output did
}

TEST_CASE("weights are cast with each micro-batch, or once a step") {
  Experiment e = expert_layers();
  e.plan.precision = Precision::fp8;
  const auto cast = [&] {
    const std::vector<Kernel> kernels = between_products(e, Phase::forward);
    return !kernels.front().right_ready && !kernels.back().right_ready;
  };
  CHECK(cast());
  e.software.keeps_cast_weights = true;
  CHECK(!cast());
  e.plan.zero_stage = 3;  // gathered and freed
  CHECK(cast());
  e.plan.zero_stage = 0;
  e.plan.precision = Precision::bf16;
  CHECK(cast());
}
