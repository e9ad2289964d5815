// A collective message by message: every message of every round is a flow of its own on its route. (The
// simulator itself lays a whole round on the links as one flow; docs/theory/collectives.md says when that is
// the same.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/workload_graphs.hpp"
#include "orrery/topology.hpp"
#include "sim/engine/task_graph_builder.hpp"
#include "workloads/collectives/collectives.hpp"

namespace orrery::bench {

class CollectiveGraph {
 public:
  explicit CollectiveGraph(const Topology& topology)
      : topology_(topology), ready_(topology.gpus()), latest_(topology.gpus()) {}

  /// All-reduce of `bytes` over all GPUs, on one ring where the algorithm has rings.
  WorkloadGraph all_reduce(const std::string& algorithm, Bytes bytes) && {
    GroupShape shape = one_node_shape(topology_.gpus());
    shape.nodes.clear();
    for (std::uint32_t gpu = 0; gpu < topology_.gpus(); ++gpu) {
      if (gpu % topology_.gpus_per_node() == 0) shape.nodes.emplace_back();
      shape.nodes.back().push_back(gpu);
    }
    const CollectiveAlgorithm* const found = find_collective_algorithm(algorithm);
    if (found == nullptr || !found->obstacle(Collective::all_reduce, shape).empty())
      throw std::invalid_argument("no all-reduce by " + algorithm + " here");
    const Rounds rounds = found->rounds(Collective::all_reduce, shape);
    unit_bytes_ = bytes / rounds.share_unit;
    for (const Round& round : rounds.rounds) write(round);
    std::vector<std::int64_t> bytes_per_s;
    for (const Link& link : topology_.links()) bytes_per_s.push_back(link.bytes_per_s);
    return {std::move(build_).finish(), std::move(bytes_per_s)};
  }

 private:
  void write(const Round& round) {
    std::vector<RoundMessage> messages = round.messages;
    // A chain or tree as one chunk: stage after stage. Else the round is one step of all messages.
    const bool staged = round.hops > 1;
    if (staged) std::ranges::stable_sort(messages, {}, &RoundMessage::stage);
    std::vector<CostId> costs;
    for (const RoundMessage& message : messages) costs.push_back(cost(message));
    for (std::int64_t repeat = 0; repeat < round.repeat; ++repeat) {
      for (std::size_t i = 0; i < messages.size(); ++i) {
        if (staged && i > 0 && messages[i].stage != messages[i - 1].stage) deliver();
        send(messages[i], costs[i]);
      }
      deliver();
    }
  }

  CostId cost(const RoundMessage& message) {
    route_.clear();
    topology_.route(GpuId{message.from}, GpuId{message.to}, route_);
    std::int64_t rate = kMaxLinkBytesPerS;
    Picoseconds latency = 0;
    for (const LinkId link : route_) {
      rate = std::min(rate, topology_.link(link).bytes_per_s);
      latency += topology_.link(link).latency_ps;
    }
    return build_.add_message(unit_bytes_ * message.share, rate, latency, route_);
  }

  void send(const RoundMessage& message, CostId cost) {
    const TaskId task = build_.add_task(cost, ready_[message.from]);
    note(message.from, task);
    note(message.to, task);
  }

  void note(std::uint32_t member, TaskId task) {
    if (latest_[member].empty()) busy_.push_back(member);
    latest_[member].push_back(task);
  }

  /// Delivers messages: every later send of a member depends on all that it has sent or received so far.
  void deliver() {
    for (const std::uint32_t member : busy_) {
      std::vector<TaskId>& ready = ready_[member];
      ready.swap(latest_[member]);
      latest_[member].clear();
      if (ready.size() > 2) ready = {build_.add_task(nothing_, ready)};
    }
    busy_.clear();
  }

  const Topology& topology_;
  TaskGraphBuilder build_;
  CostId nothing_ = build_.add_duration(0);
  Bytes unit_bytes_ = 0;
  std::vector<std::vector<TaskId>> ready_;   // per member: dependencies of its next messages
  std::vector<std::vector<TaskId>> latest_;  // and its current messages, sent and received
  std::vector<std::uint32_t> busy_;          // members with any of those
  std::vector<LinkId> route_;
};

}  // namespace orrery::bench
