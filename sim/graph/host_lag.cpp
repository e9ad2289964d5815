#include "sim/graph/host_lag.hpp"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

/// Of times that are not negative; the engine refuses the end of 64 bits and much less.
Picoseconds capped_sum(Picoseconds a, Picoseconds b) {
  constexpr Picoseconds kLongest = std::numeric_limits<Picoseconds>::max();
  return b > kLongest - a ? kLongest : a + b;
}

bool is_host(const Op& op) { return op.stream == Stream::host; }

/// Earliest start of an operation whose issue begins `issued` after the host was last free.
Picoseconds earliest_start(const ComputeWork& work, Picoseconds duration, Picoseconds issued) {
  const auto kernels = static_cast<Picoseconds>(std::max<std::size_t>(work.kernels.size(), 1));
  const Picoseconds first = capped_sum(issued, work.host_ps / kernels);
  const Picoseconds last = capped_sum(issued, work.host_ps) - duration / kernels * (kernels - 1);
  return std::max(first, last);
}

std::vector<Picoseconds> lags_of(const Program& program, const Workload& workload,
                                 std::span<const ComputePrice> works) {
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
    } else {
      issued = capped_sum(issued, workload.messages[op.work].host_ps);
    }
  }
  return lags;
}

}  // namespace

HostLags host_lags(const Workload& workload, std::span<const ComputePrice> works) {
  const auto hosted = [](const Program& program) { return std::ranges::any_of(program.ops, is_host); };
  if (std::ranges::none_of(workload.programs, hosted)) return {};
  HostLags lags;
  for (const Program& program : workload.programs) lags.push_back(lags_of(program, workload, works));
  return lags;
}

}  // namespace orrery
