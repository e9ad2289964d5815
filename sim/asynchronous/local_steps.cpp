#include "sim/asynchronous/local_steps.hpp"

#include <algorithm>
#include <map>

namespace orrery {
namespace {

/// Per class of ranks and step: when its last operation ends.
std::vector<std::vector<Picoseconds>> finish_of_classes(const RunView& run) {
  const ExpandedGraph& expanded = run.expanded;
  std::vector<std::vector<Picoseconds>> finish(expanded.classes());
  for (std::uint32_t c = 0; c < expanded.classes(); ++c) {
    finish[c].assign(static_cast<std::size_t>(run.workload.steps), 0);
    const std::vector<Op>& ops = run.workload.programs[expanded.program[c]].ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      Picoseconds& last = finish[c][static_cast<std::size_t>(ops[i].step)];
      last = std::max(last, run.timeline.finish_ps[expanded.task(c, i)]);
    }
  }
  return finish;
}

/// Per worker: its classes of ranks, with how many ranks are of each.
std::vector<std::map<std::uint32_t, std::uint32_t>> classes_of_workers(const RunView& run,
                                                                       const RankGrid& grid) {
  std::vector<std::map<std::uint32_t, std::uint32_t>> classes(
      static_cast<std::size_t>(grid.size(Axis::data)));
  for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) {
    const auto worker = static_cast<std::size_t>(grid.place(rank, Axis::data));
    ++classes[worker][run.expanded.representatives.class_of_rank[rank]];
  }
  return classes;
}

Picoseconds share_of_busy(Picoseconds time, Picoseconds busy, Picoseconds all) {
  return all == 0 ? 0 : static_cast<Picoseconds>(Int128{time} * busy / all);
}

Picoseconds whole_time(const ClassTimes& times) {
  Picoseconds sum = times.compute + times.optimizer + times.host + times.bubble;
  for (const Picoseconds exposed : times.exposed) sum += exposed;
  return sum;
}

/// `busy` of `all`, rounded so that it adds up.
ClassTimes shared_out(const ClassTimes& times, Picoseconds busy, Picoseconds all) {
  ClassTimes out;
  out.optimizer = share_of_busy(times.optimizer, busy, all);
  out.host = share_of_busy(times.host, busy, all);
  out.launch = share_of_busy(times.launch, busy, all);
  out.optimizer_host = share_of_busy(times.optimizer_host, busy, all);
  out.bubble = share_of_busy(times.bubble, busy, all);
  for (std::size_t d = 0; d < kDimensionCount; ++d)
    out.exposed[d] = share_of_busy(times.exposed[d], busy, all);
  out.compute = busy - whole_time(out);
  return out;
}

}  // namespace

std::vector<LocalSteps> local_steps(const RunView& run, const RankGrid& grid) {
  const std::vector<std::vector<Picoseconds>> finish = finish_of_classes(run);
  std::vector<LocalSteps> result;
  for (const auto& classes : classes_of_workers(run, grid)) {
    std::vector<Picoseconds> last(static_cast<std::size_t>(run.workload.steps), 0);
    for (const auto& [one, ranks] : classes)
      std::ranges::transform(last, finish[one], last.begin(), [](auto a, auto b) { return std::max(a, b); });
    for (std::size_t step = 1; step < last.size(); ++step) last[step] = std::max(last[step], last[step - 1]);
    result.emplace_back(std::move(last));
  }
  return result;
}

WorkerClasses times_of_workers(const RunView& run, const RankGrid& grid,
                               const std::vector<ClassTimes>& simulated, const std::vector<LocalSteps>& steps,
                               const std::vector<Picoseconds>& busy, Picoseconds makespan) {
  WorkerClasses out;
  const auto workers = classes_of_workers(run, grid);
  for (std::size_t worker = 0; worker < workers.size(); ++worker) {
    const Picoseconds all = steps[worker].all();
    for (const auto& [one, ranks] : workers[worker]) {
      ClassTimes times = simulated[one];
      times.bubble -= run.timeline.makespan_ps - all;  // the worker has ended, others have not
      times = shared_out(times, busy[worker], all);
      times.exposed[static_cast<std::size_t>(Dimension::data)] += makespan - busy[worker];
      out.times.push_back(times);
      out.multiplicity.push_back(ranks);
    }
  }
  return out;
}

}  // namespace orrery
