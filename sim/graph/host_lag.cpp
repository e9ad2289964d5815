#include "sim/graph/host_lag.hpp"

#include <algorithm>

namespace orrery {
namespace {

bool is_host(const Op& op) { return op.stream == Stream::host; }

Picoseconds issue_time(const PassWork& pass, const Workload& workload) {
  Picoseconds sum = 0;
  for (const PassStep& step : pass) {
    sum = capped_sum(
        sum, step.communicates ? workload.messages[step.work].host_ps : workload.works[step.work].host_ps);
  }
  return sum;
}

std::vector<Picoseconds> lags_of(const Program& program, const Workload& workload,
                                 std::span<const ComputePrice> works,
                                 std::span<const Picoseconds> pass_issue) {
  std::vector<Picoseconds> lags(program.ops.size(), 0);
  bool hosted = false;
  Picoseconds issued = 0;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!hosted && !is_host(op)) continue;
    if (is_host(op)) {
      lags[i] = issued;
      issued = 0;
      hosted = true;
    } else if (op.kind == Op::Kind::compute) {
      lags[i] = earliest_start(workload.works[op.work], works[op.work].duration_ps, issued);
      issued = capped_sum(issued, workload.works[op.work].host_ps);
    } else if (op.kind == Op::Kind::pass) {
      lags[i] = issued;
      issued = capped_sum(issued, pass_issue[op.work]);
    } else {
      issued = capped_sum(issued, workload.messages[op.work].host_ps);
    }
  }
  return lags;
}

}  // namespace

Picoseconds earliest_start(const ComputeWork& work, Picoseconds duration, Picoseconds issued) {
  const auto kernels = static_cast<Picoseconds>(std::max<std::size_t>(work.kernels.size(), 1));
  const Picoseconds first = capped_sum(issued, work.host_ps / kernels);
  const Picoseconds last = capped_sum(issued, work.host_ps) - duration / kernels * (kernels - 1);
  return std::max(first, last);
}

HostLags host_lags(const Workload& workload, std::span<const ComputePrice> works) {
  const auto hosted = [](const Program& program) { return std::ranges::any_of(program.ops, is_host); };
  if (std::ranges::none_of(workload.programs, hosted)) return {};
  std::vector<Picoseconds> pass_issue;
  for (const PassWork& pass : workload.passes) pass_issue.push_back(issue_time(pass, workload));
  HostLags lags;
  for (const Program& program : workload.programs)
    lags.push_back(lags_of(program, workload, works, pass_issue));
  return lags;
}

}  // namespace orrery
