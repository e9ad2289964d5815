#include "sim/step/link_inspection.hpp"

#include <algorithm>

namespace orrery {

LinkInspection::LinkInspection(const Workload& workload, const Channels& channels, const PriceList& prices,
                               const ExpandedGraph& expanded, const Timeline& timeline)
    : workload_(workload), channels_(channels), prices_(prices), expanded_(expanded), timeline_(timeline) {
  list_operations();
}

template <class Visit>
void LinkInspection::for_each_task(const Load& load, Visit visit) {
  const std::uint32_t rank = workload_.members(load.group).front();
  const std::uint32_t program = workload_.program_of_rank[rank];
  const ExpandedGraph::Place place = expanded_.place(expanded_.representatives.class_of_rank[rank]);
  std::uint16_t slot = 0;
  while (workload_.group(rank, slot) != load.group) ++slot;
  for (const std::uint32_t op : operations_[program * workload_.slots + slot])
    visit(workload_.programs[program].ops[op], place.task(expanded_.ops[program][op]));
}

bool LinkInspection::overloaded(std::int64_t bytes_per_s, std::vector<Load>& loads) {
  add_up(loads);
  changes_.clear();
  runs_.clear();
  for (const Load& load : loads) add_changes(load);
  merge_runs();
  const Int128 capacity = static_cast<Int128>(bytes_per_s) * kWeightOne;
  Int128 demand = 0;
  for (std::size_t i = 0; i < changes_.size();) {
    const Picoseconds time = changes_[i].time;
    for (; i < changes_.size() && changes_[i].time == time; ++i) demand += changes_[i].by;
    if (demand > capacity) return true;
  }
  return false;
}

void LinkInspection::add_change(Picoseconds time, Int128 by) {
  if (changes_.empty() || time < changes_.back().time) runs_.push_back(changes_.size());
  changes_.push_back({time, by});
}

void LinkInspection::merge_runs() {
  const auto at = [](std::vector<Change>& list, std::size_t place) {
    return list.begin() + static_cast<std::ptrdiff_t>(place);
  };
  while (runs_.size() > 1) {
    merged_.resize(changes_.size());
    std::vector<std::size_t> longer;
    for (std::size_t r = 0; r < runs_.size(); r += 2) {
      const std::size_t middle = r + 1 < runs_.size() ? runs_[r + 1] : changes_.size();
      const std::size_t end = r + 2 < runs_.size() ? runs_[r + 2] : changes_.size();
      std::merge(at(changes_, runs_[r]), at(changes_, middle), at(changes_, middle), at(changes_, end),
                 at(merged_, runs_[r]), [](const Change& a, const Change& b) { return a.time < b.time; });
      longer.push_back(runs_[r]);
    }
    changes_.swap(merged_);
    runs_ = std::move(longer);
  }
}

void LinkInspection::add_up(std::vector<Load>& loads) {
  std::ranges::sort(loads, {}, &Load::key);
  std::size_t kept = 0;
  for (const Load& load : loads) {
    if (kept > 0 && loads[kept - 1].key() == load.key()) {
      loads[kept - 1].groups += load.groups;
    } else {
      loads[kept++] = load;
    }
  }
  loads.resize(kept);
}

void LinkInspection::list_operations() {
  operations_.resize(workload_.programs.size() * workload_.slots);
  for (std::size_t p = 0; p < workload_.programs.size(); ++p) {
    const std::vector<Op>& ops = workload_.programs[p].ops;
    for (std::uint32_t o = 0; o < ops.size(); ++o) {
      if (ops[o].kind != Op::Kind::compute) operations_[p * workload_.slots + ops[o].slot].push_back(o);
    }
  }
}

void LinkInspection::add_changes(const Load& load) {
  if (load.most > 0) return add_spans(load);
  const CallPrice& price = prices_.calls[load.call];
  const Cost& cost = price.costs[load.cost];
  Picoseconds before = 0;
  for (std::uint32_t l = cost.leg_begin; l < cost.leg_end; ++l) {
    const Leg& leg = price.routed->legs[l];
    before += leg.latency_ps;
    const Picoseconds after = cost.duration_ps - before - leg.alone_ps;
    for (std::uint32_t u = leg.use_begin; u < leg.use_end; ++u) {
      if (index(price.routed->uses[u].link) == load.place && leg.alone_ps > 0)
        add_changes(load, before, after, demand_of(leg, price.routed->uses[u].weight) * load.groups);
    }
    before += leg.alone_ps;
  }
}

void LinkInspection::add_changes(const Load& load, Picoseconds before, Picoseconds after, Int128 demand) {
  const Request request = channels_.calls[load.call].request;
  for_each_task(load, [&](const Op& op, std::uint32_t task) {
    if (request_of(op) != request) return;
    add_change(timeline_.start_ps[task] + before, demand);
    add_change(timeline_.finish_ps[task] - after, -demand);
  });
}

void LinkInspection::add_spans(const Load& load) {
  spans_.clear();
  for_each_task(load, [&](const Op&, std::uint32_t task) {
    spans_.emplace_back(timeline_.start_ps[task], timeline_.finish_ps[task]);
  });
  std::ranges::sort(spans_);
  const Int128 demand = Int128{load.most} * kWeightOne * load.groups;
  for (std::size_t i = 0; i < spans_.size();) {
    const Picoseconds begin = spans_[i].first;
    Picoseconds end = spans_[i].second;
    for (++i; i < spans_.size() && spans_[i].first <= end; ++i) end = std::max(end, spans_[i].second);
    add_change(begin, demand);
    add_change(end, -demand);
  }
}

}  // namespace orrery
