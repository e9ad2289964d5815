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
  void add_predecessors(std::uint32_t program, std::uint32_t op, std::uint32_t before, std::uint32_t host);
  void collect_ops();
  void sort();
  [[noreturn]] void explain_deadlock(const std::vector<std::uint32_t>& waiting) const;
  [[nodiscard]] bool follows(std::uint32_t program, std::uint32_t later, std::uint32_t earlier) const;

  template <class Visit>
  void for_each_successor_edge(Visit visit) const {
    for (std::uint32_t p = 0; p < workload_.programs.size(); ++p) {
      const std::span<const std::uint32_t> of = result_.of[p];
      const std::span<const std::uint32_t> begin = result_.predecessor_begin[p];
      const std::span<const std::uint32_t> before = result_.predecessors[p];
      for (std::uint32_t o = 0; o < of.size(); ++o) {
        for (std::uint32_t e = begin[o]; e < begin[o + 1]; ++e) visit(of[before[e]], of[o]);
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
  for (std::uint32_t p = 0; p < workload_.programs.size(); ++p) {
    std::vector<std::uint32_t> met(workload_.slots, 0);
    std::vector<std::uint32_t> of;
    of.reserve(workload_.programs[p].ops.size());
    for (const Op& op : workload_.programs[p].ops) {
      if (op.kind == Op::Kind::compute) {
        of.push_back(families_++);
      } else {
        const std::uint32_t channel = channels_.channel_of[p * workload_.slots + op.slot];
        of.push_back(channels_.channels[channel].first_family + met[op.slot]++);
      }
    }
    result_.of.push_back(std::move(of));
  }
}

/// Whether `later` waits for `earlier` already, directly or through one operation in between.
bool FamilyMaker::follows(std::uint32_t program, std::uint32_t later, std::uint32_t earlier) const {
  const auto& begin = result_.predecessor_begin[program];
  const auto& list = result_.predecessors[program];
  for (std::uint32_t e = begin[later]; e < begin[later + 1]; ++e) {
    if (list[e] == earlier) return true;
  }
  return false;
}

void FamilyMaker::add_predecessors(std::uint32_t program, std::uint32_t op, std::uint32_t before,
                                   std::uint32_t host) {
  const Program& what = workload_.programs[program];
  auto& list = result_.predecessors[program];
  const auto first = list.size();
  bool implied = before == kNone || before == host;
  if (host != kNone) list.push_back(host);
  for (const std::uint32_t dep : what.dependencies(what.ops[op])) {
    if (std::find(list.begin() + static_cast<std::ptrdiff_t>(first), list.end(), dep) != list.end()) continue;
    list.push_back(dep);
    implied = implied || dep == before || follows(program, dep, before);
  }
  if (!implied) list.push_back(before);
  result_.predecessor_begin[program].push_back(static_cast<std::uint32_t>(list.size()));
}

void FamilyMaker::find_predecessors() {
  for (std::uint32_t p = 0; p < workload_.programs.size(); ++p) {
    std::vector<std::uint32_t> latest(workload_.streams, kNone);
    result_.predecessors.emplace_back();
    result_.predecessor_begin.push_back({0});
    const auto& ops = workload_.programs[p].ops;
    for (std::uint32_t o = 0; o < ops.size(); ++o) {
      std::uint32_t& before = latest[static_cast<std::size_t>(ops[o].stream)];
      const bool issued = ops[o].kind != Op::Kind::communicate;
      add_predecessors(p, o, before, issued ? latest[static_cast<std::size_t>(Stream::host)] : kNone);
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
  order.reserve(families_);
  for (std::uint32_t f = 0; f < families_; ++f) {
    if (waits[f] == 0) order.push_back(f);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (std::uint32_t e = begin[order[at]]; e < begin[order[at] + 1]; ++e) {
      if (--waits[successors[e]] == 0) order.push_back(successors[e]);
    }
  }
  if (order.size() < families_) explain_deadlock(waits);
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
