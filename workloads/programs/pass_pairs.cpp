#include "workloads/programs/pass_pairs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace orrery {
namespace {

bool sends_tokens(const Op& op) {
  const bool of_experts = op.stream == Stream::expert || op.stream == Stream::expert_node;
  return op.kind == Op::Kind::communicate && of_experts;
}

/// The operations of a program in another order.
class Reordering {
 public:
  explicit Reordering(const Program& program) : program_(program) { order_.reserve(program.ops.size()); }

  void take_until(OpId end) {
    for (auto id = static_cast<OpId>(order_.size()); id < end; ++id) order_.push_back(id);
  }

  void take_in_turns(const PassPair& pair) {
    OpId one = pair.first;
    OpId other = pair.second;
    bool turn_of_other = false;
    while (one < pair.second || other < pair.end) {
      const bool can = other < pair.end && !waits_for(other, one, pair.second);
      const bool takes_other = one == pair.second || (turn_of_other && can);
      OpId& next = takes_other ? other : one;
      order_.push_back(next++);
      // All messages of a dispatch over nodes go together.
      const bool more = next < (takes_other ? pair.end : pair.second) && sends_tokens(op(next));
      if (sends_tokens(op(next - 1)) && !more) turn_of_other = !takes_other;
    }
  }

  [[nodiscard]] Program finish() && {
    std::vector<std::uint32_t> place(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i)
      place[static_cast<std::size_t>(order_[i])] = static_cast<std::uint32_t>(i);
    Program result;
    result.ops.reserve(order_.size());
    result.deps.reserve(program_.deps.size());
    for (const OpId id : order_) {
      Op& moved = result.ops.emplace_back(op(id));
      moved.dep_begin = static_cast<std::uint32_t>(result.deps.size());
      for (const std::uint32_t dep : program_.dependencies(op(id))) result.deps.push_back(place[dep]);
      moved.dep_end = static_cast<std::uint32_t>(result.deps.size());
    }
    return result;
  }

 private:
  [[nodiscard]] const Op& op(OpId id) const { return program_.ops[static_cast<std::size_t>(id)]; }

  /// Returns true if the operation depends on one of the operations [from, end), which are written later.
  [[nodiscard]] bool waits_for(OpId id, OpId from, OpId end) const {
    return std::ranges::any_of(program_.dependencies(op(id)), [&](std::uint32_t dep) {
      return static_cast<OpId>(dep) >= from && static_cast<OpId>(dep) < end;
    });
  }

  const Program& program_;
  std::vector<OpId> order_;
};

}  // namespace

void run_side_by_side(std::span<const PassPair> pairs, Program& program) {
  if (pairs.empty()) return;
  Reordering reordering(program);
  for (const PassPair& pair : pairs) {
    reordering.take_until(pair.first);
    reordering.take_in_turns(pair);
  }
  reordering.take_until(static_cast<OpId>(program.ops.size()));
  program = std::move(reordering).finish();
}

}  // namespace orrery
