#include <algorithm>
#include <set>
#include <utility>

#include "sim/asynchronous/event_loop.hpp"

namespace orrery {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t split_mix(std::uint64_t x) {
  std::uint64_t z = x + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// A worker computes in one thread and communicates in another, which is in one exchange at a time. Both ends
/// of an exchange are taken at once, so no two workers wait for each other.
class PairLoop final : public EventLoop {
 public:
  PairLoop(const ExchangeInput& input, const PairRules& rules)
      : EventLoop(input), rules_(rules), of_(workers()) {}

 private:
  struct Worker {
    bool meets = false;         ///< its communication thread is taken
    bool asks = false;          ///< the exchange it asked for is not over
    bool holds = false;         ///< it has done its next step and waits for that exchange
    std::uint32_t partner = 0;  ///< of the exchange it asked for
    std::int64_t read_at = 0;   ///< steps of all when its step began
  };

  void on_step(std::uint32_t worker) override {
    count_staleness(steps_of_all() - 1 - of_[worker].read_at);
    of_[worker].holds = of_[worker].asks;
    if (!of_[worker].asks) ask(worker);
  }

  void on_arrival(std::uint32_t worker) override {
    const std::uint32_t partner = of_[worker].partner;
    after(std::max(input_.merge_time[worker], input_.merge_time[partner]), worker);
  }

  /// The exchange that `worker` asked for is over.
  void on_timer(std::uint32_t worker) override {
    Worker& one = of_[worker];
    count_meeting(worker, one.partner);
    one.meets = of_[one.partner].meets = one.asks = false;
    if (!rules_.while_computing) return compute(worker);
    if (std::exchange(one.holds, false)) ask(worker);
  }

  /// Pairs waiting workers: the one that asked first goes first, on a tie the one with the lower number.
  void settle() override {
    for (auto next = waiting_.begin(); next != waiting_.end();) {
      const std::uint32_t worker = next->second;
      const std::uint32_t partner = of_[worker].partner;
      if (of_[worker].meets || of_[partner].meets) {
        ++next;
        continue;
      }
      next = waiting_.erase(next);
      of_[worker].meets = of_[partner].meets = true;
      send(worker, partner, worker);
      send(partner, worker, worker);
    }
  }

  void compute(std::uint32_t worker) {
    of_[worker].read_at = steps_of_all();
    begin_step(worker);
  }

  void ask(std::uint32_t worker) {
    const std::int64_t step = steps(worker) - 1;
    const auto& rounds = rules_.graph.rounds;
    const auto near = rounds[static_cast<std::size_t>(step) % rounds.size()].neighbours(worker);
    if (near.empty()) return compute(worker);
    of_[worker].partner =
        near[pick_neighbour(rules_.seed, worker, step, static_cast<std::uint32_t>(near.size()))];
    of_[worker].asks = true;
    waiting_.emplace(now(), worker);
    if (rules_.while_computing) compute(worker);
  }

  const PairRules& rules_;
  std::vector<Worker> of_;
  std::set<std::pair<Picoseconds, std::uint32_t>> waiting_;
};

}  // namespace

std::uint32_t pick_neighbour(std::uint64_t seed, std::uint32_t worker, std::int64_t step,
                             std::uint32_t neighbours) {
  const std::uint64_t of_worker = split_mix(seed ^ (std::uint64_t{worker} << 32));
  return static_cast<std::uint32_t>(split_mix(of_worker + static_cast<std::uint64_t>(step)) % neighbours);
}

ExchangeRun average_in_pairs(const ExchangeInput& input, const PairRules& rules) {
  return PairLoop(input, rules).run();
}

}  // namespace orrery
