// Writes a workload as a task graph.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bench/workloads.hpp"
#include "sim/engine/task_graph_builder.hpp"

namespace orrery::bench {

class TaskGraphSink {
 public:
  /// Messages take the sender's link, and the receiver's own after the `links` of senders if `receiving`.
  TaskGraphSink(std::uint32_t links, bool receiving, std::uint32_t latency_ns)
      : receiving_(receiving), latency_(Picoseconds{latency_ns} * 1000), messages_(links) {}

  void reserve(std::size_t tasks, std::size_t edges) { build_.reserve(tasks, edges); }

  std::uint32_t compute(std::uint32_t, std::uint64_t ns, std::span<const std::uint32_t> preds) {
    return add(build_.add_duration(static_cast<Picoseconds>(ns) * 1000), preds);
  }

  std::uint32_t reduce(std::uint32_t, std::uint64_t ns, std::span<const std::uint32_t> preds) {
    if (ns != reduce_ns_) {
      reduce_ns_ = ns;
      reduce_ = build_.add_duration(static_cast<Picoseconds>(ns) * 1000);
    }
    return add(reduce_, preds);
  }

  std::uint32_t send(std::uint32_t, std::uint32_t to, std::uint32_t link, std::uint64_t bytes,
                     std::span<const std::uint32_t> preds) {
    return add(message(to, link, bytes), preds);
  }

  [[nodiscard]] std::vector<std::int64_t> capacities() const {
    return std::vector<std::int64_t>(messages_.size() * (receiving_ ? 2 : 1), kLinkBytesPerS);
  }
  [[nodiscard]] TaskGraph finish() && { return std::move(build_).finish(); }

 private:
  struct Message {
    std::uint32_t to;
    std::uint64_t bytes;
    CostId cost;
  };

  std::uint32_t add(CostId cost, std::span<const std::uint32_t> preds) {
    preds_.clear();
    for (const std::uint32_t pred : preds) preds_.push_back(TaskId{pred});
    return index(build_.add_task(cost, preds_));
  }

  /// Equal messages share their cost.
  CostId message(std::uint32_t to, std::uint32_t link, std::uint64_t bytes) {
    for (const Message& message : messages_[link]) {
      if (message.to == to && message.bytes == bytes) return message.cost;
    }
    const std::array links{LinkId{link}, LinkId{static_cast<std::uint32_t>(messages_.size()) + to}};
    const CostId cost = build_.add_message(static_cast<Bytes>(bytes), kLinkBytesPerS, latency_,
                                           std::span(links).first(receiving_ ? 2 : 1));
    messages_[link].push_back({to, bytes, cost});
    return cost;
  }

  TaskGraphBuilder build_;
  bool receiving_;
  Picoseconds latency_;
  std::uint64_t reduce_ns_ = 0;
  CostId reduce_{};
  std::vector<TaskId> preds_;
  std::vector<std::vector<Message>> messages_;  // per link of a sender
};

}  // namespace orrery::bench
