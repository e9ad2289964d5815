#include "sim/graph/host_lag.hpp"

#include <algorithm>

#include "sim/graph/signature.hpp"

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

HostLags::HostLags(const Workload& workload) {
  SignatureTable table;
  for (const Program& program : workload.programs) {
    std::vector<std::uint32_t>& of = of_.emplace_back(program.ops.size(), kNone);
    bool hosted = false;
    std::uint32_t before = kNone;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      const bool host = op.stream == Stream::host;
      if (hosted || host) {
        Signature key;
        key.append(before);
        key.append(std::uint64_t{op.work} << 8 | static_cast<std::uint64_t>(op.kind) << 1 | (host ? 1U : 0U));
        const std::uint32_t issue = table.number(key);
        if (issue == issues_.size()) issues_.push_back({before, op.work, op.kind, host});
        if (op.kind != Op::Kind::communicate) of[i] = issue;
        before = host ? kNone : issue;
      }
      hosted = hosted || host;
    }
  }
}

std::vector<Picoseconds> HostLags::values(const Workload& workload,
                                          std::span<const ComputePrice> works) const {
  std::vector<Picoseconds> lags;
  std::vector<Picoseconds> issued;  // with the operation itself
  lags.reserve(issues_.size());
  issued.reserve(issues_.size());
  std::vector<Picoseconds> of_pass;
  for (const PassWork& pass : workload.passes) of_pass.push_back(issue_time(pass, workload));
  for (const Issue& issue : issues_) {
    const Picoseconds before = issue.before == kNone ? 0 : issued[issue.before];
    Picoseconds lag = before;
    Picoseconds own = 0;
    switch (issue.kind) {
      case Op::Kind::compute:
        if (!issue.host)
          lag = earliest_start(workload.works[issue.work], works[issue.work].duration_ps, before);
        own = workload.works[issue.work].host_ps;
        break;
      case Op::Kind::pass:
        own = of_pass[issue.work];
        break;
      case Op::Kind::communicate:
        own = workload.messages[issue.work].host_ps;
        break;
    }
    lags.push_back(lag);
    issued.push_back(capped_sum(before, own));
  }
  return lags;
}

bool is_hosted(const Workload& workload) {
  return std::ranges::any_of(workload.programs, [](const Program& program) {
    return std::ranges::any_of(program.ops, [](const Op& op) { return op.stream == Stream::host; });
  });
}

}  // namespace orrery
