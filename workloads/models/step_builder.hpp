// Writes the steps of a block and the kernels behind them. Used by the model families only.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "workloads/models/blocks.hpp"

namespace orrery {

/// Products A (m x k) by B (k x n), `batch` of them.
[[nodiscard]] inline Kernel gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
  return {Kernel::Kind::gemm, batch, m, n, k, 0, 2 * batch * m * n * k};
}
/// Returns `batch` products, each with a weight of its own, such as the experts of a rank. The host issues
/// them one by one.
[[nodiscard]] inline Kernel grouped_gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) {
  Kernel kernel = gemm(m, n, k, batch);
  kernel.grouped = true;
  return kernel;
}
[[nodiscard]] inline Kernel memory(Bytes bytes) { return {Kernel::Kind::memory, 1, 0, 0, 0, bytes, 0}; }

/// Returns the kernel as one of a class.
[[nodiscard]] inline Kernel as(KernelClass use, Kernel kernel) {
  kernel.use = use;
  return kernel;
}
[[nodiscard]] inline std::vector<Kernel> all_as(KernelClass use, std::vector<Kernel> kernels) {
  for (Kernel& kernel : kernels) kernel.use = use;
  return kernels;
}

/// Returns a copy over the link to the host.
[[nodiscard]] inline Kernel host_copy(Bytes bytes) { return {Kernel::Kind::host_copy, 1, 0, 0, 0, bytes, 0}; }

/// Returns the memory traffic of `count` values of `bytes_each` bytes.
[[nodiscard]] inline Kernel scaled(std::int64_t count, double bytes_each) {
  return memory(static_cast<Bytes>(static_cast<double>(count) * bytes_each + 0.5));
}

/// Gradients of a product's input (m x k) and weight (k x n).
[[nodiscard]] inline Kernel input_gradient(const Kernel& p) {
  Kernel kernel = p.grouped ? grouped_gemm(p.m, p.k, p.n, p.batch) : gemm(p.m, p.k, p.n, p.batch);
  kernel.in_16_bits = p.in_16_bits;
  kernel.use = p.use;
  kernel.at_once = p.at_once;
  kernel.right_ready = p.right_ready;
  return kernel;
}
/// Its operands are the input of `p` and the gradient of its output.
[[nodiscard]] inline Kernel weight_gradient(const Kernel& p) {
  Kernel kernel = p.grouped ? grouped_gemm(p.k, p.n, p.m, p.batch) : gemm(p.k, p.n, p.m, p.batch);
  kernel.in_16_bits = p.in_16_bits;
  kernel.use = p.use;
  kernel.at_once = p.at_once;
  kernel.left_ready = p.left_ready;
  return kernel;
}

/// Returns the latter, adding to sums of which it moves `sum_bytes` each beside its result.
[[nodiscard]] inline Kernel weight_gradient(const Kernel& p, double sum_bytes) {
  Kernel kernel = weight_gradient(p);
  kernel.bytes = scaled(kernel.batch * kernel.m * kernel.n, sum_bytes).bytes;
  return kernel;
}

class StepBuilder {
 public:
  StepBuilder(const Experiment& experiment, Workload& workload, Phase phase)
      : software_(experiment.software), plan_(experiment.plan), workload_(workload), phase_(phase) {
    steps_.reserve(kUsualSteps);
  }

  /// Adds a compute step after step `after`, for which the host works for `more_host_ps` beside issuing its
  /// kernels; its index.
  std::int32_t compute(Part part, std::vector<Kernel> kernels, std::int32_t after,
                       Picoseconds more_host_ps = 0);
  /// Adds a wait of the host for step `after`; later steps are issued after that. Returns its index.
  std::int32_t wait_on_host(Part part, std::int32_t after);
  /// Selects the precision of a kind of traffic.
  using Wire = std::optional<Precision> WirePrecision::*;

  /// Adds a collective of activations or their gradients in a communicator after step `after`, with the casts
  /// that its wire precision asks for; the index of the last step. Bytes as in Message, in the width in which
  /// they are kept. `wire`: where the communicator alone does not say it. `efficiency`: as
  /// Message::efficiency.
  std::int32_t collective(Part part, Collective collective, Bytes bytes, std::int32_t after,
                          Slot communicator = Slot::tensor, Wire wire = nullptr, double efficiency = 1);
  /// Adds a collective whose values travel as they are; returns the index of its step.
  std::int32_t collective_as_is(Part part, Collective collective, Bytes bytes, std::int32_t after,
                                Slot communicator = Slot::tensor, double efficiency = 1);
  /// The steps, of which `output` produces the result.
  [[nodiscard]] Steps finish(std::int32_t output) && { return {std::move(steps_), output}; }

 private:
  static constexpr std::size_t kUsualSteps = 8;  // of a block in one direction

  [[nodiscard]] Picoseconds issue_time(const std::vector<Kernel>& kernels) const;

  std::int32_t add(const Step& step);
  [[nodiscard]] std::optional<Precision> sent_in(Collective collective, Slot communicator) const;
  /// Returns the ranks of groups that gather or reduce-scatter.
  [[nodiscard]] std::int64_t ranks_of(Slot communicator) const;

  const Software& software_;
  const Plan& plan_;
  Workload& workload_;
  Phase phase_;
  std::vector<Step> steps_;
};

/// `message` so often in a row.
[[nodiscard]] Message in_a_row(Message message, std::uint32_t times);
/// Index of the message in the workload, added if it is new.
std::uint32_t add_message(Workload& workload, const Message& message);
/// Index of the pass in the workload, added if it is new.
std::uint32_t add_pass(Workload& workload, PassWork pass);
/// Returns the index of the work in the workload, and adds it if it is new; for work that every stage has.
std::uint32_t find_work(Workload& workload, std::vector<Kernel> kernels, Picoseconds host_ps);
/// Index of the work in the workload, added at the end. `host_ps`: CPU time to issue its kernels.
std::uint32_t add_work(Workload& workload, std::vector<Kernel> kernels, Picoseconds host_ps);

}  // namespace orrery
