// The four workloads of docs/developers/performance.md, for every simulator that is measured there: the same
// tasks, nanoseconds and bytes. A workload is written to a sink, which numbers tasks from 0 in the order of
// these calls, each after its predecessors:
//
//   compute(host, ns, preds)               a task on a host
//   reduce(engine, ns, preds)              a collective that takes a fixed time, on an engine of its own
//   send(from, to, link, bytes, preds)     a message between hosts; `link` is the sender's own
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace orrery::bench {

inline constexpr std::int64_t kLinkBytesPerS = 50'000'000'000;

/// splitmix64 (Vigna): the jitter of every workload, so that all simulators get the same numbers.
inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// `base` give or take `percent`, a function of `key`.
inline std::uint64_t jitter(std::uint64_t base, std::uint64_t key, std::uint64_t percent) {
  const std::uint64_t span = base * percent / 100;
  return base - span + mix64(key) % (2 * span + 1);
}

/// W1: ring all-reduce of 1 GiB. A message of a step waits for the one that its sender received in the
/// step before.
struct Ring {
  static constexpr std::uint32_t kLatencyNs = 1000;
  std::uint32_t ranks;

  [[nodiscard]] std::uint32_t steps() const { return 2 * (ranks - 1); }
  [[nodiscard]] std::uint64_t messages() const { return std::uint64_t{ranks} * steps(); }
  [[nodiscard]] std::uint64_t bytes() const { return (std::uint64_t{1} << 30) / ranks; }
  [[nodiscard]] std::uint32_t next(std::uint32_t rank) const { return (rank + 1) % ranks; }
  [[nodiscard]] std::uint32_t previous(std::uint32_t rank) const { return (rank + ranks - 1) % ranks; }
};

/// W2: steps of 3D-parallel training, TP 8 x PP 8 x DP `replicas`, 32 layers, 16 micro-batches, 1F1B. A
/// compute task per half layer and GPU, a collective per half layer of a tensor group, messages between
/// stages, and one collective per layer over the replicas at the end of a step.
class TrainingSteps {
 public:
  static constexpr std::uint32_t kLatencyNs = 2000;
  static constexpr std::uint32_t kTensor = 8;
  static constexpr std::uint32_t kStages = 8;
  static constexpr std::uint32_t kMicroBatches = 16;
  static constexpr std::uint32_t kLayersPerStage = 4;

  TrainingSteps(std::uint32_t replicas, std::uint32_t steps) : replicas_(replicas), steps_(steps) {}

  [[nodiscard]] std::uint32_t hosts() const { return replicas_ * kStages * kTensor; }
  [[nodiscard]] std::uint32_t engines() const { return replicas_ * kStages + kStages * kTensor; }
  [[nodiscard]] std::size_t tasks() const {
    const std::size_t sends = 2 * (kStages - 1) * kMicroBatches * kTensor;
    const std::size_t halves = std::size_t{kStages} * kOps * kHalves * (kTensor + 1);
    const std::size_t sums = replicas_ > 1 ? kStages * kTensor * kLayersPerStage : 0;
    return steps_ * (replicas_ * (halves + sends) + sums);
  }
  /// Somewhat more than there are.
  [[nodiscard]] std::size_t edges() const { return 2 * tasks(); }

  template <class Sink>
  void write(Sink& sink) {
    const std::vector<Op> order = topological_order();
    group_end_.assign(std::size_t{replicas_} * kStages, kNone);
    first_send_.assign(std::size_t{replicas_} * kStages * 2 * kMicroBatches, kNone);
    summed_.assign(std::size_t{kStages} * kTensor, kNone);
    for (step_ = 0; step_ < steps_; ++step_) {
      for (const Op& op : order) {
        for (std::uint32_t replica = 0; replica < replicas_; ++replica) write_op(sink, replica, op);
      }
      if (replicas_ > 1) write_gradient_sums(sink);
    }
  }

 private:
  static constexpr std::uint32_t kOps = 2 * kMicroBatches;
  static constexpr std::uint32_t kHalves = 2 * kLayersPerStage;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Op {
    std::uint32_t stage;
    std::uint32_t place;  ///< in the order of the stage
    bool backward;
    std::uint32_t micro_batch;
  };

  static std::vector<Op> one_f_one_b(std::uint32_t stage) {
    std::vector<Op> ops;
    const std::uint32_t warm_up = kStages - 1 - stage;
    const auto add = [&](bool backward, std::uint32_t micro_batch) {
      ops.push_back({stage, static_cast<std::uint32_t>(ops.size()), backward, micro_batch});
    };
    for (std::uint32_t i = 0; i < kMicroBatches + warm_up; ++i) {
      if (i < kMicroBatches) add(false, i);
      if (i >= warm_up) add(true, i - warm_up);
    }
    return ops;
  }

  /// Returns the operations of all stages, each after its dependencies.
  static std::vector<Op> topological_order() {
    std::array<std::vector<Op>, kStages> programs;
    std::array<std::size_t, kStages> next{};
    std::array<std::array<std::array<bool, kMicroBatches>, 2>, kStages> done{};
    for (std::uint32_t stage = 0; stage < kStages; ++stage) programs[stage] = one_f_one_b(stage);
    std::vector<Op> out;
    while (out.size() < std::size_t{kStages} * kOps) {
      for (std::uint32_t stage = 0; stage < kStages; ++stage) {
        if (next[stage] == kOps) continue;
        const Op& op = programs[stage][next[stage]];
        if (receives(op) && !done[sender(op)][op.backward][op.micro_batch]) continue;
        done[stage][op.backward][op.micro_batch] = true;
        out.push_back(op);
        ++next[stage];
      }
    }
    return out;
  }

  static bool receives(const Op& op) { return op.backward ? op.stage + 1 < kStages : op.stage > 0; }
  static bool sends(const Op& op) { return op.backward ? op.stage > 0 : op.stage + 1 < kStages; }
  static std::uint32_t sender(const Op& op) { return op.backward ? op.stage + 1 : op.stage - 1; }
  static std::uint32_t receiver(const Op& op) { return op.backward ? op.stage - 1 : op.stage + 1; }

  static std::uint32_t host(std::uint32_t replica, std::uint32_t stage, std::uint32_t rank) {
    return (replica * kStages + stage) * kTensor + rank;
  }
  std::uint32_t& first_send(std::uint32_t replica, std::uint32_t stage, const Op& op) {
    return first_send_[((replica * kStages + stage) * 2 + (op.backward ? 1 : 0)) * kMicroBatches +
                       op.micro_batch];
  }

  template <class Sink>
  void write_op(Sink& sink, std::uint32_t replica, const Op& op) {
    std::uint32_t& latest = group_end_[replica * kStages + op.stage];
    for (std::uint32_t half = 0; half < kHalves; ++half) {
      std::array<std::uint32_t, kTensor> halves;
      for (std::uint32_t rank = 0; rank < kTensor; ++rank) {
        std::array<std::uint32_t, 2> preds;
        std::size_t count = 0;
        const bool after_sums = op.place == 0 && half == 0 && step_ > 0 && replicas_ > 1;
        const std::uint32_t before = after_sums ? summed_[op.stage * kTensor + rank] : latest;
        if (before != kNone) preds[count++] = before;
        if (half == 0 && receives(op)) preds[count++] = first_send(replica, sender(op), op) + rank;
        const std::uint32_t on = host(replica, op.stage, rank);
        const std::uint64_t key = ((std::uint64_t{on} * 64 + op.place) * 64 + half) * 1024 + step_;
        const std::uint64_t ns = jitter(op.backward ? 1'000'000 : 500'000, key, 2);
        halves[rank] = sink.compute(on, ns, std::span(preds.data(), count));
      }
      latest = sink.reduce(replica * kStages + op.stage, 200'000, halves);
    }
    if (!sends(op)) return;
    for (std::uint32_t rank = 0; rank < kTensor; ++rank) {
      const std::uint32_t from = host(replica, op.stage, rank);
      const std::uint32_t to = host(replica, receiver(op), rank);
      const std::uint32_t send = sink.send(from, to, from, 16 << 20, std::array{latest});
      if (rank == 0) first_send(replica, op.stage, op) = send;
    }
  }

  template <class Sink>
  void write_gradient_sums(Sink& sink) {
    std::vector<std::uint32_t> members(replicas_);
    for (std::uint32_t stage = 0; stage < kStages; ++stage) {
      for (std::uint32_t replica = 0; replica < replicas_; ++replica)
        members[replica] = group_end_[replica * kStages + stage];
      for (std::uint32_t rank = 0; rank < kTensor; ++rank) {
        const std::uint32_t engine = replicas_ * kStages + stage * kTensor + rank;
        std::uint32_t latest = sink.reduce(engine, 10'000'000, members);
        for (std::uint32_t layer = 1; layer < kLayersPerStage; ++layer)
          latest = sink.reduce(engine, 10'000'000, std::array{latest});
        summed_[stage * kTensor + rank] = latest;
      }
    }
  }

  std::uint32_t replicas_;
  std::uint32_t steps_;
  std::uint32_t step_ = 0;
  std::vector<std::uint32_t> group_end_;   // the latest collective of each tensor group
  std::vector<std::uint32_t> first_send_;  // first of eight, by sender
  std::vector<std::uint32_t> summed_;      // the last gradient sum of each stage and rank
};

/// W3: rounds of flows over a fat tree of 32 leaves with 32 hosts each and 16 spines, one random cyclic
/// permutation a round; a round starts when the last flow of the one before has ended.
struct Permutations {
  static constexpr std::uint32_t kLeaves = 32;
  static constexpr std::uint32_t kPerLeaf = 32;
  static constexpr std::uint32_t kSpines = 16;
  static constexpr std::uint32_t kHosts = kLeaves * kPerLeaf;
  static constexpr std::uint32_t kLinks = 2 * kHosts + 2 * kLeaves * kSpines;
  static constexpr std::uint32_t kLatencyNs = 2000;

  /// One cycle through all hosts (Sattolo).
  static std::vector<std::uint32_t> permutation(std::uint64_t round) {
    std::vector<std::uint32_t> to(kHosts);
    std::iota(to.begin(), to.end(), 0U);
    for (std::uint32_t i = kHosts - 1; i > 0; --i) std::swap(to[i], to[mix64((round << 32) | i) % i]);
    return to;
  }

  /// 100 MB, or 50 to 150 MB.
  static std::uint64_t bytes(bool equal, std::uint64_t round, std::uint32_t from) {
    constexpr std::uint64_t kMean = 100'000'000;
    return equal ? kMean : jitter(kMean, (round << 20) + from + (std::uint64_t{1} << 60), 50);
  }

  /// Routing by destination splits the fabric into 16 parts.
  static std::uint32_t spine_of(std::uint32_t to) { return to % kSpines; }
  /// Hashing over 4 spines ties all flows of a round together.
  static std::uint32_t hashed_spine(std::uint64_t round, std::uint32_t from) {
    return static_cast<std::uint32_t>(mix64((round << 20) + from + (std::uint64_t{1} << 61)) % 4);
  }

  static std::vector<std::uint32_t> route(std::uint32_t from, std::uint32_t to, std::uint32_t spine) {
    const std::uint32_t leaf = from / kPerLeaf;
    const std::uint32_t far_leaf = to / kPerLeaf;
    if (leaf == far_leaf) return {from, kHosts + to};
    return {from, 2 * kHosts + leaf * kSpines + spine, 2 * kHosts + (kLeaves + far_leaf) * kSpines + spine,
            kHosts + to};
  }
};

/// W4: gossip on a 32 x 32 torus. A round of a node is a mixing task of 1 ms +- 10 %, then 100 MB to each
/// of its four neighbours; it mixes again when it has the messages of all four.
struct Gossip {
  static constexpr std::uint32_t kSide = 32;
  static constexpr std::uint32_t kNodes = kSide * kSide;
  static constexpr std::uint32_t kLatencyNs = 1000;
  std::uint32_t rounds;

  [[nodiscard]] std::size_t tasks() const { return std::size_t{rounds} * kNodes * 5; }
  [[nodiscard]] std::size_t edges() const { return std::size_t{rounds} * kNodes * 9; }

  static std::uint32_t neighbour(std::uint32_t node, std::uint32_t direction) {
    const std::uint32_t x = node % kSide;
    const std::uint32_t row = node - x;
    switch (direction) {
      case 0:
        return row + (x + 1) % kSide;
      case 1:
        return row + (x + kSide - 1) % kSide;
      case 2:
        return (node + kSide) % kNodes;
      default:
        return (node + kNodes - kSide) % kNodes;
    }
  }

  template <class Sink>
  void write(Sink& sink) const {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint32_t before = (round - 1) * kNodes * 5;  // first task of the round before
      for (std::uint32_t node = 0; node < kNodes; ++node) {
        const auto inbox = [&](std::uint32_t direction) {  // the message that left its sender that way
          return before + kNodes + neighbour(node, direction ^ 1) * 4 + direction;
        };
        const std::array preds{before + node, inbox(0), inbox(1), inbox(2), inbox(3)};
        const std::uint64_t ns = jitter(1'000'000, std::uint64_t{round} * kNodes + node, 10);
        sink.compute(node, ns, std::span(preds.data(), round == 0 ? 0 : preds.size()));
      }
      const std::uint32_t mixes = round * kNodes * 5;
      for (std::uint32_t node = 0; node < kNodes; ++node) {
        for (std::uint32_t direction = 0; direction < 4; ++direction)
          sink.send(node, neighbour(node, direction), node * 4 + direction, 100'000'000,
                    std::array{mixes + node});
      }
    }
  }
};

}  // namespace orrery::bench
