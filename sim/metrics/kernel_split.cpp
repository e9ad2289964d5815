#include "sim/metrics/kernel_split.hpp"

#include <algorithm>
#include <functional>

namespace orrery {
namespace {

void add(const KernelWeights& from, KernelWeights& to) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
}

KernelWeights weights_of(const PassWork& pass, const std::vector<KernelWeights>& kernel_sequences) {
  KernelWeights sum{};
  for (const PassStep& step : pass)
    if (!step.communicates) add(kernel_sequences[step.work], sum);
  return sum;
}

}  // namespace

KernelSplit::KernelSplit(const KernelWeights& weights) {
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] > 0) shares_.push_back({k, weights[k]});
    sum_ += weights[k];
  }
  std::ranges::stable_sort(shares_, std::greater<>(), &Share::weight);
  if (shares_.empty()) shares_.push_back({static_cast<std::size_t>(KernelClass::other), 0});
}

void KernelSplit::split(Picoseconds duration, std::vector<Picoseconds>& sums) const {
  sums.resize(kKernelClassCount);
  Picoseconds left = duration;
  for (const Share& share : shares_) {
    if (share.weight == 0) break;
    const auto part = static_cast<Picoseconds>(Int128{duration} * share.weight / sum_);
    sums[share.kernel_class] += part;
    left -= part;
  }
  sums[shares_.front().kernel_class] += left;
}

WorkloadKernels workload_kernels(const Workload& workload, const Experiment& experiment) {
  std::vector<KernelWeights> weights;
  for (const KernelSequence& work : workload.kernel_sequences)
    weights.push_back(kernel_weights(work, experiment.cluster.gpu_of_class(0), experiment.software,
                                     experiment.plan.precision));
  WorkloadKernels kernels;
  for (const KernelWeights& one : weights) kernels.kernel_sequences.emplace_back(one);
  for (const PassWork& pass : workload.passes) kernels.passes.emplace_back(weights_of(pass, weights));
  return kernels;
}

}  // namespace orrery
