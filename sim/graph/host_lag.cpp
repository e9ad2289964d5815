#include "sim/graph/host_lag.hpp"

#include <algorithm>

namespace orrery {
namespace {

Picoseconds issue_time(const PassWork& pass, const Workload& workload) {
  Picoseconds sum = 0;
  for (const PassStep& step : pass) {
    sum = capped_sum(
        sum, step.communicates ? workload.messages[step.work].host_ps : workload.works[step.work].host_ps);
  }
  return sum;
}

}  // namespace

Picoseconds earliest_start(const ComputeWork& work, Picoseconds duration, Picoseconds issued) {
  const auto kernels = static_cast<Picoseconds>(std::max<std::size_t>(work.kernels.size(), 1));
  const Picoseconds first = capped_sum(issued, work.host_ps / kernels);
  const Picoseconds last = capped_sum(issued, work.host_ps) - duration / kernels * (kernels - 1);
  return std::max(first, last);
}

HostClock::HostClock(const Workload& workload, std::span<const ComputePrice> works)
    : messages_(workload.messages) {
  for (std::size_t w = 0; w < works.size(); ++w) {
    const ComputeWork& work = workload.works[w];
    works_.push_back({earliest_start(work, works[w].duration_ps, 0), work.host_ps});
  }
  for (const PassWork& pass : workload.passes) passes_.push_back(issue_time(pass, workload));
}

bool is_hosted(const Workload& workload) {
  return std::ranges::any_of(workload.programs, [](const Program& program) {
    return std::ranges::any_of(program.ops, [](const Op& op) { return op.stream == Stream::host; });
  });
}

}  // namespace orrery
