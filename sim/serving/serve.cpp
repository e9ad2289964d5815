#include "sim/serving/serve.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "orrery/error.hpp"
#include "sim/serving/kv_cache_usage.hpp"
#include "sim/serving/measure.hpp"
#include "sim/serving/replica.hpp"
#include "sim/serving/requests.hpp"
#include "sim/serving/serving_load.hpp"

namespace orrery {
namespace {

constexpr Picoseconds kLongestServing = 8'000'000'000'000'000'000;  // 92 days: sums stay below 2^63

/// In the order in which events of one time happen, so that an iteration begins with all that is there.
enum class ServingEventKind : std::uint8_t { finish, transferred, delivered, arrive, enter, begin };

struct ServingEvent {
  Picoseconds at_ps = 0;
  ServingEventKind kind{};
  std::uint64_t order = 0;    ///< of their making
  std::uint32_t replica = 0;  ///< or, of a delivery, the places that became free
  /// The scheduler that finishes, the request that was transferred or enters, the requests that have ended.
  std::uint32_t subject = 0;

  friend bool operator>(const ServingEvent& a, const ServingEvent& b) {
    if (a.at_ps != b.at_ps) return a.at_ps > b.at_ps;
    if (a.kind != b.kind) return a.kind > b.kind;
    return a.order > b.order;
  }
};

/// Holds a replica with its state in the event loop.
struct ReplicaServer {
  Replica replica;
  bool begins = false;                   ///< an event to begin an iteration is on its way
  Picoseconds sends_until = 0;           ///< keys and values leave one request after the other,
  Picoseconds receives_until = 0;        ///< and come in one after the other
  std::deque<std::uint32_t> expected{};  ///< requests whose keys and values are to come here

  ReplicaServer(const ServingRules& rules, const ReplicaShape& shape, IterationCost& cost)
      : replica(rules, shape, cost) {}
};

/// Replicas of one role: those with a slot before those without, the one with the fewest requests first, of
/// equal ones the fastest kind, and of that the lowest number.
class LoadOrder {
 public:
  explicit LoadOrder(std::size_t replicas) : known_(replicas) {}

  /// @param limit  requests that it has places for; 0: there is no such number
  void set(std::uint32_t replica, std::int64_t load, std::int64_t limit, std::size_t kind) {
    const Place slot{limit > 0 && load >= limit, load, kind, replica};
    std::optional<Place>& known = known_[replica];
    if (known == slot) return;
    if (known) order_.erase(*known);
    order_.insert(slot);
    known = slot;
  }
  [[nodiscard]] std::uint32_t emptiest() const { return std::get<3>(*order_.begin()); }

 private:
  using Place = std::tuple<bool, std::int64_t, std::size_t, std::uint32_t>;
  std::vector<std::optional<Place>> known_;
  std::set<Place> order_;
};

class ServingLoop {
 public:
  ServingLoop(const ServingSetup& setup, const ServingLoad& load, std::vector<ServedRequest>& requests,
              std::span<IterationCost* const> costs, ServingRecorder* recorder,
              const ServingObserver& observer)
      : inference_(setup.inference),
        setup_(setup),
        load_(load),
        requests_(requests),
        cost_(*costs.front()),
        observer_(observer),
        rules_{inference_, requests, inference_.iteration_tokens(setup.context_tokens),
               setup.seed, &gaps_,   recorder},
        prompt_servers_(inference_.is_disaggregated() ? setup.prompt_replicas() : setup.replicas),
        front_end_(setup.front_end),
        for_prompts_(static_cast<std::size_t>(setup.replicas)),
        for_outputs_(static_cast<std::size_t>(setup.replicas)) {
    for (std::int64_t r = 0; r < setup.replicas; ++r) {
      servers_.emplace_back(rules_, shape_of(r), *costs[setup.kind_of(r)]);
      count_load(static_cast<std::uint32_t>(r));
    }
  }

  void run() {
    for (const ReplicaServer& server : servers_) used_ += server.replica.pages().used();
    meter_.set(0, used_);
    if (inference_.is_closed_loop()) {
      replace(load_.in_flight);
    } else {
      plan_arrival(requests_.front().spec.arrival_ps);
    }
    while (!events_.empty()) {
      const ServingEvent event = events_.top();
      events_.pop();
      handle(event);
    }
  }

  [[nodiscard]] ServedRun result() const {
    ServedRun run;
    run.in_system_ps = in_system_ps_;
    run.token_gaps_ps = gaps_.sum_ps();
    std::vector<const Replica*> replicas;
    for (std::size_t r = 0; r < servers_.size(); ++r) {
      replicas.push_back(&servers_[r].replica);
      run.pages_left += servers_[r].replica.pages().used() - kind_of(r).room.lasting_pages;
    }
    run.serving = measure({inference_, requests_, replicas, meter_, gaps_, now_, setup_.mix.kind_of_replica});
    return run;
  }

 private:
  [[nodiscard]] const ServingLoad::Kind& kind_of(std::size_t replica) const {
    return load_.kinds[setup_.kind_of(static_cast<std::int64_t>(replica))];
  }

  [[nodiscard]] ReplicaShape shape_of(std::int64_t replica) const {
    const auto number = static_cast<std::uint32_t>(replica);
    const auto& [limit, room] = kind_of(number);
    if (!inference_.is_disaggregated())
      return {number, ReplicaRole::both, limit, room.pages, room.lasting_pages, room.state_pages};
    if (replica < prompt_servers_)
      return {number,     ReplicaRole::prefill, inference_.batch_size,
              room.pages, room.lasting_pages,   room.state_pages};
    return {number, ReplicaRole::decode, limit, room.pages, room.lasting_pages, room.state_pages};
  }

  void push(Picoseconds at, ServingEventKind kind, std::uint32_t replica = 0, std::uint32_t subject = 0) {
    if (at > kLongestServing)
      throw InputError("/inference", "found requests that take more than 90 days to serve");
    events_.push({at, kind, made_++, replica, subject});
  }

  void handle(const ServingEvent& event) {
    in_system_ps_ += static_cast<Int128>(event.at_ps - now_) * in_system_;
    now_ = event.at_ps;
    if (rules_.recorder != nullptr) rules_.recorder->set_time(now_);
    switch (event.kind) {
      case ServingEventKind::finish:
        finish(event.replica, event.subject);
        break;
      case ServingEventKind::transferred:
        transferred(event.replica, event.subject);
        break;
      case ServingEventKind::delivered:
        deliver(event.subject, event.replica);
        break;
      case ServingEventKind::arrive:
        arrive();
        break;
      case ServingEventKind::enter:
        enter(event.subject);
        break;
      case ServingEventKind::begin:
        begin(event.replica);
        break;
    }
  }

  void arrive() {
    const std::uint32_t number = next_++;
    if (inference_.is_closed_loop()) requests_[number].spec.arrival_ps = now_;
    ++in_system_;
    if (!inference_.is_closed_loop() && next_ < requests_.size())
      plan_arrival(requests_[next_].spec.arrival_ps);
    const Picoseconds enters = front_end_.take_request(now_);
    if (enters == now_) return enter(number);
    push(enters, ServingEventKind::enter, 0, number);
  }

  /// Joins the replica that comes first in the order of loads.
  void enter(std::uint32_t number) {
    const std::uint32_t to = for_prompts_.emptiest();
    requests_[number].replica = to;
    servers_[to].replica.enqueue(number);
    count_load(to);
    ++entered_;
    note(to);
    wake(to);
    if (!is_complete()) return;
    for (std::uint32_t r = 0; r < servers_.size(); ++r) wake(r);
  }

  [[nodiscard]] bool is_complete() const { return entered_ == requests_.size(); }

  /// Counts the requests of a replica and those in transfer to it, to order replicas by load.
  void count_load(std::uint32_t number) {
    const ReplicaServer& server = servers_[number];
    const bool prompts = number < prompt_servers_;
    const std::int64_t load = server.replica.assigned() + static_cast<std::int64_t>(server.expected.size());
    const std::int64_t limit =
        prompts && inference_.is_disaggregated() ? inference_.batch_size : kind_of(number).limit;
    (prompts ? for_prompts_ : for_outputs_).set(number, load, limit, setup_.kind_of(number));
  }

  void wake(std::uint32_t number) {
    ReplicaServer& server = servers_[number];
    if (server.begins) return;
    const auto start = server.replica.next_start(now_);
    if (!start) return;
    server.begins = true;
    push(*start, ServingEventKind::begin, number);
  }

  void begin(std::uint32_t number) {
    ReplicaServer& server = servers_[number];
    server.begins = false;
    const std::int64_t used = server.replica.pages().used();
    const auto begun = server.replica.begin(now_, is_complete());
    add_used(server.replica.pages().used() - used);
    note(number);
    if (!begun) return;
    push(begun->end_ps, ServingEventKind::finish, number, begun->scheduler);
    wake(number);
  }

  void finish(std::uint32_t number, std::uint32_t scheduler) {
    ReplicaServer& server = servers_[number];
    const std::int64_t used = server.replica.pages().used();
    const Picoseconds delivered = front_end_.send(now_, server.replica.messages(scheduler));
    server.replica.finish(scheduler, now_, delivered, outcome_);
    add_used(server.replica.pages().used() - used);
    count_load(number);
    note(number);
    for (const std::uint32_t request : outcome_.prefilled) transfer_kv(request);
    if (delivered == now_) {
      deliver(outcome_.ended.size(), outcome_.places);
    } else if (!outcome_.ended.empty() || outcome_.places > 0) {
      push(delivered, ServingEventKind::delivered, static_cast<std::uint32_t>(outcome_.places),
           static_cast<std::uint32_t>(outcome_.ended.size()));
    }
    if (!server.expected.empty()) expect_next(number);
    wake(number);
  }

  /// The last tokens of requests are with their clients, who send new ones.
  void deliver(std::size_t ended, std::int64_t places) {
    in_system_ -= static_cast<std::int64_t>(ended);
    ended_ += ended;
    if (ended > 0 && observer_.progress) observer_.progress(ended_, requests_.size());
    if (inference_.is_closed_loop()) replace(places);
  }

  /// Replaces ended requests by new ones.
  void replace(std::int64_t places) {
    for (; places > 0 && planned_ < requests_.size(); --places) plan_arrival(now_);
  }

  void plan_arrival(Picoseconds at) {
    ++planned_;
    push(at, ServingEventKind::arrive);
  }

  /// To the replica for outputs with the fewest requests, whose turn comes when it has pages.
  void transfer_kv(std::uint32_t request) {
    const std::uint32_t to = for_outputs_.emptiest();
    servers_[to].expected.push_back(request);
    count_load(to);
    expect_next(to);
  }

  /// Begins KV transfers to the replica for which it has pages, in order. Its preempted requests come first.
  void expect_next(std::uint32_t number) {
    ReplicaServer& server = servers_[number];
    while (!server.expected.empty() && !server.replica.is_waiting()) {
      const std::uint32_t request = server.expected.front();
      const std::int64_t used = server.replica.pages().used();
      if (!server.replica.expect(request)) return;
      add_used(server.replica.pages().used() - used);
      note(number);
      server.expected.pop_front();
      count_load(number);
      transfer(request, number);
    }
  }

  void transfer(std::uint32_t number, std::uint32_t to) {
    ServedRequest& request = requests_[number];
    ReplicaServer& sender = servers_[request.replica];
    request.decode_replica = to;
    ReplicaServer& receiver = servers_[to];
    const std::int64_t prompt = request.spec.prompt_tokens;
    request.transfer_start_ps = std::max({now_, sender.sends_until, receiver.receives_until});
    sender.sends_until = receiver.receives_until =
        request.transfer_start_ps +
        cost_.transfer_ps(request.replica, to, prompt - reused_tokens(inference_, prompt));
    push(sender.sends_until, ServingEventKind::transferred, to, number);
  }

  void transferred(std::uint32_t number, std::uint32_t request) {
    const std::uint32_t from = requests_[request].replica;
    requests_[request].transfer_end_ps = now_;
    const std::int64_t used = servers_[from].replica.pages().used();
    servers_[from].replica.release(request);
    add_used(servers_[from].replica.pages().used() - used);
    note(from);
    servers_[number].replica.join(request);
    wake(from);
    wake(number);
  }

  void add_used(std::int64_t pages) {
    if (pages != 0) meter_.set(now_, used_ += pages);
  }

  /// Records the state of a replica if a recorder is set.
  void note(std::uint32_t number) {
    if (rules_.recorder == nullptr) return;
    const ReplicaServer& server = servers_[number];
    const std::int64_t waiting = server.replica.waiting();
    rules_.recorder->state({now_, number, server.replica.pages().used(), server.replica.assigned() - waiting,
                            waiting + static_cast<std::int64_t>(server.expected.size())});
  }

  const Inference& inference_;
  const ServingSetup& setup_;
  const ServingLoad& load_;
  std::vector<ServedRequest>& requests_;
  IterationCost& cost_;  ///< of transfers between replicas
  const ServingObserver& observer_;
  TokenGaps gaps_;
  ServingRules rules_;
  std::int64_t prompt_servers_;  ///< the first replicas, to which requests come

  FrontEndServer front_end_;
  LoadOrder for_prompts_;
  LoadOrder for_outputs_;
  std::deque<ReplicaServer> servers_;
  std::priority_queue<ServingEvent, std::vector<ServingEvent>, std::greater<>> events_;
  std::uint64_t made_ = 0;   ///< events
  std::size_t planned_ = 0;  ///< arrivals of which there is or was an event
  std::uint32_t next_ = 0;   ///< request to arrive
  std::size_t ended_ = 0;
  std::size_t entered_ = 0;  ///< requests that are or were in the queue of a replica
  Picoseconds now_ = 0;
  KvCacheUsage meter_;
  std::int64_t used_ = 0;  ///< pages of all replicas
  std::int64_t in_system_ = 0;
  Int128 in_system_ps_ = 0;
  IterationOutcome outcome_;
};

}  // namespace

std::string serving_obstacle_of_memory(const ServingSetup& setup) { return load_of(setup).obstacle(); }

ServedRun serve(const ServingSetup& setup, std::span<IterationCost* const> costs,
                const ServingObserver& observer) {
  ServingRecord* const record = observer.record;
  const ServingLoad load = load_of(setup);
  ServedRun run;
  run.obstacle = load.obstacle();
  if (!run.obstacle.empty()) return run;
  std::vector<ServedRequest> requests(load.requests.size());
  for (std::size_t r = 0; r < requests.size(); ++r) requests[r].spec = load.requests[r];
  ServingRecorder recorder(record, costs.front()->stages());
  ServingLoop loop(setup, load, requests, costs, record != nullptr ? &recorder : nullptr, observer);
  loop.run();
  run = loop.result();
  run.serving.truncated_requests = load.cut;
  if (record != nullptr) {
    recorder.add_requests(requests);
    record->pages = load.kinds.front().room.pages;
    record->duration_ps = run.serving.duration_ps;
  }
  run.requests = std::move(requests);
  return run;
}

}  // namespace orrery
