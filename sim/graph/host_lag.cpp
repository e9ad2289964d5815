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

/// Finds the issue of an operation in the tree, or adds it. What followed an issue last mostly follows it
/// again.
class HostLags::Tree {
 public:
  explicit Tree(std::vector<Issue>& issues) : issues_(issues) {}

  std::uint32_t number(const Issue& issue) {
    std::uint32_t& latest = issue.before == kNone ? latest_first_ : latest_[issue.before];
    if (latest != kNone && issues_[latest] == issue) return latest;
    Signature key;
    key.append(issue.before);
    key.append(std::uint64_t{issue.work} << 8 | static_cast<std::uint64_t>(issue.kind) << 1 |
               (issue.host ? 1U : 0U));
    const std::uint32_t number = table_.number(key);
    latest = number;
    if (number == issues_.size()) {
      issues_.push_back(issue);
      latest_.push_back(kNone);
    }
    return number;
  }

 private:
  std::vector<Issue>& issues_;
  SignatureTable table_;
  std::uint32_t latest_first_ = kNone;
  std::vector<std::uint32_t> latest_;  ///< per issue: of those after it
};

std::vector<std::vector<std::uint32_t>> HostLags::add(const Workload& workload) {
  Tree tree(issues_);
  std::vector<std::vector<std::uint32_t>> numbers;
  for (const Program& program : workload.programs) {
    std::vector<std::uint32_t>& of = numbers.emplace_back(program.ops.size(), kNone);
    bool hosted = false;
    std::uint32_t before = kNone;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      const bool host = op.stream == Stream::host;
      hosted = hosted || host;
      if (!hosted) continue;
      const std::uint32_t issue = tree.number({before, op.work, op.kind, host});
      if (op.kind != Op::Kind::communicate) of[i] = issue;
      before = host ? kNone : issue;
    }
  }
  return numbers;
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
