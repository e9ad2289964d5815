// Builds task graphs by hand: for tests, benchmarks and users who bring their own programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "orrery/task_graph.hpp"

namespace orrery {

/// A resource that serves its tasks one at a time, in the order they were added.
enum class StreamId : std::uint32_t {};

/// A Leg that carries its own links.
struct TransferLeg {
  Picoseconds latency_ps = 0;
  Picoseconds alone_ps = 0;
  std::int64_t rate = 0;  ///< bytes/s when alone
  std::vector<LinkUse> uses;
};

class TaskGraphBuilder {
 public:
  /// Optional: makes room, so that a large graph is not copied as it grows.
  void reserve(std::size_t tasks, std::size_t preds);

  CostId add_duration(Picoseconds duration);
  /// Legs run one after the other; the duration is the sum of their latencies and data times.
  CostId add_transfer(std::span<const TransferLeg> legs);
  CostId add_transfer(std::initializer_list<TransferLeg> legs);
  /// Adds one leg of `bytes` over links of equal use at `bytes_per_s`.
  CostId add_message(Bytes bytes, std::int64_t bytes_per_s, Picoseconds latency,
                     std::span<const LinkId> links);

  TaskId add_task(CostId cost, std::span<const TaskId> preds);
  TaskId add_task(CostId cost, std::initializer_list<TaskId> preds = {});

  StreamId add_stream();
  /// Adds a task that also waits for the latest task of each stream and becomes the latest itself.
  TaskId add_task_on(std::span<const StreamId> streams, CostId cost, std::span<const TaskId> preds);
  TaskId add_task_on(std::initializer_list<StreamId> streams, CostId cost,
                     std::initializer_list<TaskId> preds = {});

  /// `to` waits for `from`. Either may be added later: ids count from 0.
  void add_edge(TaskId from, TaskId to);

  /// Throws std::out_of_range for an edge, predecessor or cost that does not exist, std::length_error
  /// for more than 2^32 - 1 edges.
  [[nodiscard]] TaskGraph finish() &&;

 private:
  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
  };
  static constexpr std::uint32_t kNoTask = ~std::uint32_t{0};

  TaskId close_task(CostId cost);
  void merge_edges();

  TaskGraph graph_{.cost = {}, .pred_begin = {0}, .preds = {}, .costs = {}, .legs = {}, .uses = {}};
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> latest_;  // per stream
};

}  // namespace orrery
