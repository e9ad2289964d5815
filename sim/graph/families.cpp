#include "sim/graph/families.hpp"

#include <algorithm>
#include <string>

#include "orrery/error.hpp"

namespace orrery {
namespace {

std::string describe(const Workload& workload, OpRef at) {
  const Op& op = workload.programs[at.program].ops[at.op];
  std::string text = "stage " + std::to_string(at.program) + ": ";
  text += kPhaseNames[static_cast<std::size_t>(op.phase)];
  text += ' ';
  text += kPartNames[static_cast<std::size_t>(op.part)];
  if (op.layer >= 0) text += " " + std::to_string(op.layer);
  if (op.micro_batch >= 0) text += " of micro-batch " + std::to_string(op.micro_batch);
  text += " (";
  text += stream_name(op.stream);
  return text + ")";
}

/// What the operations of a program wait for on their own rank.
class Predecessors {
 public:
  Predecessors(const Program& program, std::vector<std::uint32_t>& begin, std::vector<std::uint32_t>& list)
      : program_(program), begin_(begin), list_(list) {
    begin_.reserve(program.ops.size() + 1);
    begin_.push_back(0);
    list_.reserve(program.deps.size() + 2 * program.ops.size());
  }

  /// Of the next operation, which follows `before` on its stream and is issued after `host`.
  void add(const Op& op, std::uint32_t before, std::uint32_t host) {
    bool implied = before == kNone || before == host;
    if (host != kNone) list_.push_back(host);
    for (const std::uint32_t dep : program_.dependencies(op)) {
      if (lists(begin_.back(), list_.size(), dep)) continue;
      list_.push_back(dep);
      implied = implied || dep == before || lists(begin_[dep], begin_[dep + 1], before);
    }
    if (!implied) list_.push_back(before);
    begin_.push_back(static_cast<std::uint32_t>(list_.size()));
  }

 private:
  [[nodiscard]] bool lists(std::size_t first, std::size_t last, std::uint32_t op) const {
    for (; first < last; ++first) {
      if (list_[first] == op) return true;
    }
    return false;
  }

  const Program& program_;
  std::vector<std::uint32_t>& begin_;
  std::vector<std::uint32_t>& list_;
};

class FamilyMaker {
 public:
  FamilyMaker(const Workload& workload, const Channels& channels)
      : workload_(workload), channels_(channels) {}

  Families make() {
    number_families();
    find_predecessors();
    collect_ops();
    sort();
    return std::move(result_);
  }

 private:
  void number_families();
  void find_predecessors();
  void collect_ops();
  void sort();
  [[noreturn]] void explain_deadlock(const std::vector<std::uint32_t>& waiting) const;

  template <class Visit>
  void for_each_successor_edge(Visit visit) const {
    for (std::size_t p = 0; p < result_.of.size(); ++p) {
      const std::uint32_t* const of = result_.of[p].data();
      const std::uint32_t* const begin = result_.predecessor_begin[p].data();
      const std::uint32_t* before = result_.predecessors[p].data();
      for (std::size_t o = 0; o < result_.of[p].size(); ++o) {
        for (const std::uint32_t* const last = before + (begin[o + 1] - begin[o]); before != last; ++before)
          visit(of[*before], of[o]);
      }
    }
  }

  const Workload& workload_;
  const Channels& channels_;
  Families result_;
  std::uint32_t families_ = 0;
};

void FamilyMaker::number_families() {
  families_ = channels_.families;
  std::vector<std::uint32_t> next;  // per slot, of the program at hand
  for (std::uint32_t p = 0; p < workload_.programs.size(); ++p) {
    next.assign(workload_.slots, kNone);
    for (std::size_t slot = 0; slot < workload_.slots; ++slot) {
      const std::uint32_t channel = channels_.channel_of[p * workload_.slots + slot];
      if (channel != kNone) next[slot] = channels_.channels[channel].first_family;
    }
    std::vector<std::uint32_t>& of = result_.of.emplace_back();
    of.reserve(workload_.programs[p].ops.size());
    for (const Op& op : workload_.programs[p].ops)
      of.push_back(op.kind == Op::Kind::compute ? families_++ : next[op.slot]++);
  }
}

void FamilyMaker::find_predecessors() {
  for (const Program& program : workload_.programs) {
    std::vector<std::uint32_t> latest(workload_.streams, kNone);
    Predecessors list(program, result_.predecessor_begin.emplace_back(), result_.predecessors.emplace_back());
    for (std::uint32_t o = 0; o < program.ops.size(); ++o) {
      const Op& op = program.ops[o];
      std::uint32_t& before = latest[static_cast<std::size_t>(op.stream)];
      const bool issued = op.kind != Op::Kind::communicate;
      list.add(op, before, issued ? latest[static_cast<std::size_t>(Stream::host)] : kNone);
      before = o;
    }
  }
}

void FamilyMaker::collect_ops() {
  result_.ops_begin.assign(families_ + 1, 0);
  for (const auto& of : result_.of) {
    for (const std::uint32_t family : of) ++result_.ops_begin[family + 1];
  }
  for (std::uint32_t f = 0; f < families_; ++f) result_.ops_begin[f + 1] += result_.ops_begin[f];
  result_.family_ops.resize(result_.ops_begin[families_]);
  std::vector<std::uint32_t> next(result_.ops_begin.begin(), result_.ops_begin.end() - 1);
  for (std::uint32_t p = 0; p < result_.of.size(); ++p) {
    for (std::uint32_t o = 0; o < result_.of[p].size(); ++o)
      result_.family_ops[next[result_.of[p][o]]++] = {p, o};
  }
}

/// Kahn's algorithm, first come first served.
void FamilyMaker::sort() {
  std::vector<std::uint32_t> waits(families_, 0);
  std::vector<std::uint32_t> begin(families_ + 1, 0);
  for_each_successor_edge([&](std::uint32_t from, std::uint32_t to) {
    ++begin[from + 1];
    ++waits[to];
  });
  for (std::uint32_t f = 0; f < families_; ++f) begin[f + 1] += begin[f];
  std::vector<std::uint32_t> successors(begin[families_]);
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for_each_successor_edge([&](std::uint32_t from, std::uint32_t to) { successors[next[from]++] = to; });

  auto& order = result_.order;
  order.resize(families_);
  std::uint32_t* end = order.data();
  for (std::uint32_t f = 0; f < families_; ++f) {
    if (waits[f] == 0) *end++ = f;
  }
  for (const std::uint32_t* at = order.data(); at != end; ++at) {
    for (std::uint32_t e = begin[*at]; e < begin[*at + 1]; ++e) {
      if (--waits[successors[e]] == 0) *end++ = successors[e];
    }
  }
  if (end != order.data() + families_) explain_deadlock(waits);
}

/// Follows waiting operations backwards until one comes up twice.
void FamilyMaker::explain_deadlock(const std::vector<std::uint32_t>& waiting) const {
  const auto cause = [&](std::uint32_t family, OpRef& from, OpRef& to) {
    for (std::uint32_t i = result_.ops_begin[family]; i < result_.ops_begin[family + 1]; ++i) {
      from = result_.family_ops[i];
      const auto& begin = result_.predecessor_begin[from.program];
      for (std::uint32_t e = begin[from.op]; e < begin[from.op + 1]; ++e) {
        to = {from.program, result_.predecessors[from.program][e]};
        const std::uint32_t before = result_.of[to.program][to.op];
        if (waiting[before] > 0) return before;
      }
    }
    return kNone;
  };
  std::uint32_t family = 0;
  while (waiting[family] == 0) ++family;
  std::vector<bool> seen(families_, false);
  OpRef from;
  OpRef to;
  while (!seen[family]) {
    seen[family] = true;
    family = cause(family, from, to);
  }
  std::string text = "deadlock:";
  const std::uint32_t start = family;
  do {
    family = cause(family, from, to);
    text += "\n  " + describe(workload_, from) + " waits for " + describe(workload_, to);
  } while (family != start);
  throw RunError(text);
}

}  // namespace

Families make_families(const Workload& workload, const Channels& channels) {
  return FamilyMaker(workload, channels).make();
}

}  // namespace orrery
