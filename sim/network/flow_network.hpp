// Implements the flow-level network: active flows share links max-min fairly, and rates change only when a
// flow starts or ends. All whole numbers, so results are exact and the same on every machine.
//
// A flow alone moves at its leg's own rate R and takes exactly alone_ps. A link can slow its flows
// only if they would overload it at their own rates; links that are not overloaded are left out, so
// a flow that meets no overloaded link starts without solving, and a change re-rates only the flows
// joined to it by overloaded links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/task_graph.hpp"
#include "orrery/topology.hpp"
#include "sim/network/max_min_solver.hpp"
#include "sim/network/network_model.hpp"
#include "sim/network/radix_queue.hpp"

namespace orrery {

/// Gives the speed of a flow, in bytes/s of one of its full-size messages.
struct FlowRate {
  std::uint32_t flow = 0;
  std::int64_t bytes_per_s = 0;
};

class FlowNetwork final : public NetworkModel {
 public:
  /// Capacities per link, in bytes/s, from 1 to 2^46 (70 TB/s); std::invalid_argument otherwise.
  explicit FlowNetwork(std::span<const std::int64_t> bytes_per_s);
  explicit FlowNetwork(std::span<const Link> links);

  void reset() override;
  void start(std::uint32_t flow, const Leg& leg, std::span<const LinkUse> uses) override;
  [[nodiscard]] Picoseconds next_event() override;
  void advance(Picoseconds time, std::vector<std::uint32_t>& finished) override;

  /// The active flows, in no particular order.
  [[nodiscard]] std::vector<FlowRate> rates();
  /// Returns the number of flows that all solves have visited, a measure of work for benchmarks and tests.
  [[nodiscard]] std::uint64_t flows_solved() const { return flows_solved_; }

 private:
  static constexpr std::uint32_t kNoFlow = ~std::uint32_t{0};

  struct alignas(64) LinkState {      // a cache line
    Int128 demand = 0;                ///< sum of R * weight
    std::uint64_t capacity = 0;       ///< bytes/s * kWeightOne, the unit of demand
    std::vector<std::uint32_t> more;  ///< slots of its flows but the first
    std::uint32_t first = kNoFlow;    ///< most links carry a single flow
    std::uint32_t visit = 0;          ///< the last solve that saw it
    std::uint32_t local = 0;          ///< its index in that solve
    bool dirty = false;               ///< in dirty_
    bool shrinks = false;             ///< in shrinking_
    [[nodiscard]] bool overloaded() const { return demand > static_cast<Int128>(capacity); }
  };
  static_assert(sizeof(LinkState) == 64);
  /// Work is counted in rate * ps, so that alone_ps at R is a whole number.
  struct Flow {
    std::span<const LinkUse> uses;
    std::int64_t limit = 1;  ///< R
    std::uint32_t visit = 0;
    std::uint32_t name = 0;
    Int128 work_left = 0;  ///< at time `since`
    std::int64_t rate = 0;
    Picoseconds since = 0;
    Picoseconds finish = kNever;
    Picoseconds queued = kNever;  ///< its entry in ends_, at or before finish; kNever: none
    bool active = false;
  };

  std::uint32_t take_slot();
  bool attach(std::uint32_t slot);
  void detach(std::uint32_t slot);
  void drop_ended(LinkState& link);
  void drop_ended_members();
  void mark_dirty(std::uint32_t link);
  void expect_end(std::uint32_t slot, Picoseconds finish);
  void solve_dirty();
  void gather();
  void gather_link(std::uint32_t link);
  void gather_flow(std::uint32_t slot);
  void set_rate(std::uint32_t slot, std::int64_t rate);
  void forget_stale_ends();

  std::vector<LinkState> links_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_slots_;
  std::uint32_t active_ = 0;
  Picoseconds now_ = 0;
  RadixQueue ends_;  // of slots; stale where the time is not the flow's `queued`

  std::vector<std::uint32_t> dirty_;      // links whose flows need new rates
  std::vector<std::uint32_t> shrinking_;  // links that lose members
  std::vector<std::uint32_t> ended_;      // slots
  std::vector<std::uint32_t> solved_links_;
  std::vector<std::uint32_t> solved_slots_;
  std::uint32_t visit_ = 0;
  std::uint64_t flows_solved_ = 0;
  MaxMinSolver solver_;
};

}  // namespace orrery
