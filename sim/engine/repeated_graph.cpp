#include "sim/engine/repeated_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/engine/checked_time.hpp"
#include "sim/engine/topological_order.hpp"

namespace orrery {
namespace {

void check_task(TaskId task, const TaskGraph& body) {
  if (index(task) >= body.tasks()) throw std::out_of_range("no task " + std::to_string(index(task)));
}

std::uint64_t edges(const RepeatedGraph& graph) {
  std::uint64_t count = graph.body().preds.size();
  for (std::uint32_t task = 0; task < graph.body().tasks(); ++task) count += graph.carried(task).size();
  return count;
}

void check_size(const RepeatedGraph& graph) {
  constexpr Int128 kMost = std::numeric_limits<std::uint32_t>::max();
  const Int128 per_iteration = std::max<std::uint64_t>(graph.body().tasks(), edges(graph));
  if (per_iteration * static_cast<Int128>(graph.iterations()) > kMost) {
    throw std::length_error("a task graph holds at most 2^32 - 1 tasks and edges");
  }
}

void append_iteration(TaskGraph& out, const RepeatedGraph& graph, std::uint32_t iteration) {
  const TaskGraph& body = graph.body();
  const std::uint32_t first = iteration * body.tasks();
  for (std::uint32_t task = 0; task < body.tasks(); ++task) {
    const auto own = body.predecessors(task);
    for (const std::uint32_t pred : own) out.preds.push_back(first + pred);
    if (iteration > 0) {
      for (const std::uint32_t pred : graph.carried(task)) out.preds.push_back(first - body.tasks() + pred);
    }
    out.cost.push_back(body.cost[task]);
    out.pred_begin.push_back(static_cast<std::uint32_t>(out.preds.size()));
    if (!body.lag.empty()) out.lag.push_back(own.empty() ? 0 : body.lag[task]);
  }
}

class RepeatedSweep {
 public:
  explicit RepeatedSweep(const RepeatedGraph& graph)
      : graph_(graph),
        body_(graph.body()),
        order_(topological_order(body_)),
        before_(body_.tasks(), 0),
        times_{std::vector<Picoseconds>(body_.tasks()), std::vector<Picoseconds>(body_.tasks()), 0} {}

  RepeatedTimes run() && {
    for (std::uint64_t iteration = 0; iteration < graph_.iterations(); ++iteration) {
      // In the first iteration everything before it ended at 0.
      std::swap(before_, times_.finish_ps);
      sweep();
    }
    return std::move(times_);
  }

 private:
  void sweep() {
    Picoseconds* const finish = times_.finish_ps.data();
    for (const std::uint32_t task : order_) {
      Picoseconds start = 0;
      for (const std::uint32_t pred : graph_.carried(task)) start = std::max(start, before_[pred]);
      for (const std::uint32_t pred : body_.predecessors(task))
        start = std::max(start, released(body_, task, pred, finish[pred]));
      times_.start_ps[task] = start;
      finish[task] = later(start, body_.cost_of(task).duration_ps, task);
      times_.makespan_ps = std::max(times_.makespan_ps, finish[task]);
    }
  }

  const RepeatedGraph& graph_;
  const TaskGraph& body_;
  const std::vector<std::uint32_t> order_;
  std::vector<Picoseconds> before_;  // finishes of the iteration before
  RepeatedTimes times_;
};

}  // namespace

RepeatedGraph::RepeatedGraph(TaskGraph body, std::span<const CarriedEdge> carried, std::uint64_t iterations)
    : body_(std::move(body)),
      begin_(body_.tasks() + 1, 0),
      carried_(carried.size()),
      iterations_(iterations) {
  for (const CarriedEdge& edge : carried) {
    check_task(edge.from, body_);
    check_task(edge.to, body_);
    ++begin_[index(edge.to)];
  }
  std::inclusive_scan(begin_.begin(), begin_.end(), begin_.begin());
  for (std::size_t i = carried.size(); i-- > 0;)
    carried_[--begin_[index(carried[i].to)]] = index(carried[i].from);
}

RepeatedTimes run_contention_free(const RepeatedGraph& graph) { return RepeatedSweep(graph).run(); }

TaskGraph unroll(const RepeatedGraph& graph) {
  check_size(graph);
  const TaskGraph& body = graph.body();
  const std::size_t iterations = body.tasks() == 0 ? 0 : graph.iterations();
  TaskGraph out{
      .cost = {}, .pred_begin = {0}, .preds = {}, .costs = body.costs, .legs = body.legs, .uses = body.uses};
  out.cost.reserve(iterations * body.tasks());
  out.pred_begin.reserve(iterations * body.tasks() + 1);
  out.preds.reserve(iterations * edges(graph));
  for (std::uint32_t i = 0; i < iterations; ++i) append_iteration(out, graph, i);
  return out;
}

}  // namespace orrery
