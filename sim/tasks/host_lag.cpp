#include "sim/tasks/host_lag.hpp"

#include <algorithm>

namespace orrery {
namespace {

Picoseconds issue_time(const PassWork& pass, const Workload& workload) {
  Picoseconds sum = 0;
  for (const PassStep& step : pass) {
    const Picoseconds own = step.communicates ? workload.messages[step.work].host_ps
                                              : workload.kernel_sequences[step.work].host_ps;
    sum = capped_sum(sum, own);
  }
  return sum;
}

}  // namespace

/// Finds the issue of an operation in the tree, or adds it.
class HostLags::Tree {
 public:
  explicit Tree(std::vector<Issue>& issues) : issues_(issues), nodes_(1) {}

  std::uint32_t number(std::uint32_t before, const Op& op, bool host) {
    for (std::uint32_t node = nodes_[before + 1].first; node != 0; node = nodes_[node].next) {
      const Issue& issue = issues_[node - 1];
      if (issue.work == op.work && issue.kind == op.kind && issue.host == host) return node - 1;
    }
    return add({before, op.work, op.kind, host});
  }

 private:
  struct Node {
    std::uint32_t first = 0;  ///< of those after it; 0: none
    std::uint32_t next = 0;   ///< after the same; 0: none
  };
  std::uint32_t add(const Issue& issue);

  std::vector<Issue>& issues_;
  std::vector<Node> nodes_;  ///< per number + 1, after the one of kNone
};

[[gnu::noinline]] std::uint32_t HostLags::Tree::add(const Issue& issue) {
  const auto number = static_cast<std::uint32_t>(issues_.size());
  nodes_.push_back({0, nodes_[issue.before + 1].first});
  nodes_[issue.before + 1].first = number + 1;
  issues_.push_back(issue);
  return number;
}

std::vector<std::uint32_t> HostLags::add(const Workload& workload) {
  Tree tree(issues_.edit());
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
                                          std::span<const ComputePrice> kernel_sequences) const {
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
          lag = earliest_start(workload.kernel_sequences[issue.work],
                               kernel_sequences[issue.work].duration_ps, before);
        own = workload.kernel_sequences[issue.work].host_ps;
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
