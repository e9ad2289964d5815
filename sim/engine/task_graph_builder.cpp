#include "sim/engine/task_graph_builder.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace orrery {
namespace {

std::uint32_t size32(std::size_t size) { return static_cast<std::uint32_t>(size); }

void check_below(std::uint32_t id, std::size_t count, const char* what) {
  if (id >= count) throw std::out_of_range(std::string("no ") + what + " " + std::to_string(id));
}

}  // namespace

void TaskGraphBuilder::reserve(std::size_t tasks, std::size_t preds) {
  graph_.cost.reserve(tasks);
  graph_.pred_begin.reserve(tasks + 1);
  graph_.preds.reserve(preds);
}

CostId TaskGraphBuilder::add_duration(Picoseconds duration) {
  graph_.costs.push_back({duration, 0, 0});
  return CostId{size32(graph_.costs.size() - 1)};
}

CostId TaskGraphBuilder::add_transfer(std::span<const TransferLeg> legs) {
  Cost cost{0, size32(graph_.legs.size()), 0};
  for (const TransferLeg& leg : legs) {
    cost.duration_ps += leg.latency_ps + leg.alone_ps;
    const std::uint32_t use_begin = size32(graph_.uses.size());
    graph_.uses.insert(graph_.uses.end(), leg.uses.begin(), leg.uses.end());
    graph_.legs.push_back({leg.latency_ps, leg.alone_ps, leg.rate, use_begin, size32(graph_.uses.size())});
  }
  cost.leg_end = size32(graph_.legs.size());
  graph_.costs.push_back(cost);
  return CostId{size32(graph_.costs.size() - 1)};
}

CostId TaskGraphBuilder::add_transfer(std::initializer_list<TransferLeg> legs) {
  return add_transfer(std::span<const TransferLeg>(legs.begin(), legs.size()));
}

CostId TaskGraphBuilder::add_message(Bytes bytes, std::int64_t bytes_per_s, Picoseconds latency,
                                     std::span<const LinkId> links) {
  const std::uint32_t leg = size32(graph_.legs.size());
  const std::uint32_t use_begin = size32(graph_.uses.size());
  const Picoseconds alone = transfer_ps(bytes, bytes_per_s);
  for (const LinkId link : links) graph_.uses.push_back({link, kWeightOne});
  graph_.legs.push_back({latency, alone, bytes_per_s, use_begin, size32(graph_.uses.size())});
  graph_.costs.push_back({latency + alone, leg, leg + 1});
  return CostId{size32(graph_.costs.size() - 1)};
}

TaskId TaskGraphBuilder::add_task(CostId cost, std::span<const TaskId> preds) {
  for (const TaskId pred : preds) graph_.preds.push_back(index(pred));
  return close_task(cost);
}

TaskId TaskGraphBuilder::add_task(CostId cost, std::initializer_list<TaskId> preds) {
  return add_task(cost, std::span<const TaskId>(preds.begin(), preds.size()));
}

StreamId TaskGraphBuilder::add_stream() {
  latest_.push_back(kNoTask);
  return StreamId{size32(latest_.size() - 1)};
}

TaskId TaskGraphBuilder::add_task_on(std::span<const StreamId> streams, CostId cost,
                                     std::span<const TaskId> preds) {
  const std::uint32_t task = graph_.tasks();
  for (const StreamId stream : streams) {
    std::uint32_t& latest = latest_.at(static_cast<std::uint32_t>(stream));
    if (latest != kNoTask && latest != task) graph_.preds.push_back(latest);
    latest = task;
  }
  return add_task(cost, preds);
}

TaskId TaskGraphBuilder::add_task_on(std::initializer_list<StreamId> streams, CostId cost,
                                     std::initializer_list<TaskId> preds) {
  return add_task_on(std::span<const StreamId>(streams.begin(), streams.size()), cost,
                     std::span<const TaskId>(preds.begin(), preds.size()));
}

void TaskGraphBuilder::add_edge(TaskId from, TaskId to) { edges_.push_back({index(from), index(to)}); }

TaskGraph TaskGraphBuilder::finish() && {
  if (graph_.preds.size() + edges_.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw std::length_error("a task graph holds at most 2^32 - 1 edges");
  }
  for (const Edge& edge : edges_) check_below(edge.to, graph_.tasks(), "task");
  if (!edges_.empty()) merge_edges();
  for (const std::uint32_t pred : graph_.preds) check_below(pred, graph_.tasks(), "task");
  for (const std::uint32_t cost : graph_.cost) check_below(cost, graph_.costs.size(), "cost");
  return std::move(graph_);
}

TaskId TaskGraphBuilder::close_task(CostId cost) {
  graph_.cost.push_back(index(cost));
  graph_.pred_begin.push_back(size32(graph_.preds.size()));
  return TaskId{graph_.tasks() - 1};
}

void TaskGraphBuilder::merge_edges() {
  std::stable_sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.to < b.to; });
  std::vector<std::uint32_t>& begin = graph_.pred_begin.edit();
  std::vector<std::uint32_t> preds;
  preds.reserve(graph_.preds.size() + edges_.size());
  auto edge = edges_.begin();
  for (std::uint32_t task = 0; task < graph_.tasks(); ++task) {
    const auto own = graph_.predecessors(task);
    begin[task] = size32(preds.size());
    preds.insert(preds.end(), own.begin(), own.end());
    for (; edge != edges_.end() && edge->to == task; ++edge) preds.push_back(edge->from);
  }
  begin.back() = size32(preds.size());
  graph_.preds = std::move(preds);
}

}  // namespace orrery
