#include "sim/engine/deadlock.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace orrery {
namespace {

constexpr std::size_t kListedTasks = 32;

std::string describe(const std::vector<TaskId>& cycle) {
  const auto name = [&](std::size_t i) { return std::to_string(index(cycle[i % cycle.size()])); };
  const std::size_t listed = std::min(cycle.size(), kListedTasks);
  std::string text = "deadlock: ";
  for (std::size_t i = 0; i < listed; ++i) {
    text += (i == 0 ? "task " : ", ") + name(i) + " waits for " + name(i + 1);
  }
  if (listed < cycle.size()) text += ", ... (" + std::to_string(cycle.size()) + " tasks in the cycle)";
  return text;
}

std::uint32_t waiting_predecessor(const TaskGraph& graph, std::span<const std::uint32_t> waiting,
                                  std::uint32_t task) {
  const auto preds = graph.predecessors(task);
  return *std::find_if(preds.begin(), preds.end(), [&](std::uint32_t pred) { return waiting[pred] > 0; });
}

}  // namespace

DeadlockError::DeadlockError(std::vector<TaskId> cycle)
    : std::runtime_error(describe(cycle)), cycle_(std::move(cycle)) {}

void throw_if_waiting(const TaskGraph& graph, std::span<const std::uint32_t> waiting) {
  const auto stuck =
      std::find_if(waiting.begin(), waiting.end(), [](std::uint32_t left) { return left > 0; });
  if (stuck == waiting.end()) return;
  // A waiting task has a waiting predecessor, so following them comes back to a task seen before.
  auto task = static_cast<std::uint32_t>(stuck - waiting.begin());
  std::vector<bool> seen(graph.tasks(), false);
  while (!seen[task]) {
    seen[task] = true;
    task = waiting_predecessor(graph, waiting, task);
  }
  std::vector<TaskId> cycle;
  const std::uint32_t first = task;
  do {
    cycle.push_back(TaskId{task});
    task = waiting_predecessor(graph, waiting, task);
  } while (task != first);
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  throw DeadlockError(std::move(cycle));
}

}  // namespace orrery
