#include <set>
#include <utility>

#include "sim/asynchronous/event_loop.hpp"

namespace orrery {
namespace {

/// Each server of the centre takes in one part at a time, in the order in which they have come. An exchange
/// is a worker with a server: number worker * servers + server.
class CentreLoop final : public EventLoop {
 public:
  CentreLoop(const ExchangeInput& input, const CentreRules& rules)
      : EventLoop(input),
        rules_(rules),
        servers_(static_cast<std::uint32_t>(rules.servers.size())),
        of_(workers()),
        serving_(servers_),
        taken_(std::size_t{servers_} * workers()) {}

 private:
  /// States of a worker: it computes local steps, waits for the server, or merges a received model.
  enum class Phase : std::uint8_t { computes, waits, merges };
  struct Worker {
    Phase phase = Phase::computes;
    std::uint32_t updated = 0;   ///< servers that have taken its part in
    std::uint32_t answered = 0;  ///< servers whose part has come back
    std::int64_t read_at = 0;    ///< exchanges of the centre that its model knows of
  };
  /// A server's queue: workers that have arrived, in order of time and then of workers.
  struct Server {
    bool busy = false;
    std::set<std::pair<Picoseconds, std::uint32_t>> queue;
  };

  /// Timers below are of servers, by exchange; those from here on of workers.
  [[nodiscard]] std::uint32_t first_of_workers() const { return servers_ * workers(); }

  void on_step(std::uint32_t worker) override {
    if (steps(worker) % rules_.period != 0) return begin_step(worker);
    of_[worker].phase = Phase::computes;
    after(rules_.makes[worker], first_of_workers() + worker);
  }

  void on_timer(std::uint32_t name) override {
    if (name < first_of_workers()) return end_update(name);
    const std::uint32_t worker = name - first_of_workers();
    if (of_[worker].phase == Phase::merges) return begin_step(worker);
    of_[worker].phase = Phase::waits;
    of_[worker].updated = of_[worker].answered = 0;
    for (std::uint32_t s = 0; s < servers_; ++s) send(worker, rules_.servers[s], worker * servers_ + s);
  }

  void on_arrival(std::uint32_t exchange) override {
    const std::uint32_t worker = exchange / servers_;
    if (!taken_[exchange]) {
      serving_[exchange % servers_].queue.emplace(now(), worker);
      return;
    }
    taken_[exchange] = false;
    if (++of_[worker].answered < servers_) return;
    of_[worker].phase = Phase::merges;
    after(input_.merge_time[worker], first_of_workers() + worker);
  }

  void settle() override {
    for (std::uint32_t s = 0; s < servers_; ++s) {
      Server& server = serving_[s];
      if (server.busy || server.queue.empty()) continue;
      const std::uint32_t worker = server.queue.begin()->second;
      server.queue.erase(server.queue.begin());
      server.busy = true;
      after(rules_.updates[rules_.servers[s]], worker * servers_ + s);
    }
  }

  /// A server has taken a worker's part in, and answers.
  void end_update(std::uint32_t exchange) {
    const std::uint32_t worker = exchange / servers_;
    const std::uint32_t server = exchange % servers_;
    serving_[server].busy = false;
    taken_[exchange] = true;
    if (++of_[worker].updated == servers_) {
      count_staleness(meetings_ - of_[worker].read_at);
      of_[worker].read_at = ++meetings_;
      count_meeting(worker, worker);
    }
    send(rules_.servers[server], worker, exchange);
  }

  const CentreRules& rules_;
  std::uint32_t servers_;
  std::vector<Worker> of_;
  std::vector<Server> serving_;
  std::vector<bool> taken_;  ///< per exchange: the server has taken the part in
  std::int64_t meetings_ = 0;
};

}  // namespace

ExchangeRun run_parameter_server(const ExchangeInput& input, const CentreRules& rules) {
  return CentreLoop(input, rules).run();
}

}  // namespace orrery
