#include "sim/graph/host_lag.hpp"

#include <algorithm>

namespace orrery {
namespace {

Picoseconds issue_time(const PassWork& pass, const Workload& workload) {
  Int128 sum = 0;
  for (const PassStep& step : pass)
    sum += step.communicates ? workload.messages[step.work].host_ps : workload.works[step.work].host_ps;
  return static_cast<Picoseconds>(std::min<Int128>(sum, std::numeric_limits<Picoseconds>::max()));
}

}  // namespace

Picoseconds earliest_start(const ComputeWork& work, Picoseconds duration, Picoseconds issued) {
  const auto kernels = static_cast<Picoseconds>(std::max<std::size_t>(work.kernels.size(), 1));
  const Picoseconds first = capped_sum(issued, work.host_ps / kernels);
  const Picoseconds last = capped_sum(issued, work.host_ps) - duration / kernels * (kernels - 1);
  return std::max(first, last);
}

/// Finds the issue of an operation in the tree, or adds it.
class HostLags::Tree {
 public:
  explicit Tree(std::vector<Issue>& issues) : issues_(issues), nodes_(1) {}

  std::uint32_t number(std::uint32_t before, const Op& op, bool host) {
    const std::uint64_t what =
        std::uint64_t{op.work} << 8 | static_cast<std::uint64_t>(op.kind) << 1 | (host ? 1U : 0U);
    for (std::uint32_t node = nodes_[before + 1].first; node != 0; node = nodes_[node].next) {
      if (nodes_[node].what == what) return node - 1;
    }
    const auto number = static_cast<std::uint32_t>(issues_.size());
    nodes_.push_back({what, 0, nodes_[before + 1].first});
    nodes_[before + 1].first = number + 1;
    issues_.push_back({before, op.work, op.kind, host});
    return number;
  }

 private:
  struct Node {
    std::uint64_t what = 0;
    std::uint32_t first = 0;  ///< of those after it; 0: none
    std::uint32_t next = 0;   ///< after the same; 0: none
  };
  std::vector<Issue>& issues_;
  std::vector<Node> nodes_;  ///< per number + 1, after the one of kNone
};

std::vector<std::uint32_t> HostLags::add(const Workload& workload) {
  Tree tree(issues_);
  std::size_t ops = 0;
  for (const Program& program : workload.programs) ops += program.ops.size();
  std::vector<std::uint32_t> numbers(ops, kNone);
  std::uint32_t* number = numbers.data();
  for (const Program& program : workload.programs) {
    const auto is_host = [](const Op& op) { return op.stream == Stream::host; };
    const auto first = std::ranges::find_if(program.ops, is_host);
    number += first - program.ops.begin();
    std::uint32_t before = kNone;
    for (const Op& op : std::span(first, program.ops.end())) {
      const bool host = is_host(op);
      const std::uint32_t issue = tree.number(before, op, host);
      *number++ = op.kind == Op::Kind::communicate ? kNone : issue;
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

}  // namespace orrery
