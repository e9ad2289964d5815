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
  explicit Tree(std::vector<Issue>& issues) : issues_(issues) {}

  std::uint32_t number(std::uint32_t before, const Op& op, bool host) {
    const std::uint64_t what =
        std::uint64_t{op.work} << 8 | static_cast<std::uint64_t>(op.kind) << 1 | (host ? 1U : 0U);
    std::uint32_t* at = before == kNone ? &first_ : &nodes_[before].first;
    while (*at != kNone) {
      Node& node = nodes_[*at];
      if (node.what == what) return *at;
      at = &node.next;
    }
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    *at = number;
    nodes_.push_back({what});
    issues_.push_back({before, op.work, op.kind, host});
    return number;
  }

 private:
  struct Node {
    std::uint64_t what = 0;
    std::uint32_t first = kNone;  ///< of those after it
    std::uint32_t next = kNone;   ///< after the same
  };
  std::vector<Issue>& issues_;
  std::vector<Node> nodes_;  ///< per issue
  std::uint32_t first_ = kNone;
};

std::vector<std::vector<std::uint32_t>> HostLags::add(const Workload& workload) {
  Tree tree(issues_);
  std::vector<std::vector<std::uint32_t>> numbers;
  for (const Program& program : workload.programs) {
    std::vector<std::uint32_t>& of = numbers.emplace_back(program.ops.size(), kNone);
    const auto is_host = [](const Op& op) { return op.stream == Stream::host; };
    const auto first = std::ranges::find_if(program.ops, is_host) - program.ops.begin();
    std::uint32_t* number = of.data() + first;
    std::uint32_t before = kNone;
    for (const Op& op : std::span(program.ops).subspan(static_cast<std::size_t>(first))) {
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

bool is_hosted(const Workload& workload) {
  return std::ranges::any_of(workload.programs, [](const Program& program) {
    return std::ranges::any_of(program.ops, [](const Op& op) { return op.stream == Stream::host; });
  });
}

}  // namespace orrery
