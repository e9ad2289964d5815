// Runs local steps of workers and messages between them in simulated time. Derived classes decide which
// workers exchange models. Inside sim/asynchronous/ only.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "sim/asynchronous/exchanges.hpp"
#include "sim/asynchronous/transport.hpp"

namespace orrery {

class EventLoop {
 public:
  explicit EventLoop(const ExchangeInput& input);
  virtual ~EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  [[nodiscard]] ExchangeRun run();

 protected:
  /// A worker has done a local step.
  virtual void on_step(std::uint32_t worker) = 0;
  /// Called when all messages that send() sent under that name have arrived.
  virtual void on_arrival(std::uint32_t exchange) = 0;
  /// The time that after() named has passed.
  virtual void on_timer(std::uint32_t name) = 0;
  /// Called when all events of this time are known, so that waiting exchanges may begin.
  virtual void settle() = 0;

  [[nodiscard]] Picoseconds now() const { return now_; }
  [[nodiscard]] std::uint32_t workers() const { return static_cast<std::uint32_t>(input_.workers.size()); }
  [[nodiscard]] std::int64_t steps(std::uint32_t worker) const { return run_.steps[worker]; }
  /// Local steps that have ended.
  [[nodiscard]] std::int64_t steps_of_all() const { return steps_of_all_; }
  /// Begins the next step of a worker, after the exchange of its last step.
  void begin_step(std::uint32_t worker);
  void after(Picoseconds time, std::uint32_t name) { events_.push({now_ + time, false, name}); }
  /// The model of one worker to another; several times under one name, if on_arrival() is to wait for all.
  /// From a worker to itself it is there at once.
  void send(std::uint32_t from, std::uint32_t to, std::uint32_t exchange);
  void count_meeting(std::uint32_t worker, std::uint32_t partner);
  void count_staleness(std::int64_t updates);

  const ExchangeInput& input_;

 private:
  struct Event {
    Picoseconds at = 0;
    bool step = false;  ///< that ends, after all other events of its time
    std::uint32_t name = 0;
    friend auto operator<=>(const Event&, const Event&) = default;
  };
  struct Sent {
    const ModelRoutes::RankMessage* message = nullptr;
    std::uint32_t exchange = 0;
  };

  void move_to(Picoseconds time);
  void take_arrivals();
  void take_events();
  void end_step(std::uint32_t worker);
  void count_bytes(const ModelRoutes::RankMessage& message);
  [[nodiscard]] std::uint32_t free_name();
  void cut_off();

  ExchangeRun run_;
  Transport transport_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Picoseconds> began_;  ///< per worker: the step at hand; kNever: none
  std::vector<Sent> sent_;          ///< by name in the transport
  std::vector<std::uint32_t> free_names_;
  std::vector<std::uint32_t> left_;  ///< per exchange: messages on their way
  std::vector<std::uint32_t> arrived_;
  std::vector<std::uint32_t> there_;  ///< exchanges without messages
  Picoseconds now_ = 0;
  std::int64_t steps_of_all_ = 0;
  std::int64_t to_begin_ = 0;  ///< steps until the run ends, first ones included
};

}  // namespace orrery
